from hypothesis import given
from hypothesis import strategies as st

from midpoint.wire import (
    ONE,
    from_fixed,
    to_fixed,
)


@given(st.floats(-1000, 1000))
def test_fixed_point_is_within_half_a_unit(value: float) -> None:
    assert abs(float(from_fixed(to_fixed(value))) - value) <= 0.5 / ONE
