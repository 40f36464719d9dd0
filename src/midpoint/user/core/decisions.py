"""From ratings to the one report of a round: ledger, coins and obfuscation together."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.errors import MidpointError
from midpoint.user.checks.disclosure import Accepted
from midpoint.user.core.coins import toss
from midpoint.user.core.correction import taste_move
from midpoint.user.core.counterparts import Adjustment, adjust
from midpoint.user.core.ledger import Ledger, Round
from midpoint.user.core.obfuscation import obfuscate
from midpoint.user.core.private import DeviceSecret, PrivateCategory, framed
from midpoint.user.parameters import Parameters
from midpoint.wire import Disclosure, Refusal, RefusedError, Report, Solicitation

TAG = b"midpoint/v1/report"


Revealed = dict[str, tuple[int, str]]
"""By item: the value in fixed point, and the digest of what was disclosed about it then."""


class Asked(NamedTuple):
    """What was asked and rated up to a round; items are indices in the disclosure."""

    asked: NDArray[np.intp]
    """All items asked about: the rated ones, then the unrated."""
    rated: NDArray[np.intp]
    """The rated items, ascending. Shape (n,)."""
    value: NDArray[np.int64]
    """The ratings, in fixed point. Shape (n,)."""


def decide(
    ratings: Mapping[str, int],
    solicitation: Solicitation,
    accepted: Accepted,
    category: PrivateCategory,
    ledger: Ledger,
) -> Report:
    """Decide the ratings of a round for good and return its report; asked again, the same one.

    `ratings` maps items to ratings in fixed point. An item that was decided before keeps its
    decision, under any disclosure, rating or category. An item asked about and left unrated is
    closed for the round. An open round also decides all other rated items of the disclosure, once:
    it does not report again what was decided before and is not asked about. There is always a
    report, even an empty one. Where items are assigned, she answers all that she is asked or
    nothing new, since leaving some out would be a choice and say something about her. In the clear
    (`PrivateCategory.unprotected`) all that is decided is revealed as it was rated.

    `accepted` comes from `check_disclosure`. Coins and the report's id come from the ledger's
    secret.
    """
    disclosure = accepted.disclosure
    require_legal(ratings, disclosure)
    if not category.in_the_clear:
        category.cell_in(disclosure)  # first, so that no question decides whether it raises
    answered = ledger.answered(solicitation.round)
    if answered is not None:
        return _again(answered, solicitation)
    items = _items_to_decide(ratings, solicitation, disclosure, ledger)
    fresh = {i: int(ratings[i]) for i in items if i in ratings and ledger.decision(i) is None}
    if disclosure.sets and not all(i in ratings or ledger.decision(i) for i in items):
        fresh = {}
    move: list[int] = []
    where = disclosure.index
    if category.in_the_clear:
        values = {item: _reportable(value, disclosure) for item, value in fresh.items()}
    else:
        cell, parameters = category.cell_in(disclosure), Parameters.of(disclosure)
        known = _asked_so_far(ratings, solicitation, disclosure, ledger)
        adjustment = adjust(parameters, cell, *known)
        index = np.array([where[item] for item in fresh], dtype=np.intp)
        hers = adjustment.of(np.searchsorted(known.rated, index))
        values = _revealed_now(fresh, index, cell, parameters, ledger.secret, hers)
        move = adjustment.move.tolist()
    revealed = _revealed_before(items, ledger)
    revealed |= {i: (v, disclosure.numbers_of(where[i])) for i, v in values.items()}
    if move and not disclosure.scale.is_unary:
        sent = _revealed_before([i for i in ledger.decided if i in where], ledger) | revealed
        index = np.array(sorted(where[item] for item in sent), dtype=np.intp)
        answers = np.array([sent[disclosure.items[j]][0] for j in index], dtype=np.int64)
        given = known.rated, known.value
        move = taste_move(disclosure, cell, given, (index, answers)).tolist()
    report = Report(
        id=ledger.secret.prf(framed(TAG, solicitation.digest.encode()))[:16].hex(),
        disclosure=disclosure.digest,
        round=solicitation.round,
        answers=tuple((item, revealed[item][0]) for item in sorted(revealed)),
    )
    ledger.record(
        Round(
            round=solicitation.round,
            solicitation=solicitation.digest,
            report=report.raw.decode(),
            numbers=tuple(revealed[item][1] for item in sorted(revealed)),
            withheld=tuple(item for item in fresh if item not in revealed),
            **_kept_for_later(fresh, solicitation, move, disclosure),
        )
    )
    return report


def require_legal(ratings: Mapping[str, object], disclosure: Disclosure) -> None:
    """Refuse ratings that are not whole numbers on the scale; call it when she enters one.

    Later would be too late: a device that is silent because of a rating leaks that rating. So
    `decide` checks all ratings, asked about or not, before it looks at the question. The scale is
    pinned, so a rating that was legal stays so.
    """
    scale = disclosure.scale
    levels = None if scale.levels is None else frozenset(scale.levels)
    for item, value in ratings.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise MidpointError(f"the rating of item {item!r} is not a whole number, fixed point")
        if value not in levels if levels else not scale.low <= value <= scale.high:
            raise MidpointError(
                f"the rating of item {item!r} is not on the scale; correct it first"
            )


def _again(answered: Round, solicitation: Solicitation) -> Report:
    if answered.solicitation != solicitation.digest:
        raise RefusedError(
            Refusal.ROUND_CHANGED,
            f"round {solicitation.round} was answered when it asked something else",
        )
    return Report.parse(answered.report.encode())


def _items_to_decide(
    ratings: Mapping[str, int], solicitation: Solicitation, disclosure: Disclosure, ledger: Ledger
) -> Sequence[str]:
    """Return the items asked about; in an open round all other rated and undecided ones too."""
    if solicitation.disclosure != disclosure.digest:
        raise RefusedError(Refusal.WRONG_DIGEST, "the question goes with another disclosure")
    known = disclosure.index
    unknown = [item for item in solicitation.items if item not in known]
    if unknown:
        raise RefusedError(Refusal.UNKNOWN_ITEM, f"item {unknown[0]!r} is not in the disclosure")
    if solicitation.open and disclosure.sets:
        raise RefusedError(
            Refusal.QUESTION_OPEN, "items are assigned, and the question leaves the choice to her"
        )
    _require_unchanged(solicitation.items, disclosure, ledger)
    if not solicitation.open:
        return solicitation.items
    undecided = [i for i in known if i in ratings and ledger.decision(i) is None]
    return [*dict.fromkeys([*solicitation.items, *undecided])]


def _require_unchanged(items: Sequence[str], disclosure: Disclosure, ledger: Ledger) -> None:
    """Refuse a question about an item that was revealed under other disclosed numbers.

    Only revealed items count, which the analyst knows: a refusal that depended on withheld items
    would distinguish them from unrated ones.
    """
    for item in items:
        earlier = ledger.decision(item)
        if not (earlier and earlier.numbers):
            continue
        if earlier.numbers != disclosure.numbers_of(disclosure.index[item]):
            raise RefusedError(
                Refusal.NUMBERS_CHANGED,
                f"item {item!r} was answered and is asked again under other numbers",
            )


def _asked_so_far(
    ratings: Mapping[str, int], solicitation: Solicitation, disclosure: Disclosure, ledger: Ledger
) -> Asked:
    """Collect what was asked and rated in all rounds so far, to estimate her position.

    From one round of a few items the estimate would be too poor to hide what all rounds show.
    Items rated in an earlier round count with their ratings of that time.
    """
    everything = solicitation.open or any(answered.open for answered in ledger.rounds)
    asked = {item for answered in ledger.rounds for item in answered.asked or ()}
    asked |= {*solicitation.items}
    legal = frozenset(disclosure.scale.levels or ())  # she may have agreed to another scale since
    given = dict(ratings)
    for answered in ledger.rounds:
        given |= {item: value for item, value in answered.given or () if value in legal}
    about = [item for item in disclosure.items if everything or item in asked]
    rated = [item for item in about if item in given]
    settled = ledger.decided | given.keys()
    left = [item for item in about if item not in settled]
    known = disclosure.index
    index = np.array([known[item] for item in rated + left], dtype=np.intp)
    value = np.array([given[item] for item in rated], dtype=np.int64)
    return Asked(index, index[: len(rated)], value)


def _revealed_before(items: Sequence[str], ledger: Ledger) -> Revealed:
    """Return what earlier rounds revealed of these items."""
    decisions = {item: ledger.decision(item) for item in items}
    return {i: (d.value, d.numbers) for i, d in decisions.items() if d and d.value is not None}


def _revealed_now(
    fresh: Mapping[str, int],
    index: NDArray[np.intp],
    cell: int,
    parameters: Parameters,
    secret: DeviceSecret,
    adjustment: Adjustment,
) -> dict[str, int]:
    """Decide items for the first time; return the values that are revealed."""
    value, coins = np.array([*fresh.values()], dtype=np.int64), toss(secret, [*fresh])
    done = obfuscate(index, value, cell, parameters, coins, adjustment)
    rows = zip(fresh, done.value.tolist(), done.keep, strict=True)
    return {item: reported for item, reported, keep in rows if keep}


def _reportable(value: int, disclosure: Disclosure) -> int:
    """Return a rating as it is, or the nearest level that reports are on."""
    levels = disclosure.scale.report_levels
    return value if levels is None else min(levels, key=lambda level: (abs(level - value), level))


def _kept_for_later(
    given: Mapping[str, int],
    solicitation: Solicitation,
    move: Sequence[int],
    disclosure: Disclosure,
) -> dict[str, Any]:
    """Return what the ledger keeps of a round for her position in the next one."""
    if not disclosure.obfuscation.counterparts:
        return {}
    return {
        "open": solicitation.open,
        "asked": solicitation.items,
        "given": tuple(given.items()),
        "move": tuple(move) if given else None,
    }
