"""What requests need of one pseudonym, kept beside its rounds and reports, and made from them.

Its size goes by the items that somebody was asked about or answered, each once, and by the number
of rounds; not by the bytes of all reports. So no request but an export reads those.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from midpoint.analyst.storage.records import Decision, History, KeptReport, KeptRound
from midpoint.wire import digest
from midpoint.wire.canonical import encode


@dataclass(frozen=True)
class Sums:
    """Sufficient statistics of all answers, as one model sums them up."""

    model: str
    """Which model; to another one these numbers say nothing."""
    data: bytes
    """The numbers, as that model writes them."""


@dataclass(frozen=True)
class Summary:
    """All that is decided by, and that scores are computed from."""

    created: int
    """When the pseudonym was first seen, in whole seconds since 1970 in UTC."""
    size: int = 0
    """Bytes of all questions and reports."""
    items: Mapping[str, int | None] = field(default_factory=dict)
    """Every item asked about or answered, with its answer in fixed point; None if there is none."""
    waiting: Mapping[int, str] = field(default_factory=dict)
    """Questions that are not answered, by number: the text of their exact bytes."""
    answered: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    """Name and digest of the report that answered each question, by the question's number."""
    sums: Sums | None = None
    """Statistics of the answers; None if they were not summed up since the last report."""

    @classmethod
    def of(cls, history: History) -> "Summary":
        """Work it out from all that is kept; what is kept beside it is the same, without sums."""
        summary = Summary(history.created)
        for asked in history.rounds:
            summary = summary.after_round(asked)
        for report in history.reports:
            summary = summary.after_report(report, None)
        return summary

    @classmethod
    def parse(cls, created: int, raw: bytes, sums: Sums | None) -> Self:
        """Read what `raw` wrote."""
        content = json.loads(raw)
        return cls(
            created,
            content["size"],
            content["items"],
            dict(content["waiting"]),
            {number: (name, kept) for number, name, kept in content["answered"]},
            sums,
        )

    @property
    def raw(self) -> bytes:
        """The bytes that are kept: the same for the same rounds and reports."""
        return encode(
            {
                "answered": [[n, *self.answered[n]] for n in sorted(self.answered)],
                "items": self.items,
                "size": self.size,
                "waiting": sorted(self.waiting.items()),
            }
        )

    @cached_property
    def answers(self) -> dict[str, int]:
        """All answers by item; the first one counts, and a later one is the same."""
        return {item: value for item, value in self.items.items() if value is not None}

    @property
    def rounds(self) -> int:
        """How many questions were asked."""
        return len(self.waiting) + len(self.answered)

    @property
    def last_round(self) -> int:
        """The highest number of a question; -1 if there is none."""
        return max((*self.waiting, *self.answered), default=-1)

    @property
    def open_rounds(self) -> Iterator[KeptRound]:
        """Questions that are not answered, by number."""
        for number in sorted(self.waiting):
            raw = self.waiting[number].encode()
            yield KeptRound(number, str(json.loads(raw)["disclosure"]), raw, self.created)

    def unanswered(self, disclosure: str, after: int = -1) -> KeptRound | None:
        """Return the open question under a disclosure, if there is one with a later number."""
        asked = (kept for kept in self.open_rounds if kept.disclosure == disclosure)
        return next((kept for kept in asked if kept.number > after), None)

    def open_round(self, number: int) -> KeptRound | None:
        """Return an open question by its number."""
        return next((kept for kept in self.open_rounds if kept.number == number), None)

    def report_like(self, number: int, name: str) -> tuple[int, str] | None:
        """Return round and digest of the report of a round, or of this name, if there is one."""
        if number in self.answered:
            return number, self.answered[number][1]
        return next(((n, kept) for n, (id_, kept) in self.answered.items() if id_ == name), None)

    def after(self, decision: Decision) -> "Summary | None":
        """Return what it is once a decision is carried out."""
        if decision.erase:
            return None
        summary = self
        if decision.round is not None:
            summary = summary.after_round(decision.round)
        if decision.report is not None:
            summary = summary.after_report(decision.report, decision.sums)
        return summary

    def after_round(self, asked: KeptRound) -> "Summary":
        """Add a question."""
        return Summary(
            self.created,
            self.size + len(asked.solicitation),
            {**dict.fromkeys(asked.items), **self.items},
            {**self.waiting, asked.number: asked.solicitation.decode()},
            self.answered,
            self.sums,
        )

    def after_report(self, report: KeptReport, sums: Sums | None) -> "Summary":
        """Add a report."""
        return Summary(
            self.created,
            self.size + len(report.report),
            {**self.items, **report.answers, **self.answers},
            {number: text for number, text in self.waiting.items() if number != report.round},
            {**self.answered, report.round: (report.id, digest(report.report))},
            sums,
        )
