"""What many requests decide, as rows that one transaction writes."""

from typing import Any

from midpoint.analyst.storage.records import Decision, KeptReport, KeptRound, Member, Work
from midpoint.analyst.storage.summary import Summary

Reply = Any
Row = dict[str, Any]


class Batch:
    """What a transaction will write; each request sees what those before it decided."""

    def __init__(self, known: dict[bytes, Summary]) -> None:
        self._known = known
        self.rounds: dict[tuple[bytes, int], Row] = {}
        self.reports: dict[tuple[bytes, int], Row] = {}
        self.changed: dict[bytes, Summary] = {}
        self.erased: set[bytes] = set()
        self.joined: dict[bytes, Row] = {}
        self.left: set[bytes] = set()

    def take(self, work: Work) -> Reply | Exception:
        """Let a request decide; if it declines, or fails, that is its reply and nothing is kept."""
        summary = self._known.get(work.token)
        try:
            decision = work.decide(summary)
        except Exception as error:  # noqa: BLE001 - a failing request must not fail its neighbours
            return error
        self._add(work.token, decision, len(summary.answered) if summary else 0)
        if summary is None and work.begins is not None:
            summary = Summary(work.begins)  # she was erased in this transaction, and is back
        after = None if summary is None else summary.after(decision)
        if after is None:
            self._known.pop(work.token, None)
            self.changed.pop(work.token, None)
        elif after is not summary:
            self._known[work.token] = self.changed[work.token] = after
        return decision.reply

    def _add(self, token: bytes, decision: Decision, number: int) -> None:
        if decision.erase:
            self.erased.add(token)
            self.rounds = {key: row for key, row in self.rounds.items() if key[0] != token}
            self.reports = {key: row for key, row in self.reports.items() if key[0] != token}
        if decision.round:
            self.rounds[token, decision.round.number] = _round_row(token, decision.round)
        if decision.report:
            self.reports[token, number] = _report_row(token, number, decision.report)
        if decision.leave:
            self.left.add(token)
            self.joined.pop(token, None)
        if decision.join:
            first = self.joined.get(token, {"joined": decision.join.joined})["joined"]
            self.joined[token] = {**_member_row(token, decision.join), "joined": first}


def _round_row(token: bytes, kept: KeptRound) -> Row:
    return {
        "token": token,
        "number": kept.number,
        "disclosure": kept.disclosure,
        "solicitation": kept.solicitation,
        "opened": kept.opened,
    }


def _member_row(token: bytes, member: Member) -> Row:
    return {
        "token": token,
        "joined": member.joined,
        "disclosure": member.disclosure,
        "shared": member.shared,
    }


def _report_row(token: bytes, number: int, kept: KeptReport) -> Row:
    return {
        "token": token,
        "number": number,
        "round": kept.round,
        "id": kept.id,
        "report": kept.report,
        "received": kept.received,
    }
