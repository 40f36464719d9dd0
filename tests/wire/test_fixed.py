import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.wire import (
    ONE,
    as_rows,
    from_fixed,
    to_fixed,
)


@given(st.floats(-1000, 1000))
def test_fixed_point_is_within_half_a_unit(value: float) -> None:
    assert abs(float(from_fixed(to_fixed(value))) - value) <= 0.5 / ONE


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (2, 0), (0, 2), (2, 3, 4), (2, 1, 0, 3)])
def test_rows_are_nested_as_the_array_is(shape: tuple[int, ...]) -> None:
    def nested(inner: object) -> object:
        return tuple(map(nested, inner)) if isinstance(inner, list) else inner

    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    rows = as_rows(numbers)
    assert rows == nested(numbers.tolist())
    assert str(rows).count("np.") == 0  # Python's own integers
