"""What devices make of training ratings by counterparts: the tables of what is left to hide."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.compiled import compiled
from midpoint.analyst.people import People, in_parallel
from midpoint.analyst.place_law import Law, Model
from midpoint.analyst.places import Float, counterparts, rounded, transports
from midpoint.analyst.statistics import CategoryStatistics
from midpoint.wire import from_fixed, to_fixed
from midpoint.wire.telling import LEAST_REVEAL, most_spread


class Moved(NamedTuple):
    """What becomes of each rating; n ratings."""

    reveal: Float
    """The probability that it is revealed. Shape (n,)."""
    value: Float
    """Where it is moved, before the coin between two levels. Shape (n,)."""


def move(
    people: People,
    model: Model,
    law: Law,
    place: Float,
    ends: tuple[float, float],
    threads: int | None,
) -> Moved:
    """Move every rating as its owner's device will, given her place z = (t, x).

    With z_m her counterpart in category m, and k her own: item j is revealed with probability
    min_m p_jm(t_m) / p_jk(t_k), its value moves by <mean_m x_m - x, taste_j>, cut to the scale.
    Counterparts and moves are rounded, and limited, as devices do (`user.counterparts`).
    """
    d = model.habit.shape[1]
    maps = transports(law.covariance)
    found = Moved(np.ones(len(people.item)), np.zeros(len(people.item)))

    def work(block: tuple[int, int, int]) -> None:
        k, begin, end = block
        others = counterparts(place[begin:end], k, law.mean, maps)
        step = rounded(others[:, :, d:].mean(axis=1) - place[begin:end, d:])
        habits = rounded(others[:, :, :d])
        of_block = people.offsets[begin : end + 1]
        _move(of_block, people.item, habits, k, step, model.rate, model.habit, model.taste, *found)

    in_parallel(work, people.blocks(), threads)
    most = from_fixed(most_spread(int(to_fixed(ends[1] - ends[0]))) // 2)
    value = np.clip(people.value + np.clip(found.value, -most, most), *ends)
    return Moved(np.maximum(found.reveal, from_fixed(LEAST_REVEAL)), value)


@compiled
def _move(
    offsets: NDArray[np.int64],
    item: NDArray[np.int32],
    habits: Float,
    category: int,
    step: Float,
    rate: Float,
    habit: Float,
    taste: Float,
    reveal: Float,
    shift: Float,
) -> None:
    d, K = habit.shape[1], rate.shape[1]
    for i in range(len(offsets) - 1):
        for at in range(offsets[i], offsets[i + 1]):
            j = item[at]
            for a in range(taste.shape[1]):
                shift[at] += step[i, a] * taste[j, a]
            if d:
                least = own = 1.0
                for m in range(K):
                    logit = rate[j, m]
                    for a in range(d):
                        logit += habit[j, a] * habits[i, m, a]
                    p = 1 / (1 + np.exp(-logit))
                    least = min(least, p)
                    if m == category:
                        own = p
                reveal[at] = least / own


def weigh(
    people: People,
    moved: Moved,
    items: int,
    levels: Float,
    crossed: tuple[tuple[int, ...], ...],
) -> CategoryStatistics:
    """Count moved ratings, each by its probability of being revealed.

    A value between two levels goes to either by a coin whose mean it is; what is counted is the
    expectation of that. Weights w of a cell are brought to the sum (sum w)^2 / sum w^2, which is
    how many ratings they are worth: shrinkage takes a count for that.
    """
    K, L = len(people.sizes), len(levels)
    below = np.clip(np.searchsorted(levels, moved.value, side="right") - 1, 0, L - 2)
    above = (moved.value - levels[below]) / (levels[below + 1] - levels[below])
    at = (people.item.astype(np.int64) * K + people.category[people.person]) * L + below
    size = items * K * L
    count = np.bincount(at, moved.reveal * (1 - above), size)
    count += np.bincount(at + 1, moved.reveal * above, size)
    cell, cells = at // L, items * K
    weight = np.bincount(cell, moved.reveal, cells)
    squared = np.bincount(cell, moved.reveal**2, cells)
    worth = np.divide(weight, squared, out=np.zeros(cells), where=squared > 0)
    level_count = count.reshape(items, K, L) * worth.reshape(items, K, 1)
    return CategoryStatistics(
        users=people.sizes,
        count=level_count.sum(axis=2),
        total=level_count @ levels,
        square=level_count @ levels**2,
        level_count=level_count,
        level_values=levels,
        crossed=crossed,
    )
