"""A disclosure as arrays, built once and used for one rating or for millions."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.wire import Disclosure, Scheme

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
    least: Integers | None
    """max_k(low - offset_k): what every category can go down to, on a continuous scale. (M,)."""
    most: Integers | None
    """min_k(high - offset_k): what every category can go up to, on a continuous scale. (M,)."""
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
        scale = disclosure.scale
        offset, levels = _array(disclosure.offset), _array(disclosure.levels)
        smooth = None if scale.levels else offset
        return cls(
            scheme=disclosure.obfuscation,
            n_items=len(disclosure.items),
            n_cells=disclosure.n_cells,
            low=scale.low,
            high=scale.high,
            points=_array(scale.levels),
            offset=offset,
            least=None if smooth is None else _frozen(scale.low - smooth.min(axis=1)),
            most=None if smooth is None else _frozen(scale.high - smooth.max(axis=1)),
            reveal=_array(disclosure.reveal),
            levels=levels,
            cumulative=None if levels is None else _frozen(levels.cumsum(axis=2)),
            average=_array(disclosure.average),
        )


def _array(column: tuple[Any, ...] | None) -> Integers | None:
    return None if column is None else _frozen(np.array(column, dtype=np.int64))


def _frozen(array: Integers) -> Integers:
    array.setflags(write=False)
    return array
