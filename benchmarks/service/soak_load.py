"""The load of `service_soak.py`: honest people, bad requests, and costly ones that are valid.

A costly one is all that a token may do, at its largest: reports of every item, round after round,
all scores, private top-Ns, questions, exports, joining the panel with every item, and erasing it
all. New tokens are free, so each goes on as long as it is worth it, and then another begins.
"""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

import httpx

from midpoint.analyst.disclose.site import Site
from midpoint.wire import Entry, PanelRatings, Report, Solicitation, SolicitationRequest
from tests.support.sites.crowd import Crowd
from tests.support.sites.hostile import Request, hostile
from tests.support.sites.serving import JSON

PAUSE = 0.2
"""Seconds after which somebody who was not served tries again."""
BAD, COSTLY = 32, 16
"""Connections of each kind of hostile requests."""
OK = 200
ROUNDS = 3
"""Rounds that a costly token answers before it erases itself."""


@dataclass
class Tally:
    """What was seen of one kind of requests."""

    seconds: list[float] = field(default_factory=list)
    """Of each success, from the first try to it."""
    statuses: Counter[int] = field(default_factory=Counter)
    """Of every try; 0 where no answer came."""


@dataclass(frozen=True)
class Largest:
    """The largest messages that a device may send to a site."""

    question: bytes
    """Asks to be asked."""
    report: Report
    """Answers everything."""
    panel: bytes
    """Joins the panel with a rating of everything."""

    @classmethod
    def of(cls, site: Site) -> "Largest":
        """Write them under the current disclosure."""
        chain = site.chain()
        if chain is None:
            raise RuntimeError("nothing was published")
        digest = chain.entries[-1].open(Entry).disclosure
        disclosure = site.disclosure(digest)
        answers = tuple((item, disclosure.scale.high) for item in disclosure.items)
        category = tuple((f.name, f.categories[0]) for f in disclosure.features)
        return cls(
            SolicitationRequest(disclosure=digest).raw,
            Report(id="0" * 32, disclosure=digest, round=0, answers=answers),
            PanelRatings(disclosure=digest, category=category, ratings=answers).raw,
        )

    def answer(self, number: int) -> bytes:
        """Return a report of this round under a name of its own."""
        named = self.report.raw.replace(self.report.id.encode(), secrets.token_hex(16).encode())
        return named.replace(b'"round":0', b'"round":%d' % number)


class Pace:
    """Lets so many requests a second go; what was missed is not made up for."""

    def __init__(self, rate: float) -> None:
        self._gap = 1 / rate
        self._due = time.monotonic()

    async def turn(self) -> None:
        """Wait until the next one may go."""
        due = max(self._due, time.monotonic())
        self._due = due + self._gap
        await asyncio.sleep(due - time.monotonic())


def client(url: str) -> httpx.AsyncClient:
    """Connect as devices do: each request on a connection of its own."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncClient(base_url=url, timeout=30, limits=limits, trust_env=False)


async def visit(
    way: httpx.AsyncClient,
    crowd: Crowd,
    token: str,
    tally: Tally,
    clock: Callable[[], float] = time.perf_counter,
) -> None:
    """Report until it is acknowledged, then ask for scores until they come."""
    headers = {**JSON, "Authorization": f"Bearer {token}"}
    wanted: tuple[Request, ...] = (
        {"method": "POST", "url": "/v1/reports", "content": crowd.reports[token]},
        {"method": "GET", "url": "/v1/scores"},
    )
    for request in wanted:
        start = clock()
        while (answer := await _tried(way, {**request, "headers": headers}, tally)) is None:
            await asyncio.sleep(PAUSE)
        tally.seconds.append(clock() - start)
        if request["method"] == "POST":
            crowd.receipts.setdefault(token, set()).add(answer)


async def _tried(way: httpx.AsyncClient, request: Request, tally: Tally) -> bytes | None:
    """Return what a good answer holds; None if there was no good one."""
    try:
        answer = await way.request(**request)
    except httpx.TransportError:
        tally.statuses[0] += 1
        return None
    tally.statuses[answer.status_code] += 1
    return answer.content if answer.is_success else None


async def come(url: str, crowd: Crowd, seconds: float, tally: Tally) -> None:
    """Let a crowd come evenly over a time, each when it is her turn, however others fare."""
    start, gap = time.monotonic(), seconds / len(crowd.reports)

    async def person(number: int, token: str) -> None:
        await asyncio.sleep(start + number * gap - time.monotonic())
        await visit(way, crowd, token, tally)

    async with client(url) as way:
        await asyncio.gather(*(person(n, token) for n, token in enumerate(crowd.reports)))


async def most_visits(url: str, crowd: Crowd, seconds: float, at_once: int = 16) -> float:
    """Return how many visits a second are answered when many come one after the other."""
    tokens, tally, start = iter(list(crowd.reports)), Tally(), time.monotonic()

    async def one_after_another() -> None:
        for token in tokens:
            if time.monotonic() > start + seconds:
                return
            await visit(way, crowd, token, tally)

    async with client(url) as way:
        await asyncio.gather(*(one_after_another() for _ in range(at_once)))
    return len(tally.seconds) / 2 / (time.monotonic() - start)


def storm(
    url: str, largest: Largest, seconds: float, rate: float, *, bad: bool = True, seed: int = 0
) -> tuple[Counter[str], Counter[int]]:
    """Send costly requests at a rate, and bad ones as fast as they are answered.

    Returns how often each kind of costly request got which status, and the statuses of bad ones.
    """
    end, pace = time.monotonic() + seconds, Pace(rate)
    costly, declined = Counter[str](), Counter[int]()
    small = largest.report.model_copy(update={"answers": largest.report.answers[:9]})
    requests = hostile(small, "", count=10**9, seed=seed)

    async def all_at_once() -> None:
        async with client(url) as way:
            works = [_abuse(way, largest, pace, costly, end) for _ in range(COSTLY)]
            if bad:
                works += [_pester(way, requests, declined, end) for _ in range(BAD)]
            await asyncio.gather(*works)

    asyncio.run(all_at_once())
    return costly, declined


async def _pester(
    way: httpx.AsyncClient,
    requests: Iterator[tuple[str, Request]],
    statuses: Counter[int],
    end: float,
) -> None:
    """Send one bad request after the other, each with a new token."""
    while time.monotonic() < end:
        _, request = next(requests)
        if request["headers"]["Authorization"] == "Bearer ":
            request["headers"]["Authorization"] += secrets.token_hex(32)
        try:
            statuses[(await way.request(**request)).status_code] += 1
        except httpx.TransportError:
            statuses[0] += 1
            await asyncio.sleep(PAUSE)


async def _abuse(
    way: httpx.AsyncClient, largest: Largest, pace: Pace, seen: Counter[str], end: float
) -> None:
    """Send all that is costly and valid, with one new token after the other."""
    while True:
        life, number = _life(largest), None
        try:
            while True:
                name, request = life.send(number)
                await pace.turn()
                if time.monotonic() > end:
                    return
                status, raw = await _answered(way, request)
                seen[f"{name} {status}"] += 1
                asked = name == "question" and status == OK
                number = Solicitation.parse(raw).round if asked else None
        except StopIteration:
            continue


def _life(largest: Largest) -> Generator[tuple[str, Request], int | None]:
    """Yield what a token and its member of the panel do; a question gets the round's number."""
    own, member = (
        {**JSON, "Accept-Encoding": "gzip", "Authorization": f"Bearer {secrets.token_hex(32)}"}
        for _ in range(2)
    )

    def request(
        method: str, url: str, content: bytes = b"", headers: dict[str, str] = own
    ) -> Request:
        return {"method": method, "url": url, "headers": headers, "content": content}

    for _ in range(ROUNDS):
        number = yield "question", request("POST", "/v1/solicitation", largest.question)
        if number is not None:
            yield "report", request("POST", "/v1/reports", largest.answer(number))
        yield "scores", request("GET", "/v1/scores")
        yield "top", request("GET", "/v1/scores?top=100000&margin=100000")
    yield "export", request("GET", "/v1/pseudonym")
    yield "join", request("POST", "/v1/panel", largest.panel, member)
    yield "member", request("GET", "/v1/panel", headers=member)
    yield "leave", request("DELETE", "/v1/panel", headers=member)
    yield "erase", request("DELETE", "/v1/pseudonym")


async def _answered(way: httpx.AsyncClient, request: Request) -> tuple[int, bytes]:
    """Send a request; return status and answer, which is nothing with status 0 if none came."""
    try:
        answer = await way.request(**request)
    except httpx.TransportError:
        await asyncio.sleep(PAUSE)
        return 0, b""
    return answer.status_code, answer.content
