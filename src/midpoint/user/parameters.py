"""A disclosure as arrays, built once and used for one rating or for millions."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.wire import ONE, Disclosure, Scheme, ValueMap

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Parameters:
    """What obfuscation reads, in fixed point; M items, K cells, L levels."""

    scheme: Scheme
    """What is done to ratings."""
    n_items: int
    """M."""
    n_cells: int
    """K."""
    low: int
    """The least rating."""
    high: int
    """The greatest rating."""
    points: Integers | None
    """The ratings of a discrete scale, ascending. Shape (L,)."""
    offset: Integers | None
    """What each category adds to a rating. Shape (M, K)."""
    reveal: Integers | None
    """Probability of revealing. Shape (M, K)."""
    levels: Integers | None
    """Each category's distribution over the levels. Shape (M, K, L)."""
    cumulative: Integers | None
    """C_k(l): what category k gives to level l and those below it. Shape (M, K, L)."""
    average: Integers | None
    """The item's average, or each category's. Shape (M, 1) or (M, K)."""

    @classmethod
    def of(cls, disclosure: Disclosure) -> Self:
        """Read a disclosure's columns."""
        levels = _array(disclosure.levels)
        return cls(
            scheme=disclosure.obfuscation,
            n_items=len(disclosure.items),
            n_cells=disclosure.n_cells,
            low=disclosure.scale.low,
            high=disclosure.scale.high,
            points=_array(disclosure.scale.levels),
            offset=_array(disclosure.offset),
            reveal=_array(disclosure.reveal),
            levels=levels,
            cumulative=None if levels is None else _frozen(levels.cumsum(axis=2)),
            average=_array(disclosure.average),
        )

    def correction(self) -> Integers:
        """Return what each category adds to a score made from obfuscated ratings. Shape (M, K).

        That is the disclosed offset where there is one. From level distributions it is
        mean_k - (mean over categories), and from category averages likewise, rounded half up.
        """
        if self.offset is not None:
            return self.offset
        if self.levels is not None and self.points is not None:
            return _deviation(self.levels @ self.points, ONE)
        if self.scheme.value_map is ValueMap.FEATURE_AVERAGE and self.average is not None:
            return _deviation(self.average, 1)
        return np.zeros((self.n_items, self.n_cells), dtype=np.int64)


def _deviation(total: Integers, unit: int) -> Integers:
    """Return (total - its row's mean) / unit, rounded half up, in whole numbers."""
    cells = total.shape[1]
    above = cells * total - total.sum(axis=1, keepdims=True)
    return np.asarray((2 * above + cells * unit) // (2 * cells * unit))


def _array(column: tuple[Any, ...] | None) -> Integers | None:
    return None if column is None else _frozen(np.array(column, dtype=np.int64))


def _frozen(array: Integers) -> Integers:
    array.setflags(write=False)
    return array
