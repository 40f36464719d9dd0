"""What becomes of a request that writes, given what is kept of its pseudonym: pure rules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.service.settings import MOST_KEPT
from midpoint.analyst.storage import Decision, KeptReport, KeptRound, Summary, Sums
from midpoint.wire import Report, Solicitation, digest
from midpoint.wire.canonical import encode
from midpoint.wire.message import VERSION

MOST_ROUNDS = 1000
"""Rounds of one pseudonym, at most: each adds to the summary, which every request reads."""
SumUp = Callable[[Summary, Mapping[str, int]], Sums]
"""Statistics of a summary's answers, and of further ones."""


@dataclass(frozen=True)
class Accepted:
    """A report that is kept for good."""

    receipt: bytes
    """The bytes of the receipt."""
    repeated: bool
    """Whether it was kept already."""
    sums: Sums | None
    """Statistics of all answers of this pseudonym; None if no model summed them up."""


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
    most: int = MOST_KEPT
    """Bytes kept of one pseudonym, at most."""

    @property
    def begins(self) -> int | None:
        """A question begins a pseudonym."""
        return self.now

    def decide(self, summary: Summary | None) -> Decision:
        """Return the open question byte for byte, or open the next one."""
        known = summary or Summary(self.now)
        waiting = known.unanswered(self.disclosure, self.after)
        if waiting is not None:
            return Decision(waiting.solicitation)
        if known.rounds >= MOST_ROUNDS:
            raise DeclinedError(
                "rounds_used_up", f"a token has {MOST_ROUNDS} rounds at most, and this one had them"
            )
        # Another request may have added items meanwhile.
        asked = Solicitation(
            disclosure=self.disclosure,
            round=1 + max(self.after, known.last_round),
            items=tuple(item for item in self.items if item not in known.items),
            open=not self.only_asked,
        )
        require_space(known, asked.raw, self.most)
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
    sum_up: SumUp | None = None
    """How the current model sums answers up."""
    most: int = MOST_KEPT
    """Bytes kept of one pseudonym, at most."""

    @classmethod
    def of(
        cls,
        token: bytes,
        report: Report,
        now: int,
        *,
        retired: bool,
        sum_up: SumUp | None = None,
        most: int = MOST_KEPT,
    ) -> Self:
        """Take a report to be kept."""
        kept = KeptReport(report.round, report.id, report.raw, now)
        return cls(token, kept, report.disclosure, dict(report.answers), retired, sum_up, most)

    @property
    def begins(self) -> int | None:
        """A report begins nothing: it answers a question."""
        return None

    def decide(self, summary: Summary | None) -> Decision:
        """Keep it, say that it is kept already, or decline it with the reason."""
        if summary is None:
            raise self._unknown()
        new, raw = self.report, self.report.report
        like = summary.report_like(new.round, new.id)
        if like is not None:
            return self._again(*like, summary)
        self._require_acceptable(summary)
        require_space(summary, raw, self.most)
        sums = None if self.sum_up is None else self.sum_up(summary, self.answers)
        answers = len(summary.answers.keys() | self.answers.keys())
        reply = Accepted(receipt(raw, answers), repeated=False, sums=sums)
        return Decision(reply, report=new, sums=sums)

    def _again(self, number: int, kept: str, summary: Summary) -> Decision:
        raw = self.report.report
        if kept != digest(raw):
            raise DeclinedError(
                "report_changed",
                f"round {number} was answered by another report; a decision is final",
            )
        return Decision(
            Accepted(receipt(raw, len(summary.answers)), repeated=True, sums=summary.sums)
        )

    def _require_acceptable(self, summary: Summary) -> None:
        if self.retired:
            raise DeclinedError(
                "retired_disclosure",
                "the disclosure of this report is retired; fetch the current one and ask for a"
                " solicitation under it",
            )
        asked, earlier = summary.open_round(self.report.round), summary.answers
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


def require_space(summary: Summary, more: bytes, most: int) -> None:
    """Decline what would take a pseudonym beyond the bytes that are kept of one."""
    if summary.size + len(more) > most:
        raise DeclinedError(
            "space_used_up",
            f"{most} bytes of questions and reports are kept of a token at most, and with this one"
            " there would be more",
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

    def decide(self, summary: Summary | None) -> Decision:
        """Erase whatever there is."""
        del summary
        return Decision(erase=True)
