"""The only door of the device: one bounded request at a time, the same headers for everyone.

Every request has a connection of its own, so that none is tied to another by the connection. No
redirect is followed, no cookie kept, no proxy or password read from the environment. An answer is
read up to a size, counted after decompression, and up to a time, counted over all of it.
"""

import asyncio
import ssl
import time
import zlib
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from random import SystemRandom

import httpx

from midpoint.errors import MidpointError
from midpoint.wire import Problem, RefusedError
from midpoint.wire.exchange import HEADERS, UnusableError, read_answer

BUSY = frozenset({429, 502, 503, 504})
"""Answers that mean: the same again, later."""


class AwayError(MidpointError):
    """The service did not answer, or not now; nothing is lost, and the same may be asked again."""


class ServiceError(MidpointError):
    """The service said no, with a code that programs may rely on."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(code, sentence)
        self.code = code
        self.sentence = sentence

    def __str__(self) -> str:
        return f"the service says: {self.sentence} [{self.code}]"


@dataclass(frozen=True)
class Patience:
    """How long to wait for an answer."""

    attempt: float = 30.0
    """Seconds for one try, from its first byte out to its last byte in."""
    total: float = 90.0
    """Seconds for all tries and the waiting between them."""
    tries: int = 5
    """How often the same bytes are sent, at most."""
    first_wait: float = 0.5
    """Seconds before the second try; twice as long before each further one, less some jitter."""
    pace: float = 1.0
    """A report leaves a whole multiple of so many seconds after its question came: how long a
    device computed depends on what was rated and withheld. 0 for at once."""


@dataclass(frozen=True)
class Request:
    """One request, the same bytes however often it is tried."""

    method: str
    """GET, POST or DELETE."""
    url: str
    """The whole address."""
    largest: int
    """Most bytes that the answer may have."""
    body: bytes | None = field(default=None, repr=False)
    """What is sent."""
    token: str | None = field(default=None, repr=False)
    """The pseudonym; None for what is public."""


@dataclass(frozen=True)
class Answer:
    """What came back, whole."""

    status: int
    """The HTTP status."""
    body: bytes
    """The content, decompressed."""
    wait: float
    """Seconds that the service asks to wait, or 0."""


class Channel:
    """Sends requests and reads answers, with patience and limits."""

    def __init__(
        self,
        patience: Patience | None = None,
        *,
        tls: ssl.SSLContext | None = None,
        proxy: str | None = None,
    ) -> None:
        self._patience = patience or Patience()
        self._tls = tls or _authorities()
        self._proxy = None if proxy is None else _proxy(proxy)
        self._random = SystemRandom()

    async def keep_pace(self, since: float) -> None:
        """Wait until a whole multiple of the pace has passed since a moment of `time.monotonic`."""
        await asyncio.sleep(until_pace(time.monotonic() - since, self._patience.pace))

    async def ask(self, request: Request) -> bytes:
        """Return the content of a good answer, trying the same bytes again while that may help."""
        end = time.monotonic() + self._patience.total
        for tried in range(1, self._patience.tries + 1):
            wait = self._patience.first_wait * 2 ** (tried - 1) * self._random.uniform(0.5, 1.0)
            try:
                answer = await self._within(request, end)
                if answer.status not in BUSY:
                    return _content(answer)
                wait, why = max(wait, answer.wait), f"it is busy ({answer.status})"
            except (httpx.HTTPError, zlib.error, TimeoutError, OSError) as error:
                why = str(error) or type(error).__name__
            if tried == self._patience.tries or time.monotonic() + wait >= end:
                break
            await asyncio.sleep(wait)
        raise AwayError(
            f"{httpx.URL(request.url).host} does not answer: {why}; nothing is lost, try again"
            f" in {max(wait, 1):.0f} seconds or later"
        )

    async def _within(self, request: Request, end: float) -> Answer:
        allowed = min(self._patience.attempt, end - time.monotonic())
        try:
            async with asyncio.timeout(allowed):
                return await self._once(request)
        except TimeoutError:
            raise TimeoutError(f"no whole answer within {allowed:.0f} seconds") from None

    async def _once(self, request: Request) -> Answer:
        headers = {} if request.body is None else {"Content-Type": "application/json"}
        if request.token is not None:
            headers["Authorization"] = f"Bearer {request.token}"
        async with (
            httpx.AsyncClient(
                headers=HEADERS,
                verify=self._tls,
                proxy=self._proxy,
                trust_env=False,
                timeout=self._patience.attempt,
            ) as client,
            client.stream(
                request.method, request.url, content=request.body, headers=headers
            ) as response,
        ):
            coding = response.headers.get("Content-Encoding")
            body = await read_answer(response.aiter_raw(), coding, request.largest)
        return Answer(response.status_code, body, _seconds(response.headers.get("Retry-After")))


def until_pace(elapsed: float, pace: float) -> float:
    """Return the seconds that are missing to a whole multiple of the pace."""
    return -elapsed % pace if pace > 0 else 0.0


def _proxy(url: str) -> httpx.Proxy:
    try:
        made = httpx.Proxy(url)
    except (ValueError, httpx.InvalidURL) as error:
        raise MidpointError(f"{url!r} is no proxy ({error}); write http://host:port") from error
    if made.url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise MidpointError("a SOCKS proxy needs socksio; install it with: pip install socksio")
    return made


@cache
def _authorities() -> ssl.SSLContext:
    """Read whom the web trusts, once; certificates and names are verified."""
    return httpx.create_ssl_context(trust_env=False)


def _seconds(text: str | None) -> float:
    plain = text is not None and text.isascii() and text.isdigit() and len(text) < 7
    return float(text) if text and plain else 0.0


def _content(answer: Answer) -> bytes:
    """Return the content of a good answer; raise what a bad one says."""
    if 200 <= answer.status < 300:
        return answer.body
    if answer.status < 400:
        raise UnusableError(
            f"the service points elsewhere ({answer.status}), which is not followed"
        )
    try:
        problem = Problem.parse(answer.body)
    except RefusedError:
        raise UnusableError(f"the service answers {answer.status} without a reason") from None
    raise ServiceError(problem.code, problem.message)
