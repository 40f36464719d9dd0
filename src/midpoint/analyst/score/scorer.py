"""Reports in, scores out: the same for every category; her device corrects and ranks them."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.score.evidence import Estimate, Evidence
from midpoint.analyst.score.top_n import shortlist
from midpoint.errors import MidpointError
from midpoint.wire import (
    ONE,
    Disclosure,
    Report,
    Scores,
    ValueMap,
    correction,
    from_fixed,
    to_fixed,
)

Float = NDArray[np.float64]
LEVELS_ONLY = (ValueMap.AS_IS, ValueMap.ROUNDED, ValueMap.DISCRETE)
"""Maps of values whose answers on a discrete scale are levels."""


def answers_of(reports: Iterable[Report], disclosure: Disclosure) -> dict[str, int]:
    """Read one person's reports as answers by item, in fixed point; each item counts once.

    A report is refused that was made under another disclosure, that holds what no device sends
    under this one (`_require_possible`), or that answers an item otherwise than another report.
    """
    places = {item: place for place, item in enumerate(disclosure.items)}
    answers: dict[str, int] = {}
    for report in reports:
        if report.disclosure != disclosure.digest:
            raise MidpointError(
                f"report {report.id} was made under disclosure {report.disclosure[:12]}, not"
                f" {disclosure.digest[:12]}; name the one it was made under"
            )
        for item, value in report.answers:
            _require_possible(report, item, value, disclosure, places)
            if answers.setdefault(item, value) != value:
                raise MidpointError(
                    f"report {report.id} answers item {item!r} otherwise than an earlier one; a"
                    " device never does that, so these are reports of two people"
                )
    return answers


def evidence_of(
    profiles: ItemProfiles, answers: Mapping[str, int], weights: Float | None = None
) -> Evidence:
    """Sum up answers for the estimators; `weights` weigh each item's, shape (M,)."""
    items = profiles.index_of(np.array(list(answers), dtype=np.str_))
    value = from_fixed(np.array(list(answers.values()), np.int64))
    return Evidence.of(profiles, items, value, weights)


def score(
    profiles: ItemProfiles,
    estimate: Estimate,
    disclosure: Disclosure,
    items: NDArray[np.integer] | None = None,
) -> Scores:
    """Score items, all unless given, in the order of their identifiers."""
    if disclosure.items != tuple(profiles.item_ids[profiles.order].tolist()):
        raise MidpointError("the disclosure is of other items than the profiles; disclose again")
    place = profiles.message_index if items is None else profiles.message_index[np.asarray(items)]
    order = profiles.order[np.sort(place)]
    mean, deviation = estimate.predict(profiles)
    return Scores(
        disclosure=disclosure.digest,
        items=tuple(profiles.item_ids[order].tolist()),
        score=tuple(to_fixed(mean[order]).tolist()),
        deviation=tuple(to_fixed(deviation[order]).tolist()),
    )


def private_top(
    profiles: ItemProfiles, estimate: Estimate, disclosure: Disclosure, *, top: int, margin: int
) -> Scores:
    """Return scores that hold every category's best items, so that a device asks for none.

    Whatever her category, and whichever items she has rated (no more than `margin`, withheld ones
    included), her `top` best of the others are among them. The size depends on public numbers
    only; see `shortlist`, which is given whole numbers of the wire, as the device will add them.

    That is by her category's offsets. With counterparts a device also takes off what it moved,
    shift_j = <move, taste_j>, which nobody else knows. Then what it shows at any place is worse
    than the best of all items there by at most max_j shift_j - min_j shift_j. For with b_j its
    score before that, in falling order over the items she has not rated, the n first are listed,
    and hers are at least b_n - max shift, while no n items reach more than b_n - min shift. Where
    that matters, send all scores (`score`): so do devices up to 20,000 items.
    """
    scores = score(profiles, estimate, disclosure)
    offsets = correction(disclosure)
    listed = shortlist(scores.score, offsets, top=top, margin=margin)
    return score(profiles, estimate, disclosure, profiles.order[listed])


def _require_possible(
    report: Report, item: str, value: int, disclosure: Disclosure, places: Mapping[str, int]
) -> None:
    """Refuse what no device sends: an unknown item, or a value that no rating is turned into.

    A value is a level of a discrete scale; where averages are sent, or ratings of a continuous
    scale as they are, within the range; and where an offset o_k is subtracted, within the range
    widened by the item's own: low - max o_k to high - min o_k.
    """
    if item not in places:
        raise MidpointError(f"report {report.id}: item {item!r} is not in the disclosure")
    scale, kind = disclosure.scale, disclosure.obfuscation.value_map
    low, high = scale.low, scale.high
    fine = low <= value <= high
    if kind is ValueMap.SHIFTED and disclosure.offset is not None:
        offset = disclosure.offset[places[item]]
        low, high = low - max(offset), high - min(offset)
        fine = low <= value <= high
    elif scale.levels is not None and kind in LEVELS_ONLY:
        fine = value in scale.levels
    if not fine:
        raise MidpointError(
            f"report {report.id} answers item {item!r} with {value / ONE:g}, which is no rating"
            f" from {low / ONE:g} to {high / ONE:g} that scheme {disclosure.scheme} sends"
        )
