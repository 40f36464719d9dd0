"""What becomes of a request that writes, given all that is kept of its pseudonym: pure rules."""

from dataclasses import dataclass
from typing import Self

from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.storage import Decision, History, KeptReport, KeptRound
from midpoint.wire import Report, Solicitation, digest
from midpoint.wire.canonical import encode
from midpoint.wire.message import VERSION

MOST_ROUNDS = 1000
"""Rounds of one pseudonym, at most: all of them are read whenever it asks for something."""


@dataclass(frozen=True)
class Accepted:
    """A report that is kept for good."""

    receipt: bytes
    """The bytes of the receipt."""
    repeated: bool
    """Whether it was kept already."""
    answers: dict[str, int]
    """All answers of this pseudonym."""


@dataclass(frozen=True)
class OpenRound:
    """Ask about items, unless a question under this disclosure is still open."""

    token: bytes
    """SHA-256 of the device's token."""
    now: int
    """The time, in whole seconds since 1970 in UTC."""
    disclosure: str
    """Digest of the current disclosure."""
    items: tuple[str, ...]
    """The items that were chosen, ascending."""
    only_asked: bool
    """Whether other items may not be answered."""
    after: int = -1
    """The last round that the device is done with; its numbers go on from there."""

    @property
    def begins(self) -> int | None:
        """A question begins a pseudonym."""
        return self.now

    def decide(self, history: History | None) -> Decision:
        """Return the open question byte for byte, or open the next one."""
        known = history or History(self.now)
        waiting = known.unanswered(self.disclosure, self.after)
        if waiting is not None:
            return Decision(waiting.solicitation)
        if len(known.rounds) >= MOST_ROUNDS:
            raise DeclinedError(
                "rounds_used_up", f"a token has {MOST_ROUNDS} rounds at most, and this one had them"
            )
        touched = frozenset(known.touched)  # another request may have added some meanwhile
        asked = Solicitation(
            disclosure=self.disclosure,
            round=1 + max(self.after, *(kept.number for kept in known.rounds), -1),
            items=tuple(item for item in self.items if item not in touched),
            open=not self.only_asked,
        )
        kept = KeptRound(asked.round, asked.disclosure, asked.raw, self.now)
        return Decision(asked.raw, round=kept)


@dataclass(frozen=True)
class KeepReport:
    """Keep a report, once."""

    token: bytes
    """SHA-256 of the device's token."""
    report: KeptReport
    """What was received, as it would be kept."""
    disclosure: str
    """Digest of the disclosure that it was made under."""
    answers: dict[str, int]
    """What it says, by item."""
    retired: bool
    """Whether its disclosure is no longer taken."""

    @classmethod
    def of(cls, token: bytes, report: Report, now: int, *, retired: bool) -> Self:
        """Take a report to be kept."""
        kept = KeptReport(report.round, report.id, report.raw, now)
        return cls(token, kept, report.disclosure, dict(report.answers), retired)

    @property
    def begins(self) -> int | None:
        """A report begins nothing: it answers a question."""
        return None

    def decide(self, history: History | None) -> Decision:
        """Keep it, say that it is kept already, or decline it with the reason."""
        if history is None:
            raise self._unknown()
        new = self.report
        for kept in history.reports:
            if kept.round == new.round or kept.id == new.id:
                return self._again(kept, history)
        earlier = history.answers
        self._require_acceptable(history.round(new.round), earlier)
        return Decision(self._accepted(earlier | self.answers, repeated=False), report=new)

    def _again(self, kept: KeptReport, history: History) -> Decision:
        if kept.report != self.report.report:
            raise DeclinedError(
                "report_changed",
                f"round {kept.round} was answered by another report; a decision is final",
            )
        return Decision(self._accepted(history.answers, repeated=True))

    def _accepted(self, answers: dict[str, int], *, repeated: bool) -> Accepted:
        return Accepted(receipt(self.report.report, len(answers)), repeated, answers)

    def _require_acceptable(self, asked: KeptRound | None, earlier: dict[str, int]) -> None:
        if self.retired:
            raise DeclinedError(
                "retired_disclosure",
                "the disclosure of this report is retired; fetch the current one and ask for a"
                " solicitation under it",
            )
        if asked is None or asked.disclosure != self.disclosure:
            raise self._unknown()
        if not asked.is_open and (extra := self.answers.keys() - set(asked.items)):
            raise DeclinedError("malformed", f"item {min(extra)!r} was not asked about")
        for item in earlier.keys() & self.answers.keys():
            if earlier[item] != self.answers[item]:
                raise DeclinedError(
                    "report_changed", f"item {item!r} was answered otherwise; a decision is final"
                )

    def _unknown(self) -> DeclinedError:
        return DeclinedError(
            "round_unknown",
            f"round {self.report.round} was not opened for this token under this disclosure; ask"
            " for a solicitation first",
        )


def receipt(report: bytes, answers: int) -> bytes:
    """Return the bytes of a `Receipt`; they are ours, so they are not checked."""
    return encode({"answers": answers, "report": digest(report), "version": VERSION})


@dataclass(frozen=True)
class Erase:
    """Forget a pseudonym, wholly."""

    token: bytes
    """SHA-256 of the device's token."""
    begins: int | None = None
    """It begins nothing."""

    def decide(self, history: History | None) -> Decision:
        """Erase whatever there is."""
        del history
        return Decision(erase=True)
