"""From ratings to the one report of a round: ledger, coins and obfuscation together."""

from collections.abc import Mapping, Sequence

import numpy as np

from midpoint.errors import MidpointError
from midpoint.user.coins import toss
from midpoint.user.ledger import Ledger, Round
from midpoint.user.obfuscation import illegal, obfuscate
from midpoint.user.parameters import Parameters
from midpoint.user.private import DeviceSecret, PrivateCategory, framed
from midpoint.wire import Disclosure, Refusal, RefusedError, Report, Solicitation

TAG = b"midpoint/v1/report"


def decide(
    ratings: Mapping[str, int],
    solicitation: Solicitation,
    disclosure: Disclosure,
    category: PrivateCategory,
    secret: DeviceSecret,
    ledger: Ledger,
) -> Report:
    """Return the report of a round; asked again, exactly the same one.

    `ratings` maps items to ratings in fixed point. An item that was decided before, under whatever
    disclosure, rating or category, keeps its decision. What is left unrated is closed for the
    round. There is a report whatever was withheld, even an empty one. The disclosure must have
    passed `check_disclosure`.
    """
    answered = ledger.answered(solicitation.round)
    if answered is not None:
        return _again(answered, solicitation)
    places = _places(solicitation, disclosure)
    _require_unchanged(places, disclosure, ledger)
    earlier = {item: ledger.decision(item) for item in places}
    fresh = [item for item in places if item in ratings and earlier[item] is None]
    told = {item: (d.value, d.numbers) for item, d in earlier.items() if d and d.value is not None}
    for item, value in _first(fresh, ratings, places, disclosure, category, secret).items():
        told[item] = (value, disclosure.numbers_of(places[item]))
    report = Report(
        id=secret.prf(framed(TAG, solicitation.digest.encode()))[:16].hex(),
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
        )
    )
    return report


def _again(answered: Round, solicitation: Solicitation) -> Report:
    if answered.solicitation != solicitation.digest:
        raise RefusedError(
            Refusal.ROUND_CHANGED,
            f"round {solicitation.round} was answered when it asked something else",
        )
    return Report.parse(answered.report.encode())


def _places(solicitation: Solicitation, disclosure: Disclosure) -> dict[str, int]:
    """Return where the disclosure has each item that is asked about."""
    if solicitation.disclosure != disclosure.digest:
        raise RefusedError(Refusal.WRONG_DIGEST, "the question goes with another disclosure")
    known = {item: place for place, item in enumerate(disclosure.items)}
    unknown = [item for item in solicitation.items if item not in known]
    if unknown:
        raise RefusedError(Refusal.UNKNOWN_ITEM, f"item {unknown[0]!r} is not in the disclosure")
    return {item: known[item] for item in solicitation.items}


def _require_unchanged(places: Mapping[str, int], disclosure: Disclosure, ledger: Ledger) -> None:
    """Refuse to be asked again, under other numbers, about an item that was answered.

    Only revealed answers count, which the analyst knows: a refusal that depended on withheld
    items would tell them from unrated ones. For those the decision stands in silence.
    """
    for item, place in places.items():
        earlier = ledger.decision(item)
        if earlier and earlier.numbers and earlier.numbers != disclosure.numbers_of(place):
            raise RefusedError(
                Refusal.NUMBERS_CHANGED,
                f"item {item!r} was answered and is asked again under other numbers",
            )


def _first(
    fresh: Sequence[str],
    ratings: Mapping[str, int],
    places: Mapping[str, int],
    disclosure: Disclosure,
    category: PrivateCategory,
    secret: DeviceSecret,
) -> dict[str, int]:
    """Decide items for the first time; return what is revealed of them."""
    parameters = Parameters.of(disclosure)
    value = np.array([ratings[item] for item in fresh], dtype=np.int64)
    wrong = illegal(value, parameters)
    if wrong.any():
        item = fresh[int(np.argmax(wrong))]
        raise MidpointError(f"the rating of item {item!r} is not on the scale; mend it first")
    index = np.array([places[item] for item in fresh], dtype=np.intp)
    cell = category.cell_in(disclosure)
    done = obfuscate(index, value, cell, parameters, toss(secret, fresh))
    return {
        item: int(told)
        for item, told, keep in zip(fresh, done.value, done.keep, strict=True)
        if keep
    }
