"""Local correction: a device adds its own category's part to the scores it receives, and ranks."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.user.core.counterparts import own_part, rounded_position, taste_of, value_shift
from midpoint.user.core.private import PrivateCategory
from midpoint.user.parameters import Parameters, made_once
from midpoint.wire import Disclosure, Refusal, RefusedError, Scores, correction

_correction = made_once(correction)
Valued = tuple[NDArray[np.intp], NDArray[np.int64]]
"""Items by index, and a value of each in fixed point. Shapes (n,), (n,)."""


class Recommendation(NamedTuple):
    """One item as the user sees it; numbers in fixed point."""

    item: str
    """Its identifier."""
    score: int
    """Predicted rating with her own offset, not clipped: what it is ranked by."""
    shown: int
    """The same, brought onto the scale for display."""
    deviation: int
    """Standard deviation of the prediction."""


def correct(
    scores: Scores,
    disclosure: Disclosure,
    category: PrivateCategory,
    rated: Collection[str],
    move: Sequence[int],
) -> tuple[Recommendation, ...]:
    """Rank by score_j + offset_j[own category] - <move, taste_j>, best first, ties by item.

    Ranking comes before clipping, or all that reaches the top of the scale would tie. `rated` are
    her own items, withheld ones included (see `Ledger.decided`); they are left out. `move` is what
    `Ledger.move_under` returns: how far her answers are from her taste (`taste_move`), empty
    without counterparts. The analyst picks the items of a shorter list without knowing it, so at
    any rank what is shown is worse than her best by at most max_j - min_j of <move, taste_j>,
    which is at most 3/4 of the scale. Of sets `move` is her position, and what it says of an item
    is added.
    """
    if scores.disclosure != disclosure.digest:
        raise RefusedError(Refusal.WRONG_DIGEST, "the scores go with another disclosure")
    known = disclosure.index
    unknown = next((item for item in scores.items if item not in known), None)
    if unknown is not None:
        raise RefusedError(Refusal.UNKNOWN_ITEM, f"item {unknown!r} is not in the disclosure")
    total = np.array(scores.score, np.int64)
    if not category.in_the_clear:  # else the scores are of her ratings as they were
        index = np.array([known[item] for item in scores.items], dtype=np.intp)
        cell = category.cell_in(disclosure)
        total += corrections(disclosure, index, cell, np.array(move, np.int64))
    items, deviation = scores.items, scores.deviation
    best_first = np.argsort(-total, kind="stable").tolist()  # items ascend, so ties are by item
    hers = [n for n in best_first if items[n] not in rated]
    score = total[hers]
    shown = np.clip(score, disclosure.scale.low, disclosure.scale.high)
    named, spread = [items[n] for n in hers], [deviation[n] for n in hers]
    rows = zip(named, score.tolist(), shown.tolist(), spread, strict=True)
    return tuple(map(Recommendation._make, rows))


def corrections(
    disclosure: Disclosure,
    item: NDArray[np.intp],
    cell: NDArray[np.intp] | int,
    move: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return what devices add to the scores of n items, in fixed point. Shape (n,).

    Args:
        disclosure: What goes with the scores.
        item: The items, by index. Shape (n,).
        cell: The category that each is scored for, or one for all. Shape (n,).
        move: How taste factors moved: one person's, (r,), or a row for each item, (n, r). Of sets
            her position (`own_part`).
    """
    parameters = Parameters.of(disclosure)
    added = own_part(parameters, cell, move, item) - value_shift(parameters, move, item)
    return np.asarray(_correction(disclosure)[item, cell] + added)


def taste_move(disclosure: Disclosure, cell: int, given: Valued, sent: Valued) -> NDArray[np.int64]:
    """Return what answers say of her taste less what her ratings say, `counterparts` step 7. (r,).

    `given` are the items that she rated and her ratings, `sent` those revealed, and as what.
    """
    model, (item, value) = Parameters.of(disclosure).positions, given
    if model is None:
        return np.zeros(0, dtype=np.int64)
    known = taste_of(model, item, value - _correction(disclosure)[item, cell])
    return rounded_position(taste_of(model, *sent) - known)
