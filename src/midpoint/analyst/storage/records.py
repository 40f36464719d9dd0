"""What is kept of one pseudonym, and how a request decides what to add to it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol


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
    """All that is kept of one pseudonym."""

    created: int
    """When it was first seen, in whole seconds since 1970 in UTC."""
    rounds: tuple[KeptRound, ...] = ()
    """The questions, by number."""
    reports: tuple[KeptReport, ...] = ()
    """The answers, by number of the question."""

    @cached_property
    def answers(self) -> dict[str, int]:
        """All answers by item; the first one counts, and a later one is the same."""
        return {item: y for kept in reversed(self.reports) for item, y in kept.answers.items()}

    @property
    def touched(self) -> Iterator[str]:
        """Every item that was ever asked about or answered: none of them is asked again."""
        for kept in self.rounds:
            yield from kept.items
        yield from self.answers

    def unanswered(self, disclosure: str, after: int = -1) -> KeptRound | None:
        """Return the open question under a disclosure, if there is one with a later number."""
        done = {kept.round for kept in self.reports}
        waiting = (r for r in self.rounds if r.number not in done and r.disclosure == disclosure)
        return next((kept for kept in waiting if kept.number > after), None)

    def round(self, number: int) -> KeptRound | None:
        """Return a question by its number."""
        return next((kept for kept in self.rounds if kept.number == number), None)

    def after(self, decision: "Decision") -> "History | None":
        """Return what is kept once a decision is carried out."""
        if decision.erase:
            return None
        rounds = (*self.rounds, decision.round) if decision.round else self.rounds
        reports = (*self.reports, decision.report) if decision.report else self.reports
        return History(self.created, rounds, reports)


@dataclass(frozen=True)
class Decision:
    """What a request adds to a history, or takes away, and its reply once that is kept."""

    reply: Any = None
    """Handed back to the request after the commit."""
    round: KeptRound | None = None
    """A question to keep."""
    report: KeptReport | None = None
    """An answer to keep."""
    erase: bool = False
    """Whether everything of this pseudonym goes."""


class Work(Protocol):
    """A request that writes; it decides inside the transaction, from the history found there."""

    @property
    def token(self) -> bytes:
        """SHA-256 of the device's token."""

    @property
    def begins(self) -> int | None:
        """Time at which a pseudonym that is new begins; None if this request begins none."""

    def decide(self, history: History | None) -> Decision:
        """Say what to keep; raise to decline, which touches no other request."""
