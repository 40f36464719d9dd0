"""Fixed point: one rating unit, and probability one, are 2^16; every language gets the same."""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

ONE = 2**16
"""One rating unit, or probability one."""
GRAIN = 2**8
"""One, for positions and what they mean for an item; the product of two is in `ONE`."""
MILLION = 10**6
"""One, for the measured figures of a certificate."""


def to_fixed(values: ArrayLike) -> NDArray[np.int64]:
    """Return round(values 2^16), half to even. Same shape."""
    return np.asarray(np.rint(np.asarray(values, dtype=np.float64) * ONE), dtype=np.int64)


def from_fixed(values: ArrayLike) -> NDArray[np.float64]:
    """Return values / 2^16, which is exact. Same shape."""
    return np.asarray(values, dtype=np.float64) / ONE


def on_grid(numbers: NDArray[np.int64], span: int, bits: int | None) -> NDArray[np.int64]:
    """Round to the nearest multiples of span / 2^bits, half up; as they are without bits."""
    step = 1 if bits is None else max(1, span >> bits)
    return (numbers + step // 2) // step * step


def as_rows(array: NDArray[Any]) -> tuple[Any, ...]:
    """Return nested tuples of Python integers, as messages hold them."""
    numbers = np.asarray(array, dtype=np.int64)
    rows: Any = numbers.ravel().tolist()
    for axis in range(numbers.ndim - 1, 0, -1):
        size, count = numbers.shape[axis], prod(numbers.shape[:axis])
        # As many of one iterator as a row is long: it gives them in turn.
        rows = zip(*[iter(rows)] * size, strict=True) if size else ((),) * count
    return tuple(rows)
