"""Responses: exact bytes, compressed as the client likes, and not sent again when unchanged.

No cache keeps what the protocol says, public or not: what a browser keeps outlives *forget me*.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass

import brotli  # type: ignore[import-untyped]
from starlette.requests import Request
from starlette.responses import Response

from midpoint.wire import digest

JSON = "application/json"
IMMUTABLE = "public, max-age=31536000, immutable"
NO_STORE = "no-store"
WORTH_IT = 1024
"""Bytes below which a body is sent as it is."""
SOON_DONE = 2**22
"""Bytes up to which the best compression takes seconds, not minutes: 1.5 for a million."""


@dataclass(frozen=True)
class Document:
    """A public body, compressed once for everyone."""

    raw: bytes
    """The exact bytes."""
    media: str
    """Its media type."""
    cache: str
    """What caches may do with it."""
    encoded: Mapping[str, bytes]
    """The same bytes by content encoding."""
    etag: str
    """The digest of the bytes, in quotes."""

    @classmethod
    def of(
        cls, raw: bytes, *, media: str = JSON, cache: str = NO_STORE, thorough: bool = False
    ) -> "Document":
        """Compress a body, as well as can be done in a moment, or in some seconds."""
        encoded, quality = {}, 11 if thorough and len(raw) <= SOON_DONE else 9
        if len(raw) >= WORTH_IT:
            encoded = {"br": brotli.compress(raw, quality=quality), "gzip": gzip.compress(raw, 9)}
        return cls(raw, media, cache, encoded, f'"{digest(raw)}"')

    @classmethod
    def as_it_is(cls, raw: bytes) -> "Document":
        """Take a body that hardly anybody asks for: to compress it would cost more than to send."""
        return cls(raw, JSON, NO_STORE, {}, f'"{digest(raw)}"')

    def respond(self, request: Request, **headers: str) -> Response:
        """Answer a request, with no body if the client has it already."""
        shared = {
            "Cache-Control": self.cache,
            "ETag": self.etag,
            "Vary": "Accept-Encoding",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        if _has(request, self.etag):
            return Response(status_code=304, headers=shared)
        encoding = preferred(request) if self.encoded else None
        if encoding is None:
            return Response(self.raw, media_type=self.media, headers=shared)
        shared["Content-Encoding"] = encoding
        return Response(self.encoded[encoding], media_type=self.media, headers=shared)


def private(body: bytes, encoding: str | None, *, status: int = 200) -> Response:
    """Answer one person: no cache keeps it."""
    headers = {"Cache-Control": NO_STORE}
    if encoding is not None and len(body) >= WORTH_IT:
        headers["Content-Encoding"] = encoding
        headers["Vary"] = "Accept-Encoding"
        body = brotli.compress(body, quality=3) if encoding == "br" else gzip.compress(body, 2)
    return Response(body, status, headers, media_type=JSON)


def preferred(request: Request) -> str | None:
    """Return the content encoding that a client takes and we like best."""
    taken = {}
    for part in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, parameter = part.strip().partition(";")
        taken[name.strip()] = parameter.replace(" ", "").rstrip("0") not in ("q=", "q=0.", "q=.")
    return next((name for name in ("br", "gzip") if taken.get(name)), None)


def _has(request: Request, etag: str) -> bool:
    held = request.headers.get("if-none-match", "")
    return etag in [tag.strip().removeprefix("W/") for tag in held.split(",")]
