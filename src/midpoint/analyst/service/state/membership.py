"""What becomes of a request to join the panel, or to leave it: pure rules."""

from dataclasses import dataclass
from typing import Self

from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.storage import Decision, Member, Summary
from midpoint.wire import Disclosure, PanelRatings


@dataclass(frozen=True)
class Join:
    """Take somebody into the panel, or keep what she shares now instead of what she shared."""

    token: bytes
    """SHA-256 of the token of a member, which is another than that of her reports."""
    member: Member
    """What she shares, as it would be kept."""
    begins: int | None = None
    """It begins no pseudonym: the panel is apart from reports."""

    @classmethod
    def of(cls, token: bytes, shared: PanelRatings, disclosure: Disclosure, now: int) -> Self:
        """Take what she shares under a disclosure; what no device sends is declined."""
        _require_possible(shared, disclosure)
        return cls(token, Member(now, shared.disclosure, shared.raw))

    def decide(self, summary: Summary | None) -> Decision:
        """Keep it; who joins again has joined when she did so first."""
        del summary
        return Decision(join=self.member)


@dataclass(frozen=True)
class Leave:
    """Erase all that a member of the panel shared."""

    token: bytes
    """SHA-256 of her token."""
    begins: int | None = None
    """It begins nothing."""

    def decide(self, summary: Summary | None) -> Decision:
        """Erase whatever there is."""
        del summary
        return Decision(leave=True)


def _require_possible(shared: PanelRatings, disclosure: Disclosure) -> None:
    """Decline what no device sends; a sentence names no category, since it may be logged."""
    names = dict(shared.category)
    known = {feature.name for feature in disclosure.features}
    if names.keys() != known or disclosure.cell(names) is None:
        raise DeclinedError(
            "malformed",
            f"name a category of each of {', '.join(sorted(known))}, as the disclosure has them",
        )
    scale, items = disclosure.scale, disclosure.index
    levels = None if scale.levels is None else frozenset(scale.levels)
    for item, value in shared.ratings:
        if item not in items:
            raise DeclinedError("malformed", f"item {item!r} is not in the disclosure")
        if value not in levels if levels else not scale.low <= value <= scale.high:
            raise DeclinedError("malformed", f"the rating of item {item!r} is not on the scale")
