"""Requests that write, made up for tests of the storage."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from midpoint.analyst.storage import Decision, KeptReport, KeptRound, Summary, Sums

Choice = Callable[[Summary | None], Decision]


def person(name: object) -> bytes:
    """Return the digest of somebody's token."""
    return hashlib.sha256(str(name).encode()).digest()


def asked(number: int, *items: str) -> KeptRound:
    """Make a question."""
    said = {"disclosure": "d" * 64, "items": items, "open": True, "é": "exact\\u0000 bytes"}
    return KeptRound(number, "d" * 64, json.dumps(said).encode(), 100 + number)


def said(number: int, **answers: int) -> KeptReport:
    """Make a report."""
    body = json.dumps({"answers": [*answers.items()]}).encode()
    return KeptReport(number, f"{number:032x}", body, 200 + number)


@dataclass(frozen=True)
class Made:
    """A request that decides as a test says."""

    token: bytes
    choice: Choice
    begins: int | None = None

    def decide(self, summary: Summary | None) -> Decision:
        return self.choice(summary)


def opens(token: bytes, kept: KeptRound, reply: object = "opened") -> Made:
    return Made(token, lambda _: Decision(reply, round=kept), begins=7)


def keeps(token: bytes, kept: KeptReport) -> Made:
    """Keep a report if its round has none, and say which of the two happened."""

    def choose(summary: Summary | None) -> Decision:
        if summary is None:
            raise LookupError("nobody")
        if kept.round in summary.answered:
            return Decision("there")
        sums = Sums("m" * 64, b"%d answers" % len(summary.answers | kept.answers))
        return Decision("kept", report=kept, sums=sums)

    return Made(token, choose)


def erases(token: bytes) -> Made:
    return Made(token, lambda _: Decision("gone", erase=True))
