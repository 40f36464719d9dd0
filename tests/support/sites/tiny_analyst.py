"""A small honest analyst over real HTTP, all in memory: enough of the interface for an agent."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from midpoint.wire import (
    ONE,
    Certificates,
    Chain,
    Disclosure,
    Message,
    PanelMembership,
    PanelRatings,
    Problem,
    Receipt,
    Report,
    Scores,
    Signed,
    SigningKey,
    Solicitation,
    SolicitationRequest,
)
from tests.support.people.made_up import ANALYST, disclosure, entries, sealed, titles_of
from tests.support.sites.upstream import Upstream

ASKED = 4
"""Items asked about in a round."""


class Account:
    """What is kept about one pseudonym."""

    def __init__(self) -> None:
        self.rounds: list[Solicitation] = []
        self.reports: dict[int, Report] = {}

    @property
    def seen(self) -> set[str]:
        asked = {item for one in self.rounds for item in one.items}
        return asked | {item for one in self.reports.values() for item, _ in one.answers}


class TinyAnalyst:
    """Publishes disclosures, asks about the next items, keeps reports, scores."""

    def __init__(self, shown: Disclosure | None = None, key: SigningKey = ANALYST) -> None:
        self.key = key
        self.disclosures = [shown or disclosure("dmpss")]
        self.certificates: list[Signed] = []
        self.accounts: dict[str, Account] = {}
        self.members: dict[str, bytes] = {}
        self.takes_members = True
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def current(self) -> Disclosure:
        return self.disclosures[-1]

    @property
    def chain(self) -> Chain:
        made = entries(self.disclosures, self.key, titled=True)
        return Chain(entries=tuple(sealed(made, self.key)))

    @property
    def upstream(self) -> Upstream:
        return Upstream(self.port, self.key, self.current, self.chain.entries)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def public(self, path: str) -> Message:
        match path.removeprefix("/v1/").split("/"):
            case ["chain"]:
                return self.chain
            case ["chain", "head"]:
                return self.chain.entries[-1]
            case ["catalogues", digest]:
                return next(t for t in map(titles_of, self.disclosures) if t.digest == digest)
            case ["disclosures", digest]:
                return next(one for one in self.disclosures if one.digest == digest)
            case ["disclosures", _, "certificates"]:
                return Certificates(certificates=tuple(self.certificates))
        return Problem(code="not_found", message="there is nothing of this name")

    def solicit(self, account: Account, ask: SolicitationRequest) -> Message:
        if ask.disclosure != self.current.digest:
            return Problem(code="not_current", message="there is a newer disclosure")
        after = -1 if ask.after is None else ask.after
        number = 1 + max(after, *(one.round for one in account.rounds), -1)
        unanswered = [one for one in account.rounds if one.round not in account.reports]
        if unanswered and unanswered[-1].disclosure == self.current.digest:
            return unanswered[-1]
        fresh = [item for item in self.current.items if item not in account.seen][:ASKED]
        asked = Solicitation(disclosure=ask.disclosure, round=number, items=tuple(fresh), open=True)
        account.rounds.append(asked)
        return asked

    def keep(self, account: Account, report: Report) -> Message:
        if report.round not in {one.round for one in account.rounds}:
            return Problem(code="round_unknown", message="this round was never asked")
        if account.reports.setdefault(report.round, report) != report:
            return Problem(code="report_changed", message="this round was answered otherwise")
        answered = {item for one in account.reports.values() for item, _ in one.answers}
        return Receipt(report=report.digest, answers=len(answered))

    def score(self) -> Scores:
        items = self.current.items
        score = tuple(3 * ONE + 100 * index for index in range(len(items)))
        return Scores(
            disclosure=self.current.digest, items=items, score=score, deviation=(ONE,) * len(items)
        )


def _handler(analyst: TinyAnalyst) -> type[BaseHTTPRequestHandler]:  # noqa: C901
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

        def do_GET(self) -> None:
            if "Authorization" not in self.headers:
                self.tell(analyst.public(self.path))
            elif self.path.startswith("/v1/scores"):
                self.tell(analyst.score())
            elif self.path == "/v1/panel":
                self.show_member()
            else:
                reports = self.account.reports.items()
                kept = [{"report": r.raw.decode(), "round": number} for number, r in reports]
                self.send(200, json.dumps({"version": 1, "reports": kept}).encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/solicitation":
                self.tell(analyst.solicit(self.account, SolicitationRequest.parse(body)))
            elif self.path == "/v1/panel" and not analyst.takes_members:
                self.tell(Problem(code="panel_closed", message="nobody may join"))
            elif self.path == "/v1/panel":
                analyst.members[self.headers["Authorization"]] = PanelRatings.parse(body).raw
                self.send(204, b"")
            else:
                self.tell(analyst.keep(self.account, Report.parse(body)))

        def do_DELETE(self) -> None:
            kept = analyst.members if self.path == "/v1/panel" else analyst.accounts
            kept.pop(self.headers["Authorization"], None)
            self.send(204, b"")

        def show_member(self) -> None:
            shared = analyst.members.get(self.headers["Authorization"])
            kept = PanelMembership(open=analyst.takes_members)
            if shared is not None:
                kept = PanelMembership(open=True, joined=1_700_000_000, shared=shared.decode())
            self.tell(kept)

        @property
        def account(self) -> Account:
            return analyst.accounts.setdefault(self.headers["Authorization"], Account())

        def tell(self, message: Message) -> None:
            status = 409 if isinstance(message, Problem) else 200
            self.send(status, message.raw)

        def send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
