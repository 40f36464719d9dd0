"""What can be asked of the service, route by route."""

import time
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from midpoint.analyst.score.scorer import Wish
from midpoint.analyst.service.http.documents import Document, preferred, private
from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.service.http.static import INDEX, NOT_BUILT, Page
from midpoint.analyst.service.limits import Rate, message_of, numbers_of, token_of
from midpoint.analyst.service.metrics import Metrics
from midpoint.analyst.service.settings import Settings
from midpoint.analyst.service.state.acceptance import Accepted, Erase, KeepReport, OpenRound
from midpoint.analyst.service.state.group_commit import Committer, Groups, Readers
from midpoint.analyst.service.state.membership import Join, Leave
from midpoint.analyst.service.state.model import Model
from midpoint.analyst.service.state.publication import Current, Publication
from midpoint.analyst.service.state.scoring import Wanted
from midpoint.analyst.storage import History, Member, Storage, Summary, UnavailableError
from midpoint.errors import MidpointError
from midpoint.wire import Message, PanelMembership, PanelRatings, Report, SolicitationRequest
from midpoint.wire.canonical import encode

M = TypeVar("M", bound=Message)
SMALL = 1024
"""Bytes of a request for a solicitation, at most."""
PIECE = 2**16
"""Bytes of a token that are shown to it for one request; more of them count as several."""
MOST = 100_000
"""Items that a device may ask for, or have rated, in a private top-N."""
EVERYONE = {"Access_Control_Allow_Origin": "*", "Cross_Origin_Resource_Policy": "cross-origin"}
"""What is public and carries no token may be read by the page of another host: a witness."""


@dataclass(frozen=True)
class Service:
    """One worker's parts, and the handlers that use them."""

    settings: Settings
    publication: Publication
    storage: Storage
    committer: Committer
    scoring: Groups
    readers: Readers
    metrics: Metrics
    rate: Rate
    page: Page

    # What everyone may see.

    async def catalogue(self, request: Request) -> Response:
        """All items by title, with how often each was rated in training."""
        numbers_of(request, {})
        return (await self.publication.now()).catalogue.respond(request, **EVERYONE)

    async def titles(self, request: Request) -> Response:
        """All items by title, as an entry of the list names them: they never change."""
        numbers_of(request, {})
        digest = str(request.path_params["digest"])
        document = await self.publication.titles(digest)
        if document is None:
            raise DeclinedError("not_found", "no such titles were published here")
        return document.respond(request, **EVERYONE)

    async def disclosure(self, request: Request) -> Response:
        """The current disclosure, exactly as it was signed."""
        numbers_of(request, {})
        return (await self.publication.now()).disclosure.respond(request, **EVERYONE)

    async def older_disclosure(self, request: Request) -> Response:
        """A disclosure by its digest: it never changes."""
        numbers_of(request, {})
        document = await self.publication.disclosure(str(request.path_params["digest"]))
        if document is None:
            raise DeclinedError("not_found", "no such disclosure was published here")
        return document.respond(request, **EVERYONE)

    async def certificates(self, request: Request) -> Response:
        """What auditors signed about a disclosure."""
        numbers_of(request, {})
        digest = await self._published(request)
        try:
            kept = await self.readers.call(self.publication.site.certificates, digest)
        except MidpointError as error:
            raise UnavailableError(str(error)) from error
        return Document.of(kept.raw).respond(request, **EVERYONE)

    async def chain(self, request: Request) -> Response:
        """The whole list of disclosures, each entry signed and linked to the one before."""
        numbers_of(request, {})
        return (await self.publication.now()).chain.respond(request, **EVERYONE)

    async def head(self, request: Request) -> Response:
        """The newest entry of the list: what a witness shows."""
        numbers_of(request, {})
        return (await self.publication.now()).head.respond(request, **EVERYONE)

    # What one pseudonym may do.

    async def solicitation(self, request: Request) -> Response:
        """Items to answer, chosen by this pseudonym's answers and by nothing else."""
        numbers_of(request, {})
        token = self._token(request)
        asked = await self._message(request, SolicitationRequest, SMALL)
        model = await self._model(asked)
        summary = await self.readers.call(_summary, self.storage, token)
        after = -1 if asked.after is None else asked.after
        waiting = summary.unanswered(model.digest, after)
        if waiting:
            return private(waiting.solicitation, None)
        settings = self.settings
        items = await self.readers.call(model.ask, summary, settings.ask)
        only_asked = settings.only_asked or model.disclosure.sets is not None
        work = OpenRound(
            *(token, _now(), model.digest, tuple(items), only_asked, after),
            most=settings.kept,
        )
        return private(await self.committer.submit(work), None)

    async def report(self, request: Request) -> Response:
        """Keep a report for good; the same one again is the same."""
        numbers_of(request, {})
        token = self._token(request)
        report = await self._message(request, Report, self.settings.largest, canonical=True)
        current = await self.publication.knowing(report.disclosure)
        if report.disclosure not in current.superseded:
            raise DeclinedError("unknown_disclosure", "this disclosure was never published here")
        retired = self.publication.is_retired(report.disclosure)
        if not retired:  # else nothing new is taken, whatever it says
            await self._require_possible(report, current)
        work = KeepReport.of(
            *(token, report, _now()),
            retired=retired,
            sum_up=current.model.added,
            most=self.settings.kept,
        )
        kept: Accepted = await self.committer.submit(work)
        self.metrics.reports.labels("repeated" if kept.repeated else "new").inc()
        return private(kept.receipt, None, status=200 if kept.repeated else 201)

    async def scores(self, request: Request) -> Response:
        """Predicted ratings midway between the categories: of all items, or the private top-N."""
        wanted = numbers_of(request, {"top": (1, MOST), "margin": (0, MOST)})
        if "margin" in wanted and "top" not in wanted:
            raise DeclinedError("malformed", "a margin goes with a top")
        token = self._token(request)
        model = await self._scored_by(request)
        wish = Wish(wanted.get("top"), wanted.get("margin", 0))
        raw: bytes = await self.scoring.submit(Wanted(token, model, wish))
        encoding = preferred(request)
        if encoding is None:
            return private(raw, None)
        return await self.readers.call(private, raw, encoding)

    async def export(self, request: Request) -> Response:
        """Everything that is kept of this pseudonym."""
        numbers_of(request, {})
        token = self._token(request)
        summary = await self.readers.call(_summary, self.storage, token)
        self.rate.take(token, summary.size // PIECE, least=0)
        history = await self.readers.call(self.storage.history, token)
        if history is None:
            raise DeclinedError("not_found", "nothing is kept of this token")
        return await self.readers.call(_exported, history, preferred(request))

    async def erase(self, request: Request) -> Response:
        """Forget this pseudonym, wholly."""
        numbers_of(request, {})
        await self.committer.submit(Erase(self._token(request)))
        return _done()

    # What a member of the panel may do, under a pseudonym of its own.

    async def join(self, request: Request) -> Response:
        """Take somebody into the panel, who shares her category and her ratings as they are."""
        numbers_of(request, {})
        token = self._token(request)
        if not self.settings.panel:
            raise DeclinedError("panel_closed", "this service takes nobody into its panel now")
        shared = await self._message(request, PanelRatings, self.settings.largest, canonical=True)
        current = await self.publication.knowing(shared.disclosure)
        if shared.disclosure not in current.superseded:
            raise DeclinedError("unknown_disclosure", "this disclosure was never published here")
        model = await self.publication.model(shared.disclosure)
        if model is None:
            raise DeclinedError(
                "retired_disclosure", "this disclosure is retired; fetch the current one first"
            )
        await self.committer.submit(Join.of(token, shared, model.disclosure, _now()))
        return _done()

    async def membership(self, request: Request) -> Response:
        """Whether people may join the panel, and everything that this member of it shared."""
        numbers_of(request, {})
        token = self._token(request)
        member = await self.readers.call(self.storage.member, token)
        pieces = 0 if member is None else len(member.shared) // PIECE
        self.rate.take(token, pieces, least=0)
        kept = PanelMembership(open=self.settings.panel)
        return await self.readers.call(_membership, kept, member, preferred(request))

    async def leave(self, request: Request) -> Response:
        """Erase all that a member of the panel shared; also where nobody may join any more."""
        numbers_of(request, {})
        await self.committer.submit(Leave(self._token(request)))
        return _done()

    # For operators, and the page.

    async def live(self, _request: Request) -> Response:
        """Whether the process runs."""
        return private(encode({"status": "live"}), None)

    async def ready(self, _request: Request) -> Response:
        """Whether the database answers and the site can be read."""
        await self.publication.now()
        await self.readers.call(self.storage.check)
        if not self.publication.healthy:
            raise UnavailableError("the newest state of the site cannot be read")
        return private(encode({"status": "ready"}), None)

    async def figures(self, _request: Request) -> Response:
        """Figures for Prometheus."""
        shown = await self.readers.call(self.metrics.shown)
        return Response(shown, headers={"Content-Type": self.metrics.media})

    async def index(self, request: Request) -> Response:
        """The page."""
        return self._file(request, INDEX)

    async def asset(self, request: Request) -> Response:
        """A file of the page."""
        return self._file(request, f"assets/{request.path_params['name']}")

    async def assets(self, request: Request) -> Response:
        """The list of the page's files, with their digests."""
        return self.page.listed.respond(request, **EVERYONE)

    async def witnesses(self, request: Request) -> Response:
        """The witnesses that the page may ask, as the operator of the service names them."""
        named = {"version": 1, "witnesses": list(self.settings.witnesses)}
        return Document.of(encode(named)).respond(request)

    def _file(self, request: Request, name: str) -> Response:
        document = self.page.file(name)
        if document is None:
            absent = NOT_BUILT if self.page.file(INDEX) is None else "there is no such file"
            raise DeclinedError("not_found", absent)
        return document.respond(request)

    def _token(self, request: Request) -> bytes:
        token = token_of(request)
        self.rate.take(token)
        return token

    async def _message(
        self, request: Request, kind: type[M], largest: int, *, canonical: bool = False
    ) -> M:
        return await message_of(
            *(request, kind),
            largest=largest,
            patience=self.settings.patience,
            canonical=canonical,
        )

    async def _require_possible(self, report: Report, current: Current) -> None:
        """Decline what no device answers under the disclosure of a report."""
        possible = current.possible
        if report.disclosure != current.digest:
            possible = await self.publication.rules(report.disclosure)
        try:
            possible.require(report)
        except MidpointError as error:
            raise DeclinedError("malformed", f"the report is refused: {error}") from error

    async def _model(self, asked: SolicitationRequest) -> Model:
        """Return the current model, or the one that a device answers under until a day is over."""
        current = (await self.publication.now()).model
        if asked.disclosure == current.digest:
            return current
        kept = None
        if asked.superseded:
            kept = await self.publication.model(asked.disclosure)
        if kept is None:
            raise DeclinedError(
                "not_current", "this is not the current disclosure; fetch it and check it first"
            )
        return kept

    async def _scored_by(self, request: Request) -> Model:
        digest = request.path_params.get("digest")
        if digest is None:
            return (await self.publication.now()).model
        kept = await self.publication.model(str(digest))
        if kept is None:
            raise DeclinedError("not_current", "nothing is scored under this disclosure any more")
        return kept

    async def _published(self, request: Request) -> str:
        digest = str(request.path_params["digest"])
        if digest not in (await self.publication.now()).superseded:
            raise DeclinedError("not_found", "no such disclosure was published here")
        return digest


def _done() -> Response:
    return Response(status_code=204, headers={"Cache-Control": "no-store"})


def _now() -> int:
    return int(time.time())


def _summary(storage: Storage, token: bytes) -> Summary:
    """Return what is kept; of somebody new, nothing."""
    return storage.summaries([token]).get(token) or Summary(_now())


def _membership(kept: PanelMembership, member: Member | None, encoding: str | None) -> Response:
    if member is not None:
        shared = {"joined": member.joined, "shared": member.shared.decode()}
        kept = kept.model_copy(update=shared)
    return private(kept.raw, encoding)


def _exported(history: History, encoding: str | None) -> Response:
    """Write all of it, report by report: one call for everything would hold up all threads."""
    reports = [
        encode(
            {
                "id": kept.id,
                "received": kept.received,
                "report": kept.report.decode(),
                "round": kept.round,
            }
        )
        for kept in history.reports
    ]
    rounds = [
        encode(
            {
                "disclosure": kept.disclosure,
                "number": kept.number,
                "opened": kept.opened,
                "solicitation": kept.solicitation.decode(),
            }
        )
        for kept in history.rounds
    ]
    parts = history.created, b",".join(reports), b",".join(rounds)
    return private(b'{"created":%d,"reports":[%b],"rounds":[%b],"version":1}' % parts, encoding)
