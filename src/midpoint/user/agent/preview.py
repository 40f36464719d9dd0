"""What leaves the device, line by line, before anything is final."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from midpoint.user.checks.disclosure import Accepted
from midpoint.user.core.decisions import decide
from midpoint.user.core.ledger import Ledger
from midpoint.user.core.private import PrivateCategory
from midpoint.wire import Solicitation


class Fate(StrEnum):
    """What becomes of one rating."""

    SENT = "sent"
    """It is sent, as it is or changed."""
    WITHHELD = "withheld"
    """A coin keeps it here for good: people like her rate this item more often than others."""
    SENT_BEFORE = "sent_before"
    """It was sent in an earlier round; that answer stands, whatever the rating is now."""
    WITHHELD_BEFORE = "withheld_before"
    """It was withheld in an earlier round; that stands."""
    NOT_ASKED = "not_asked"
    """This round does not ask about it, so nothing is decided."""


@dataclass(frozen=True)
class Line:
    """One rating and what becomes of it; numbers in fixed point."""

    item: str
    """Its identifier."""
    rating: int
    """What she gave."""
    sent: int | None
    """What the report says about it, or an earlier one said; None if nothing."""
    fate: Fate
    """Why."""


def preview(
    ratings: Mapping[str, int],
    solicitation: Solicitation,
    accepted: Accepted,
    category: PrivateCategory,
    ledger: Ledger,
) -> tuple[Line, ...]:
    """Decide in a copy of the ledger and show the outcome, one line for each rating.

    What is shown is what `decide` will do: the coins are fixed, so looking again, or looking and
    not confirming, tosses nothing again.
    """
    copy = ledger.copy_in_memory()
    decide(ratings, solicitation, accepted, category, copy)
    return tuple(_line(item, ratings[item], ledger, copy) for item in ratings)


def _line(item: str, rating: int, ledger: Ledger, copy: Ledger) -> Line:
    before, after = ledger.decision(item), copy.decision(item)
    if after is None:
        return Line(item, rating, None, Fate.NOT_ASKED)
    if before is not None:
        fate = Fate.WITHHELD_BEFORE if before.value is None else Fate.SENT_BEFORE
    else:
        fate = Fate.WITHHELD if after.value is None else Fate.SENT
    return Line(item, rating, after.value, fate)
