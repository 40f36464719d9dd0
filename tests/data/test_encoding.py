import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data.encoding import ascending, encode, number_column, require_finite
from midpoint.data.origin import Origin
from midpoint.errors import MidpointError

HERE = Origin("ratings.csv")


@given(st.lists(st.integers(-50, 2**40), min_size=1, max_size=30))
def test_names_that_are_numbers_are_coded_in_ascending_order(names: list[int]) -> None:
    codes, labels = encode(np.array(names, dtype=np.int64), "user", HERE)
    assert [int(labels[code]) for code in codes] == names
    assert sorted({*codes.tolist()}) == list(range(len(labels)))
    assert [*map(int, labels)] == sorted({*names})


@given(st.lists(st.sampled_from([0, 1, 7, 2**62]), max_size=20))
def test_the_order_of_keys_is_stable(keys: list[int]) -> None:
    key = np.array(keys, dtype=np.int64)
    assert ascending(key).tolist() == np.argsort(key, kind="stable").tolist()


def test_what_is_no_number_is_named_with_its_row() -> None:
    with pytest.raises(MidpointError, match=r"ratings\.csv.*rating 'five' is not a number"):
        number_column(["4", "five"], np.float32, "rating", HERE)
    with pytest.raises(MidpointError, match="rating nan is no finite number"):
        require_finite(np.array([1, np.nan], np.float32), HERE)
