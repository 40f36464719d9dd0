"""How far apart categories may be disclosed to be: limits that analysts keep and devices check.

The further apart two categories are disclosed to be, the more one answer leaks if that is a lie.
Of all data we have, the farthest apart are partisans asked about each other's candidates: their
means differ by 0.56 of the scale. The least probability of revealing is 0.049, with gender and age
at once. A stratum of activity begins at numbers of items that differ by a factor of 1.5 between
categories (MovieLens 100K, age; 1.4, gender and age, and 1.3 in MovieLens 1M; 1.05 in surveys).
Somebody at the mean of her category rates 2.3 times as many items as in another, 8 added to both
(MovieLens 100K, 14 cells of gender and age; 1.8, seven age bands; 1.6, two ages). A map between
categories stretches a direction 3.0 times at most, and shrinks it to 0.33 (ANES television, party);
it reverses none. The limits leave room beyond all of these. They stop what no data shows; they do
not stop a lie within them.
"""

import numpy as np
from numpy.typing import NDArray

from midpoint.wire.fixed import ONE

LEAST_REVEAL = ONE // 64
"""A category reveals an item with at least this probability, in fixed point."""

MOST_STRATUM_RATIO = 2
"""A stratum begins in one category at no more than so many times the activity of another.

Nor at more than so many times the number of items: `check_numbers` holds it for all items, a device
for those that were asked about. If each category had strata of its own, the stratum alone would
show the category.
"""

FEW_CATEGORIES = 8
"""Up to so many categories, each has enough people that their numbers of items are alike."""

LEAST_STRETCH, MOST_STRETCH = 1 / 8, 4
"""A map between categories has entries of at most so much, and x'Tx is at least so much of x'x.

A map that stretched more, or reversed a direction, would let one category withhold what another
reveals.
"""

Integers = NDArray[np.int64]


def most_spread(span: int) -> int:
    """Return how far categories' means of an item may be apart, on a scale of this range: 3/4."""
    return 3 * span // 4


def most_number_ratio(categories: int) -> int:
    """Return how many times as many items the mean of one category rates as that of another.

    Means of positions that lie would else show the category by the number of answers alone.
    """
    return 2 if categories <= FEW_CATEGORIES else 3


def are_strata_alike(
    least: Integers | NDArray[np.float64], most: float = MOST_STRATUM_RATIO
) -> bool:
    """Tell whether strata begin at about the same in all categories. Shape (G, K).

    That may be an activity, or an activity times the number of items expected: a number of items.
    """
    return bool((least.max(axis=1) <= most * least.min(axis=1)).all())


def spread(rows: Integers) -> Integers:
    """Return max_k - min_k of each item. Shape (M, K) -> (M,)."""
    return np.asarray(rows.max(axis=1) - rows.min(axis=1))


def spread_of_means(levels: Integers, points: Integers) -> Integers:
    """Return how far the categories' means are apart, times 2^16; exact. (M, K, L), (L,) -> (M,).

    Points are counted from the first, so that sums stay below 2^53 in every language.
    """
    return spread(levels @ (points - points[0]))
