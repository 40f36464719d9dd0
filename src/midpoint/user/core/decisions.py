"""From ratings to the one report of a round: ledger, coins and obfuscation together."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from midpoint.errors import MidpointError
from midpoint.user.checks.disclosure import Accepted
from midpoint.user.core.coins import toss
from midpoint.user.core.counterparts import Counterparts, adjustment_of, counterparts
from midpoint.user.core.ledger import Ledger, Round
from midpoint.user.core.obfuscation import obfuscate
from midpoint.user.core.private import DeviceSecret, PrivateCategory, framed
from midpoint.user.parameters import Parameters
from midpoint.wire import Disclosure, Refusal, RefusedError, Report, Solicitation

TAG = b"midpoint/v1/report"


def decide(
    ratings: Mapping[str, int],
    solicitation: Solicitation,
    accepted: Accepted,
    category: PrivateCategory,
    ledger: Ledger,
) -> Report:
    """Return the report of a round; asked again, exactly the same one.

    `ratings` maps items to ratings in fixed point. An item that was decided before, under whatever
    disclosure, rating or category, keeps its decision. What is asked about and left unrated is
    closed for the round. An open round decides every other rated item of the disclosure too, once:
    what was decided before and is not asked about is not told again. There is a report whatever
    was withheld, even an empty one. `accepted` comes from `check_disclosure`; coins and the
    report's name come from the ledger's own secret.
    """
    disclosure = accepted.disclosure
    require_legal(ratings, disclosure)
    cell = category.cell_in(disclosure)  # here, so that no question decides whether this stops
    answered = ledger.answered(solicitation.round)
    if answered is not None:
        return _again(answered, solicitation)
    index_of = _asked_index(solicitation, disclosure)
    _require_unchanged(index_of, disclosure, ledger)
    if solicitation.open:
        index_of |= _undecided(ratings, disclosure, ledger)
    earlier = {item: ledger.decision(item) for item in index_of}
    fresh = [item for item in index_of if item in ratings and earlier[item] is None]
    told = {item: (d.value, d.numbers) for item, d in earlier.items() if d and d.value is not None}
    rated = {item: ratings[item] for item in fresh}
    parameters = Parameters.of(disclosure)
    met = _counterparts(dict(ratings), solicitation, disclosure, parameters, ledger, cell)
    for item, value in _first(rated, index_of, parameters, cell, ledger.secret, met).items():
        told[item] = (value, disclosure.numbers_of(index_of[item]))
    report = Report(
        id=ledger.secret.prf(framed(TAG, solicitation.digest.encode()))[:16].hex(),
        disclosure=disclosure.digest,
        round=solicitation.round,
        answers=tuple((item, told[item][0]) for item in sorted(told)),
    )
    ledger.record(
        Round(
            round=solicitation.round,
            solicitation=solicitation.digest,
            report=report.raw.decode(),
            numbers=tuple(told[item][1] for item in sorted(told)),
            withheld=tuple(item for item in fresh if item not in told),
            **({} if met is None else _evidence(rated, solicitation, met)),
        )
    )
    return report


def require_legal(ratings: Mapping[str, object], disclosure: Disclosure) -> None:
    """Refuse ratings that are not whole numbers on the scale; for the moment she enters one.

    Later it would be too late: a device that is silent because of a rating tells it. So `decide`
    looks at all ratings, asked about or not, before it looks at the question, and since the scale
    is pinned, what was legal once stays so.
    """
    scale = disclosure.scale
    levels = None if scale.levels is None else frozenset(scale.levels)
    for item, value in ratings.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise MidpointError(f"the rating of item {item!r} is not a whole number, fixed point")
        if value not in levels if levels else not scale.low <= value <= scale.high:
            raise MidpointError(f"the rating of item {item!r} is not on the scale; fix it first")


def _again(answered: Round, solicitation: Solicitation) -> Report:
    if answered.solicitation != solicitation.digest:
        raise RefusedError(
            Refusal.ROUND_CHANGED,
            f"round {solicitation.round} was answered when it asked something else",
        )
    return Report.parse(answered.report.encode())


def _asked_index(solicitation: Solicitation, disclosure: Disclosure) -> dict[str, int]:
    """Return where the disclosure has each item that is asked about."""
    if solicitation.disclosure != disclosure.digest:
        raise RefusedError(Refusal.WRONG_DIGEST, "the question goes with another disclosure")
    known = {item: index for index, item in enumerate(disclosure.items)}
    unknown = [item for item in solicitation.items if item not in known]
    if unknown:
        raise RefusedError(Refusal.UNKNOWN_ITEM, f"item {unknown[0]!r} is not in the disclosure")
    return {item: known[item] for item in solicitation.items}


def _undecided(
    ratings: Mapping[str, int], disclosure: Disclosure, ledger: Ledger
) -> dict[str, int]:
    """Return where the disclosure has each rated item that has no decision yet."""
    return {
        item: index
        for index, item in enumerate(disclosure.items)
        if item in ratings and ledger.decision(item) is None
    }


def _require_unchanged(index_of: Mapping[str, int], disclosure: Disclosure, ledger: Ledger) -> None:
    """Refuse to be asked again, under other numbers, about an item that was answered.

    Only revealed answers count, which the analyst knows: a refusal that depended on withheld
    items would tell them from unrated ones. For those the decision stands in silence.
    """
    for item, index in index_of.items():
        earlier = ledger.decision(item)
        if earlier and earlier.numbers and earlier.numbers != disclosure.numbers_of(index):
            raise RefusedError(
                Refusal.NUMBERS_CHANGED,
                f"item {item!r} was answered and is asked again under other numbers",
            )


def _counterparts(
    ratings: dict[str, int],
    solicitation: Solicitation,
    disclosure: Disclosure,
    parameters: Parameters,
    ledger: Ledger,
    cell: int,
) -> Counterparts | None:
    """Find her counterparts by all that was asked and answered so far; None if nothing needs them.

    By one round of a few items alone, she would be placed too badly to hide what all rounds
    together tell. What was rated in an earlier round counts as it was rated then.
    """
    if parameters.positions is None:
        return None
    everything = solicitation.open or any(answered.open for answered in ledger.rounds)
    asked = {item for answered in ledger.rounds for item in answered.asked or ()}
    asked |= {*solicitation.items}
    legal = frozenset(disclosure.scale.levels or ())  # she may have agreed to another scale since
    given = ratings | {i: v for one in ledger.rounds for i, v in one.given or () if v in legal}
    about = [(p, i) for p, i in enumerate(disclosure.items) if everything or i in asked]
    rated = [(index, given[item]) for index, item in about if item in given]
    left = [p for p, i in about if i not in given and ledger.decision(i) is None]
    rated_index = np.array([index for index, _ in rated], dtype=np.intp)
    value = np.array([one for _, one in rated], dtype=np.int64)
    shown = np.append(rated_index, np.array(left, dtype=np.intp))
    return counterparts(parameters.positions, cell, shown, rated_index, value)


def _evidence(
    rated: Mapping[str, int], solicitation: Solicitation, met: Counterparts
) -> dict[str, Any]:
    """Return what the ledger keeps of a round, for her place in the next one."""
    return {
        "open": solicitation.open,
        "asked": solicitation.items,
        "given": tuple((item, int(value)) for item, value in rated.items()),
        "move": tuple(met.move.tolist()) if rated else None,
    }


def _first(
    rated: Mapping[str, int],
    index_of: Mapping[str, int],
    parameters: Parameters,
    cell: int,
    secret: DeviceSecret,
    met: Counterparts | None,
) -> dict[str, int]:
    """Decide items for the first time; return what is revealed of them."""
    index = np.array([index_of[item] for item in rated], dtype=np.intp)
    value = np.array([*rated.values()], dtype=np.int64)
    own = None if met is None else adjustment_of(parameters, cell, index, met)
    done = obfuscate(index, value, cell, parameters, toss(secret, [*rated]), own=own)
    return {
        item: int(told)
        for item, told, keep in zip(rated, done.value, done.keep, strict=True)
        if keep
    }
