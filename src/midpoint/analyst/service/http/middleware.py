"""Around every request: security headers, one line in the log, figures, and no stray error.

A declined request is answered after half a second, which no honest client notices. A connection
that sends one bad request after the other gets two answers a second, while others are served.
However many wait, none is answered sooner: they are bounded by the connections that a worker takes
(`http_limits`), and by how many requests it can decline in half a second.
"""

import asyncio
import logging
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.service.logs import Requests
from midpoint.analyst.service.metrics import Metrics

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

Header = tuple[bytes, bytes]
log = logging.getLogger("midpoint.service")
DELAY = 0.5
"""Seconds after which a declined request is answered."""
BAD_REQUEST, FAILED = 400, 500
BROKEN = DeclinedError("failed", "the service failed at this; its log says where")


class Middleware:
    """The outermost layer. It knows routes by their template, so that no value is written down."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        headers: list[Header],
        requests: Requests | None,
        *,
        delay: float = DELAY,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._headers = headers
        self._requests = requests
        self._delay = delay
        self._counted: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            if self._requests is not None:
                self._requests.write()  # it was the lifespan, which ends last
            return
        start, status = perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal start, status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *self._headers]
                if self._delay and BAD_REQUEST <= status < FAILED:
                    await asyncio.sleep(self._delay)
                    start += self._delay
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception:
            log.exception("failed", extra={"figures": {"route": route_of(scope)}})
            if status == 0:
                await _say_broken(answer)
        finally:
            self._note(scope, status, perf_counter() - start)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        key = route_of(scope), method_of(scope), status
        if key not in self._counted:
            counter = self._metrics.requests.labels(key[0], key[1], str(status))
            self._counted[key] = counter, self._metrics.seconds.labels(key[0])
        counter, histogram = self._counted[key]
        counter.inc()
        histogram.observe(seconds)
        if self._requests is not None:
            self._requests.add(key[1], key[0], status, seconds)


def route_of(scope: Scope) -> str:
    """Return the template of the route, not the path, which may hold anything."""
    return str(getattr(scope.get("route"), "path", "none"))


def method_of(scope: Scope) -> str:
    """Return the method, if it is one of those there are."""
    method = str(scope["method"])
    return method if method in {"GET", "POST", "DELETE", "PUT", "PATCH", "HEAD"} else "other"


async def _say_broken(send: Send) -> None:
    body = BROKEN.problem.raw
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": BROKEN.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
