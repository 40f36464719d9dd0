"""How far apart categories may be disclosed to be: limits that analysts keep and devices check.

The further apart two categories are disclosed to be, the more one answer leaks if that is a lie.
Of all data we have, the farthest apart are partisans asked about each other's candidates: their
means differ by 0.57 of the scale. The least probability of revealing is 0.049, with gender and age
at once. The limits leave room beyond both. They stop what no data shows; they do not stop a lie
within them.
"""

import numpy as np
from numpy.typing import NDArray

from midpoint.wire.fixed import ONE

LEAST_REVEAL = ONE // 64
"""A category reveals an item with at least this probability, in fixed point."""

Integers = NDArray[np.int64]


def most_spread(span: int) -> int:
    """Return how far categories' means of an item may be apart, on a scale of this range: 3/4."""
    return 3 * span // 4


def spread(rows: Integers) -> Integers:
    """Return max_k - min_k of each item. Shape (M, K) -> (M,)."""
    return np.asarray(rows.max(axis=1) - rows.min(axis=1))


def spread_of_means(levels: Integers, points: Integers) -> Integers:
    """Return how far the categories' means are apart, times 2^16; exact. (M, K, L), (L,) -> (M,).

    Points are counted from the first, so that sums stay below 2^53 in every language.
    """
    return spread(levels @ (points - points[0]))
