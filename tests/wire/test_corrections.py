from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from midpoint.wire import ONE
from midpoint.wire.corrections import deviation

FAR = 2**47
"""The greatest sum of ONE shares of ratings up to 2^31."""


def exact(total: NDArray[np.int64], unit: int) -> list[list[int]]:
    means = [Fraction(sum(row), len(row)) for row in total.tolist()]
    return [
        [floor((value - mean) / unit + Fraction(1, 2)) for value in row]
        for row, mean in zip(total.tolist(), means, strict=True)
    ]


def in_one_step(total: NDArray[Any], unit: int) -> NDArray[Any]:
    K = total.shape[1]
    above = K * total - total.sum(axis=1, keepdims=True)
    return np.asarray((2 * above + K * unit) // (2 * K * unit))


@given(
    st.lists(st.integers(-FAR, FAR), min_size=1, max_size=7),
    st.sampled_from([1, ONE]),
)
def test_a_deviation_is_rounded_half_up(row: list[int], unit: int) -> None:
    total = np.array([row])
    assert deviation(total, unit).tolist() == exact(total, unit)


def test_the_largest_sums_are_exact_in_doubles_too_as_in_a_browser() -> None:
    """The control, the same formula in one step, is right in integers and wrong in doubles."""
    total = np.random.default_rng(0).integers(-FAR, FAR, (3, 1024), endpoint=True)
    total[0], total[0, 0], total[0, 1] = -FAR, FAR, 2**25 + 1 - FAR  # one unit below rounding up
    expected = exact(total, ONE)
    assert deviation(total, ONE).tolist() == expected
    assert deviation(total.astype(np.float64), ONE).tolist() == expected
    assert in_one_step(total, ONE).tolist() == expected
    assert in_one_step(total.astype(np.float64), ONE).tolist() != expected
