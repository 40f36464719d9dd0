"""The discrete midpoint: every category's ratings are sent to one distribution, of legal ratings.

Per item, the K categories' distributions over the levels are coupled monotonically: each category
lays its levels out on the quantile axis 0 .. 2^16 - 1, level l from C_k(l-1) up to, not including,
C_k(l). At a quantile z every category has a level; the midpoint is the mean of their K values, and
a mean between two neighbouring levels is split with its fractional part as probability. The output
depends on z and a coin alone, and z is uniform whatever the category, so item by item the output
has one distribution for all categories, if their ratings have the distributions disclosed.

To the last bit, for a rating at level l of category k, with coins u_value and u_split in [0, 1):

1. low = C_k(l-1) (0 for the first level), width = C_k(l) - low.
2. z = min(low + floor(u_value * width), 65535); the product is one IEEE double multiplication.
   A level that the category never gives has width 0: its boundary point is taken.
3. S = sum over all K categories of the value (fixed point) of the level that holds z: the first
   level l' with C(l') > z.
4. m = the greatest reported level with K * value[m] <= S; m + 1 is the next reported one. These
   are all levels, or fewer where a scale is fine: answers then show less, at the same mean.
5. If m is not the last level and u_split * (K * (value[m+1] - value[m])) < S - K * value[m],
   answer value[m+1], else value[m]; again one IEEE double multiplication.

Everything else is integers below 2^53.
"""

import numpy as np
from numpy.typing import NDArray

from midpoint.wire import ONE

Integers = NDArray[np.int64]
Float = NDArray[np.float64]


def discrete_midpoint(
    cumulative: Integers,
    points: Integers,
    item: NDArray[np.intp],
    level: NDArray[np.intp],
    category: NDArray[np.intp],
    u_value: Float,
    u_split: Float,
    reported: Integers | None = None,
) -> Integers:
    """Return the answers for n ratings, by the steps above; cumulative (M, K, L), points (L,).

    The answers are of `reported`, some of the points; of all of them unless given.
    """
    _, K, L = cumulative.shape
    C = cumulative.reshape(-1)
    row = item * (K * L)
    here = row + category * L + level
    low = np.where(level > 0, C[here - 1], 0)
    z = np.minimum(low + np.floor(u_value * (C[here] - low)).astype(np.int64), ONE - 1)
    S = np.full(len(z), K * points[0])
    for k in range(K):
        for below in range(L - 1):
            S += (z >= C[row + (k * L + below)]) * (points[below + 1] - points[below])
    return np.asarray(split(S, K * (points if reported is None else reported), u_split) // K)


def split(total: Integers, points: Integers, u_split: Float) -> Integers:
    """Send each total to the point below or above it, unbiased: up with P = (total - p) / gap."""
    m = np.searchsorted(points, total, side="right") - 1
    gap = np.append(np.diff(points), 1)[m]
    up = u_split * gap < total - points[m]
    return np.asarray(points[m + up])
