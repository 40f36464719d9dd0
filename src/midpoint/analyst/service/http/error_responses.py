"""How the service declines: in one form, whatever the reason."""

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from midpoint.analyst.service.http.documents import private
from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.service.metrics import Metrics
from midpoint.analyst.storage import UnavailableError

PLAIN = {404: ("not_found", "there is nothing here"), 405: ("method", "not by this method")}
AWAY = "the service cannot keep or read this now; nothing is lost, try again"
COME_BACK = 2
"""Seconds after which a client that was sent away may come back."""
log = logging.getLogger("midpoint.service")


class ErrorResponses:
    """Turns what a handler raised into a response, and counts it."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def on_error(self, _request: Request, error: Exception) -> Response:
        """Say why; raise what is nobody's fault but ours."""
        return self.respond(error)

    def respond(self, error: Exception) -> Response:
        """Make the response."""
        declined = _declined(error)
        self._metrics.declined.labels(declined.code).inc()
        response = private(declined.problem.raw, None, status=declined.status)
        if declined.retry_after is not None:
            response.headers["Retry-After"] = str(declined.retry_after)
        if declined.code == "token_needed":
            response.headers["WWW-Authenticate"] = "Bearer"
        if isinstance(error, HTTPException):
            response.headers.update(error.headers or {})
        return response


def _declined(error: Exception) -> DeclinedError:
    if isinstance(error, DeclinedError):
        return error
    if isinstance(error, UnavailableError):
        log.warning("unavailable", extra={"figures": {"error": str(error)[:300]}})
        return DeclinedError("unavailable", AWAY, retry_after=COME_BACK)
    if isinstance(error, HTTPException):
        return DeclinedError(*PLAIN.get(error.status_code, ("malformed", "not understood")))
    raise error
