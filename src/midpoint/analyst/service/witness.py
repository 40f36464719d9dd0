"""A witness over HTTP: it looks at a service's list now and then, and shows what it signed.

It keeps what entries name as well, and shows that: an entry that is shown to all while its
disclosure is shown to one person only would be seen by nobody.
"""

import asyncio
import logging
import re
import socket
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from midpoint.analyst.disclose.witness import CATALOGUES, DISCLOSURES, WitnessFiles
from midpoint.analyst.service import logs
from midpoint.analyst.service.http.documents import JSON, NO_STORE, Document, private
from midpoint.analyst.service.server import Address, configured
from midpoint.errors import MidpointError
from midpoint.wire import Chain, Entry, Message, Problem, WitnessStatement
from midpoint.wire.canonical import LARGEST_MESSAGE, encode
from midpoint.wire.exchange import HEADERS, LARGEST_LIST, read_answer

PATIENCE = 30.0
"""Seconds for one look at the list, and for each of what it names."""
MOST_FETCHED = 32
"""Disclosures and titles that are fetched in one look, at most, the newest first."""
DIGEST = re.compile("[0-9a-f]{64}")
EVERYONE = {"Access_Control_Allow_Origin": "*", "Cross_Origin_Resource_Policy": "cross-origin"}
log = logging.getLogger("midpoint.service")


@dataclass
class Witness:
    """Follows the list of one service, and answers those who ask."""

    service: str
    """Address of the service."""
    files: WitnessFiles
    """What is kept."""
    every: float = 600.0
    """Seconds between two looks."""
    clock: Callable[[], float] = time.time
    """The time."""
    problem: str | None = field(default="the list was not looked at yet", init=False)
    """Why the last look came to nothing, or that there was none; None if it went well."""
    _made: dict[str, Document] = field(default_factory=dict, init=False)
    _making: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def look(self) -> WitnessStatement:
        """Fetch the list once, keep it and sign; or say why not."""
        try:
            raw = await _fetched(f"{self.service}/v1/chain", LARGEST_LIST)
            chain = await asyncio.to_thread(Chain.parse, raw)
            await self._keep_named(chain)
            now = int(self.clock())
            statement = await asyncio.to_thread(self.files.see, chain, now, self.every)
        except (MidpointError, httpx.HTTPError, zlib.error, OSError, TimeoutError) as error:
            self.problem = str(error) or type(error).__name__
            log.warning("witness", extra={"figures": {"error": self.problem}})
            raise MidpointError(f"{self.service}: {self.problem}") from error
        finally:
            self._made = {}
        self.problem = None
        return statement

    async def _keep_named(self, chain: Chain) -> None:
        """Fetch and keep what new entries name; of those already replaced, what is still shown."""
        newest = chain.entries[-1].open(Entry)
        wanted = await asyncio.to_thread(self.files.wanted, chain)
        for kind, name in wanted[:MOST_FETCHED]:
            try:
                raw = await _fetched(f"{self.service}/v1/{kind}/{name}", LARGEST_MESSAGE)
                self.files.keep(kind, name, raw)
            except (MidpointError, httpx.HTTPError, zlib.error, TimeoutError):
                if name in (newest.disclosure, newest.catalogue):
                    raise

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            with suppress(MidpointError):  # it is in the log, and /health/ready says it
                await self.look()
            await asyncio.sleep(self.every)

    def app(self) -> Starlette:
        """Return what serves the statement and all that was kept."""

        @asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncIterator[None]:
            watching = asyncio.create_task(self.watch())
            try:
                yield
            finally:
                watching.cancel()

        routes: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "/v1/witness": self._statement,
            "/v1/chain": self._chain,
            "/v1/disclosures/{digest}": partial(self._document, DISCLOSURES),
            "/v1/catalogues/{digest}": partial(self._document, CATALOGUES),
            "/v1/forks": self._forks,
            "/health/live": self._live,
            "/health/ready": self._ready,
        }
        return Starlette(
            routes=[Route(path, handler) for path, handler in routes.items()], lifespan=lifespan
        )

    async def _statement(self, request: Request) -> Response:
        """What was signed when the list was last seen."""
        return await self._shown(request, "statement", lambda: _raw(self.files.statement))

    async def _chain(self, request: Request) -> Response:
        """Every signed entry that was seen."""
        return await self._shown(request, "chain", lambda: _raw(self.files.chain))

    async def _forks(self, request: Request) -> Response:
        """Signed entries that contradict those: none, if the service is honest."""
        return await self._shown(request, "forks", self._contradicting)

    def _contradicting(self) -> bytes:
        forks = [{"body": s.body, "signature": s.signature} for s in self.files.forks]
        return encode({"entries": forks, "version": 1})

    async def _shown(
        self, request: Request, name: str, read: Callable[[], bytes | None]
    ) -> Response:
        """Show what is read and compressed once after each look, however many ask for it."""
        made = self._made
        async with self._making:
            if name not in made:
                raw = await asyncio.to_thread(read)
                if raw is None:
                    return _absent()
                made[name] = await asyncio.to_thread(Document.of, raw)
        return made[name].respond(request, **EVERYONE)

    async def _document(self, kind: str, request: Request) -> Response:
        """A disclosure, or titles, that an entry names: the exact bytes, by their digest."""
        name = request.path_params["digest"]
        path = self.files.document(kind, name)
        if not DIGEST.fullmatch(name) or not path.exists():
            return _absent()
        headers = {
            "Cache-Control": NO_STORE,
            **{k.replace("_", "-"): v for k, v in EVERYONE.items()},
        }
        return FileResponse(path, headers=headers, media_type=JSON)

    async def _live(self, _request: Request) -> Response:
        return private(encode({"status": "live"}), None)

    async def _ready(self, _request: Request) -> Response:
        """Whether there was a look since the start, and the last one went well."""
        if self.problem is None:
            return private(encode({"status": "ready"}), None)
        problem = Problem(code="unavailable", message=self.problem.replace("\n", " ")[:2000])
        return private(problem.raw, None, status=503)


def run_witness(witness: Witness, address: Address, opened: socket.socket) -> None:
    """Watch and serve until SIGTERM or SIGINT."""
    logs.set_up()
    uvicorn.Server(configured(witness.app(), address)).run([opened])


def _raw(kept: Message | None) -> bytes | None:
    return None if kept is None else kept.raw


def _absent() -> Response:
    problem = Problem(code="not_found", message="the list was not seen yet; come back later")
    return private(problem.raw, None, status=404)


async def _fetched(url: str, largest: int) -> bytes:
    async with (
        asyncio.timeout(PATIENCE),
        httpx.AsyncClient(headers=HEADERS, trust_env=False, timeout=PATIENCE) as client,
        client.stream("GET", url) as response,
    ):
        if response.status_code != httpx.codes.OK:
            raise MidpointError(f"{httpx.URL(url).path} answers {response.status_code}")
        coding = response.headers.get("Content-Encoding")
        return await read_answer(response.aiter_raw(), coding, largest)
