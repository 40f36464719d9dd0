"""What is kept of one pseudonym, and how a request decides what to add to it."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from midpoint.analyst.storage.summary import Summary, Sums


@dataclass(frozen=True)
class KeptRound:
    """One question, as it was sent."""

    number: int
    """Its number, from 0."""
    disclosure: str
    """Digest of the disclosure to answer it under."""
    solicitation: bytes
    """The exact bytes."""
    opened: int
    """When, in whole seconds since 1970 in UTC."""

    @cached_property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.solicitation)
        return content

    @property
    def items(self) -> tuple[str, ...]:
        """The items that it asks about."""
        return tuple(self._content["items"])

    @property
    def is_open(self) -> bool:
        """Whether other items may be answered as well."""
        return bool(self._content["open"])


@dataclass(frozen=True)
class KeptReport:
    """One answer, as it was received."""

    round: int
    """Number of the question."""
    id: str
    """Its name, random."""
    report: bytes
    """The exact bytes."""
    received: int
    """When, in whole seconds since 1970 in UTC."""

    @cached_property
    def answers(self) -> dict[str, int]:
        """Answers by item, in fixed point; they were checked when they came in."""
        return dict(json.loads(self.report)["answers"])


@dataclass(frozen=True)
class History:
    """All that one pseudonym was asked and answered, byte for byte: what an export shows."""

    created: int
    """When it was first seen, in whole seconds since 1970 in UTC."""
    rounds: tuple[KeptRound, ...] = ()
    """The questions, by number."""
    reports: tuple[KeptReport, ...] = ()
    """The answers, by number of the question."""


@dataclass(frozen=True)
class Member:
    """What somebody shared who joined the panel."""

    joined: int
    """When she first did, in whole seconds since 1970 in UTC."""
    disclosure: str
    """Digest of the disclosure whose features, scale and items it goes by."""
    shared: bytes = field(repr=False)
    """The exact bytes: her category and her ratings, as they are."""


@dataclass(frozen=True)
class Decision:
    """What a request adds to a history, or takes away, and its reply once that is kept."""

    reply: Any = None
    """Handed back to the request after the commit."""
    round: KeptRound | None = None
    """A question to keep."""
    report: KeptReport | None = None
    """An answer to keep."""
    sums: "Sums | None" = None
    """Statistics of all answers, that one included."""
    erase: bool = False
    """Whether everything of this pseudonym goes; a member of the panel has another."""
    join: Member | None = None
    """Somebody to take into the panel, or what she shares instead of what she shared before."""
    leave: bool = False
    """Whether this member of the panel goes, with all that she shared."""


class Work(Protocol):
    """A request that writes; it decides inside the transaction, from the summary found there."""

    @property
    def token(self) -> bytes:
        """SHA-256 of the device's token."""

    @property
    def begins(self) -> int | None:
        """Time at which a pseudonym that is new begins; None if this request begins none."""

    def decide(self, summary: "Summary | None") -> Decision:
        """Say what to keep; raise to decline, which touches no other request."""
