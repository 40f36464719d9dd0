"""Local correction: the device adds its own offset to the scores it receives, and ranks anew."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from midpoint.errors import MidpointError
from midpoint.user.core.counterparts import value_shift
from midpoint.user.core.private import PrivateCategory
from midpoint.user.parameters import Parameters
from midpoint.wire import Disclosure, Refusal, RefusedError, Scores, correction


@dataclass(frozen=True)
class Recommendation:
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
    move: Sequence[int] | None = None,
) -> tuple[Recommendation, ...]:
    """Rank by score_j + offset_j[own category], best first, ties by item, then clip to the scale.

    Ranking comes before clipping, or all that reaches the top of the scale would tie. `rated` are
    her own items, withheld ones included (see `Ledger.decided`); they are left out. Where devices
    look for counterparts, by how much her values were moved, <move, taste_j>, is taken off again:
    `move` is what `Ledger.move_under` says, empty if nothing was, and must be given. A list of
    fewer items is made without knowing it: at any place, what is shown is worse than her best by
    at most max_j - min_j of <move, taste_j>, which is at most 3/4 of the scale.
    """
    if move is None and disclosure.obfuscation.counterparts:
        raise MidpointError(
            f"scheme {disclosure.scheme!r} moved her values, which scores have to lose again; give"
            " move=ledger.move_under(disclosure.digest)"
        )
    if scores.disclosure != disclosure.digest:
        raise RefusedError(Refusal.WRONG_DIGEST, "the scores go with another disclosure")
    places = {item: place for place, item in enumerate(disclosure.items)}
    own = correction(disclosure)[:, category.cell_in(disclosure)]
    if move is not None and len(move):
        everything = np.arange(len(disclosure.items))
        own = own - value_shift(Parameters.of(disclosure), np.array(move), everything)
    low, high = disclosure.scale.low, disclosure.scale.high
    found = []
    for item, score, deviation in zip(scores.items, scores.score, scores.deviation, strict=True):
        if item not in places:
            raise RefusedError(Refusal.UNKNOWN_ITEM, f"item {item!r} is not in the disclosure")
        if item not in rated:
            total = score + int(own[places[item]])
            found.append(Recommendation(item, total, min(max(total, low), high), deviation))
    return tuple(sorted(found, key=lambda one: (-one.score, one.item)))
