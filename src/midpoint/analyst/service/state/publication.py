"""What a site shows now; a switch to another model is seen by the very next request."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from midpoint.analyst.disclose.site import Site
from midpoint.analyst.score.report_rules import ReportRules
from midpoint.analyst.score.scorer import ALL
from midpoint.analyst.service.http.documents import Document
from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.service.state.model import Model
from midpoint.analyst.storage import Summary
from midpoint.errors import MidpointError
from midpoint.wire import Entry

KEPT = 8
"""Superseded disclosures, and titles, that are kept ready."""
MODELS = 2
"""Superseded models that are kept ready, for devices that wait for their witness."""
LOOK = 1.0
"""Seconds for which what was read last is good enough for a report."""
AGAIN = 5.0
"""Seconds until a site that could not be read is tried again."""
log = logging.getLogger("midpoint.service")
T = TypeVar("T")


@dataclass(frozen=True)
class Current:
    """One state of a site, whole: a request works with one of them."""

    model: Model
    """The current model."""
    chain: Document
    """The whole list."""
    head: Document
    """Its newest entry."""
    disclosure: Document
    """The current disclosure, exactly as signed."""
    catalogue: Document
    """All items by title, exactly as the newest entry of the list names them."""
    catalogues: dict[str, int | None]
    """When all titles that the list names stopped being current; None for those that are."""
    superseded: dict[str, int | None]
    """When each published disclosure stopped being current; None for the one that is."""
    possible: ReportRules
    """What may be answered under the current disclosure."""

    @property
    def digest(self) -> str:
        """Digest of the current disclosure."""
        return self.model.digest

    @cached_property
    def titles(self) -> str:
        """Digest of the current titles."""
        return next(digest for digest, ended in self.catalogues.items() if ended is None)


class Publication:
    """Follows a site: `now` looks at the list's file, and reads again what changed."""

    def __init__(self, site: Site, ask: int, grace: int) -> None:
        self.site = site
        self._ask = ask
        self._grace = grace
        self._seen: object = None
        self._current: Current | None = None
        self._loading = asyncio.Lock()
        self._failed_at: float | None = None
        self._looked = 0.0
        self._reading = asyncio.Lock()
        self._older: OrderedDict[str, tuple[Document, ReportRules]] = OrderedDict()
        self._titles: OrderedDict[str, Document] = OrderedDict()
        self._models: OrderedDict[str, Model] = OrderedDict()

    @property
    def healthy(self) -> bool:
        """Whether the newest state of the site could be read."""
        return self._current is not None and self._failed_at is None

    async def open(self) -> None:
        """Read the site for the first time; raise if it cannot be read."""
        self._seen = _state(self.site.list)
        self._current = await asyncio.to_thread(load, self.site, self._ask)

    @property
    def latest(self) -> Current | None:
        """What was read last, without a look at the disk."""
        return self._current

    async def knowing(self, disclosure: str) -> Current:
        """Return a state of the site in which a disclosure was published, if there is one."""
        latest, moment = self._current, time.monotonic()
        if latest is None or disclosure not in latest.superseded or moment > self._looked + LOOK:
            self._looked = moment
            latest = await self.now()
        return latest

    async def now(self) -> Current:
        """Return what is shown now; nothing is dropped while another model is read."""
        if _state(self.site.list) != self._seen and self._may_try():
            async with self._loading:
                await self._reload()
        if self._current is None:
            raise DeclinedError("unavailable", "the site is not read yet", retry_after=1)
        return self._current

    async def rules(self, digest: str) -> ReportRules:
        """Return what may be answered under a published disclosure, current or not."""
        return (await self._published(digest))[1]

    async def disclosure(self, digest: str) -> Document | None:
        """Return a disclosure, current or not; None if it was never published."""
        current = await self.now()
        if digest not in current.superseded:
            return None
        if self._is_retired(current.superseded[digest]):
            return await self._as_it_is("disclosures", digest)
        return (await self._published(digest))[0]

    async def _published(self, digest: str) -> tuple[Document, ReportRules]:
        current = await self.now()
        if digest == current.digest:
            return current.disclosure, current.possible
        return await self._kept(self._older, digest, _older)

    async def titles(self, digest: str) -> Document | None:
        """Return titles that the list names, now or before; None if it never did."""
        current = await self.now()
        if digest == current.titles:
            return current.catalogue
        if digest not in current.catalogues:
            return None
        if self._is_retired(current.catalogues[digest]):
            return await self._as_it_is("catalogues", digest)
        return await self._kept(self._titles, digest, _titles)

    async def model(self, digest: str) -> Model | None:
        """Return the model of a published disclosure; None once rounds under it are not taken."""
        current = await self.now()
        if digest == current.digest:
            return current.model
        if digest not in current.superseded or self._is_retired(current.superseded[digest]):
            return None
        return await self._kept(self._models, digest, _model, most=MODELS)

    def is_retired(self, disclosure: str) -> bool:
        """Tell whether rounds under a published disclosure are no longer taken."""
        return self._current is None or self._is_retired(self._current.superseded[disclosure])

    def _is_retired(self, ended: int | None) -> bool:
        return ended is not None and time.time() > ended + self._grace

    async def _as_it_is(self, kind: str, digest: str) -> Document:
        """Return what no device needs any more: it is not looked into, compressed or kept ready.

        Else somebody who asks for many of them would hold up all who wait for newer ones.
        """
        return Document.as_it_is(
            await self._read(lambda site, name: site.document(kind, name), digest)
        )

    async def _kept(
        self,
        ready: OrderedDict[str, T],
        digest: str,
        read: Callable[[Site, str], T],
        *,
        most: int = KEPT,
    ) -> T:
        """Return what is ready, or read it: one at a time, however many ask."""
        if digest not in ready:
            async with self._reading:
                if digest not in ready:
                    _keep(ready, digest, await self._read(read, digest), most)
        ready.move_to_end(digest)
        return ready[digest]

    def _hand_down(self, former: Current, now: Current) -> None:
        """Keep what was current ready: for a day, devices that have a witness go on under it."""
        if former.titles != now.titles:
            _keep(self._titles, former.titles, former.catalogue, KEPT)
        if former.digest != now.digest:
            _keep(self._older, former.digest, (former.disclosure, former.possible), KEPT)
            _keep(self._models, former.digest, former.model, MODELS)

    async def _read(self, read: Callable[[Site, str], T], digest: str) -> T:
        try:
            return await asyncio.to_thread(read, self.site, digest)
        except MidpointError as error:
            log.warning("site", extra={"figures": {"error": str(error)}})
            raise DeclinedError("unavailable", "this cannot be read", retry_after=60) from error

    def _may_try(self) -> bool:
        return self._failed_at is None or time.monotonic() - self._failed_at > AGAIN

    async def _reload(self) -> None:
        state = _state(self.site.list)
        if state == self._seen:
            return  # another request was here first
        former = self._current
        try:
            self._current = await asyncio.to_thread(load, self.site, self._ask)
        except Exception as error:  # noqa: BLE001 - whatever it is, the old state is still served
            self._failed_at = time.monotonic()
            reason = str(error) or type(error).__name__
            log.warning("site", extra={"figures": {"error": reason}})
            return
        self._seen, self._failed_at = state, None
        if former is not None:
            self._hand_down(former, self._current)
        log.info("site", extra={"figures": {"disclosure": self._current.digest}})


def _keep(ready: OrderedDict[str, T], digest: str, made: T, most: int) -> None:
    """Keep what was made ready, and so many of its kind: those that were asked for last."""
    ready[digest] = made
    ready.move_to_end(digest)
    while len(ready) > most:
        ready.popitem(last=False)


def load(site: Site, ask: int) -> Current:
    """Read a site as it is now, and make everything ready that many requests will want."""
    chain = site.chain()
    if chain is None:
        raise MidpointError(
            f"{site.root} shows nothing yet; run: midpoint publish MODEL {site.root}"
        )
    entries = [signed.open(Entry) for signed in chain.entries]
    newest = entries[-1]
    if newest.catalogue is None:
        raise MidpointError(
            f"{site.list} names no titles, which devices ask for; run: midpoint publish MODEL"
            f" {site.root}"
        )
    disclosure = site.disclosure(newest.disclosure)
    model = Model(site.profiles(newest.disclosure), disclosure)
    item = disclosure.items[0]
    for items in ({}, {item: disclosure.scale.low}):  # compiled now, not while somebody waits
        model.ask(Summary(0, items=items), ask)
    model.scores(model.estimates([model.nothing]), [ALL])
    return Current(
        model=model,
        chain=Document.of(chain.raw),
        head=Document.of(chain.entries[-1].raw),
        disclosure=Document.of(disclosure.raw, thorough=True),
        catalogue=Document.of(site.catalogue(newest.catalogue).raw),
        catalogues=_ended((e.catalogue, e.time) for e in entries if e.catalogue),
        superseded=_ended((e.disclosure, e.time) for e in entries),
        possible=ReportRules(disclosure),
    )


def _ended(named: Iterable[tuple[str, int]]) -> dict[str, int | None]:
    """Return when each of what entries name stopped being current; None for the last one."""
    ended: dict[str, int | None] = {}
    for (name, _), (_, following) in pairwise(entries := [*named]):
        ended[name] = following
    ended[entries[-1][0]] = None
    return ended


def _older(site: Site, digest: str) -> tuple[Document, ReportRules]:
    disclosure = site.disclosure(digest)
    return Document.of(disclosure.raw, thorough=True), ReportRules(disclosure)


def _model(site: Site, digest: str) -> Model:
    return Model(site.profiles(digest), site.disclosure(digest))


def _titles(site: Site, digest: str) -> Document:
    return Document.of(site.catalogue(digest).raw)


def _state(path: Path) -> object:
    """Return what changes when a file is replaced."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
