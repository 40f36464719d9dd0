"""The interface as OpenAPI describes it: one row for each route."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from midpoint.analyst.service.http.documents import JSON
from midpoint.analyst.service.http.problems import STATUS
from midpoint.analyst.service.http.routes import MOST, Service
from midpoint.wire import (
    Catalogue,
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
    Solicitation,
    SolicitationRequest,
)

Handler = Callable[[Request], Awaitable[Response]]
Object = dict[str, Any]
Responses = dict[int | str, Object]
TOKEN: Object = {
    "name": "Authorization",
    "in": "header",
    "required": True,
    "description": "Bearer and 32 random bytes, made by the device, in hexadecimal.",
    "schema": {"type": "string", "pattern": "^Bearer [0-9a-f]{64}$"},
}
DIGEST: Object = {
    "name": "digest",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}


@dataclass(frozen=True)
class Route:
    """One route, and what is said of it."""

    method: str
    """GET, POST or DELETE."""
    path: str
    """Its template."""
    handler: Handler
    """What answers it."""
    answer: type[Message] | None = None
    """The message that it answers with."""
    body: type[Message] | None = None
    """The message that it takes."""
    parameters: tuple[Object, ...] = ()
    """Parameters, as OpenAPI has them."""
    declines: tuple[str, ...] = ()
    """Codes with which it may decline."""
    status: int = 200
    """Status when it is done."""
    shown: bool = True
    """Whether it is part of the interface."""
    also: Responses = field(default_factory=dict)
    """Further responses."""

    @property
    def extra(self) -> Object:
        """What OpenAPI says beside the responses."""
        said: Object = {"parameters": list(self.parameters)} if self.parameters else {}
        if self.body is not None:
            said["requestBody"] = {"required": True, "content": _content(self.body)}
        return said

    @property
    def responses(self) -> Responses:
        """What it may answer."""
        done: Object = {"description": "Done."}
        if self.answer is not None:
            done["content"] = _content(self.answer)
        codes: dict[int, list[str]] = {}
        for code in self.declines:
            codes.setdefault(STATUS[code], []).append(code)
        declined: Responses = {
            status: {"description": ", ".join(names), "content": _content(Problem)}
            for status, names in codes.items()
        }
        return {self.status: done} | self.also | declined


def _content(kind: type[Message]) -> Object:
    return {JSON: {"schema": kind.model_json_schema()}}


def _number(name: str, low: int) -> Object:
    return {
        "name": name,
        "in": "query",
        "required": False,
        "schema": {"type": "integer", "minimum": low, "maximum": MOST},
    }


def described(service: Service) -> Iterator[Route]:
    """Yield all routes."""
    yield from _personal(service)  # the first is found first
    yield from _public(service)
    for path, handler in (
        ("/health/live", service.live),
        ("/health/ready", service.ready),
        ("/metrics", service.figures),
        ("/", service.index),
        ("/assets/{name:path}", service.asset),
        ("/assets.json", service.assets),
        ("/witnesses.json", service.witnesses),
    ):
        yield Route("GET", path, handler, shown=False)


def _public(service: Service) -> Iterator[Route]:
    unchanged: Responses = {304: {"description": "Not changed since the given ETag."}}
    declines, by_digest = ("malformed", "unavailable"), "/v1/disclosures/{digest}"
    shown: list[tuple[str, Handler, type[Message]]] = [
        ("/v1/catalogue", service.catalogue, Catalogue),
        ("/v1/disclosure", service.disclosure, Disclosure),
        ("/v1/chain", service.chain, Chain),
        ("/v1/chain/head", service.head, Signed),
    ]
    named: list[tuple[str, Handler, type[Message]]] = [
        (by_digest, service.older_disclosure, Disclosure),
        (f"{by_digest}/certificates", service.certificates, Certificates),
        ("/v1/catalogues/{digest}", service.titles, Catalogue),
    ]
    for path, handler, answer in shown:
        yield Route("GET", path, handler, answer, declines=declines, also=unchanged)
    for path, handler, answer in named:
        yield Route(
            *("GET", path, handler, answer),
            parameters=(DIGEST,),
            declines=(*declines, "not_found"),
            also=unchanged,
        )


def _personal(service: Service) -> Iterator[Route]:
    common = ("malformed", "token_needed", "too_many", "unavailable")
    sent = (*common, "too_large", "media_type")
    conflicts = (
        *("round_unknown", "report_changed", "unknown_disclosure", "retired_disclosure"),
        "space_used_up",
    )
    yield Route(
        *("POST", "/v1/reports", service.report, Receipt, Report),
        parameters=(TOKEN,),
        declines=(*sent, *conflicts),
        status=201,
        also={200: {"description": "It was kept already.", "content": _content(Receipt)}},
    )
    yield Route(
        *("POST", "/v1/solicitation", service.solicitation, Solicitation, SolicitationRequest),
        parameters=(TOKEN,),
        declines=(*sent, "not_current", "rounds_used_up", "space_used_up"),
    )
    numbers = (TOKEN, _number("top", 1), _number("margin", 0))
    yield Route("GET", "/v1/scores", service.scores, Scores, parameters=numbers, declines=common)
    yield Route(
        *("GET", "/v1/scores/{digest}", service.scores, Scores),
        parameters=(*numbers, DIGEST),
        declines=(*common, "not_current"),
    )
    export = (*common, "not_found")
    yield Route("GET", "/v1/pseudonym", service.export, parameters=(TOKEN,), declines=export)
    yield Route(
        *("DELETE", "/v1/pseudonym", service.erase),
        parameters=(TOKEN,),
        declines=common,
        status=204,
    )
    yield Route(
        *("POST", "/v1/panel", service.join, None, PanelRatings),
        parameters=(TOKEN,),
        declines=(*sent, "unknown_disclosure", "panel_closed"),
        status=204,
    )
    yield Route(
        *("GET", "/v1/panel", service.membership, PanelMembership),
        parameters=(TOKEN,),
        declines=common,
    )
    yield Route(
        *("DELETE", "/v1/panel", service.leave),
        parameters=(TOKEN,),
        declines=common,
        status=204,
    )
