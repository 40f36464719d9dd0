"""What one request, and one token, may ask of the service."""

import asyncio
import hashlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TypeVar

from starlette.requests import Request

from midpoint.analyst.service.http.documents import JSON
from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.wire import Message, RefusedError
from midpoint.wire.canonical import encode

TOKEN = re.compile(r"Bearer ([0-9a-f]{64})", re.ASCII)
REMEMBERED = 100_000
"""Tokens whose rate is followed at a time; beyond them the longest quiet one is forgotten."""
LONG = 2**14
"""Bytes beyond which a body is read in a thread, so that others are served meanwhile."""
M = TypeVar("M", bound=Message)


def token_of(request: Request) -> bytes:
    """Return SHA-256 of the token that a device made for itself; more is never kept."""
    matched = TOKEN.fullmatch(request.headers.get("authorization", ""))
    if matched is None:
        raise DeclinedError(
            "token_needed", "send Authorization: Bearer and 64 hexadecimal digits, made at random"
        )
    return hashlib.sha256(bytes.fromhex(matched[1])).digest()


def numbers_of(request: Request, allowed: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """Read whole numbers from the query, each once and in its range; refuse anything else."""
    numbers: dict[str, int] = {}
    if not request.scope["query_string"]:
        return numbers
    for name, text in request.query_params.multi_items():
        if name not in allowed or name in numbers:
            raise DeclinedError("malformed", "the query has a parameter that is not known here")
        low, high = allowed[name]
        if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
            raise DeclinedError("malformed", f"{name} is a whole number from {low} to {high}")
        numbers[name] = int(text)
    return numbers


async def message_of(
    request: Request, kind: type[M], *, largest: int, patience: float, canonical: bool = False
) -> M:
    """Read a request's body as a message; refuse it with the reason, before reading too much.

    With `canonical` it is refused in another form than every device writes it: what is kept of a
    message then has no padding.
    """
    _require_plain(request)
    try:
        async with asyncio.timeout(patience):
            raw = await _body(request, largest)
    except TimeoutError as error:
        raise DeclinedError("malformed", "the body did not arrive in time") from error
    if len(raw) > LONG:
        return await asyncio.to_thread(_parsed, kind, raw, canonical=canonical)
    return _parsed(kind, raw, canonical=canonical)


def _parsed(kind: type[M], raw: bytes, *, canonical: bool) -> M:
    try:
        message = kind.parse(raw)
    except RefusedError as refused:
        raise DeclinedError("malformed", str(refused)) from refused
    if canonical and encode(json.loads(raw)) != raw:
        raise DeclinedError(
            "malformed",
            "the message is not in canonical form: sorted keys, no white space, plain UTF-8",
        )
    return message


def _require_plain(request: Request) -> None:
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != JSON:
        raise DeclinedError("media_type", f"send the message as {JSON}")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise DeclinedError("media_type", "send the message without content encoding")


async def _body(request: Request, largest: int) -> bytes:
    too_large = DeclinedError("too_large", f"a body has at most {largest} bytes")
    said = request.headers.get("content-length", "0")
    if not (said.isascii() and said.isdigit() and len(said) < 16) or int(said) > largest:
        raise too_large
    parts, size, more = [], 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise DeclinedError("malformed", "the body did not arrive")
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size > largest:
            raise too_large
        parts.append(part)
    return b"".join(parts)


class Rate:
    """How often each token may come: a bucket of `rate` requests that fills up in a minute."""

    def __init__(self, rate: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, token: bytes, times: int = 1, *, least: int = 1) -> None:
        """Let a request pass, or decline it and say when to come back.

        One that costs as much as many (`times`) passes if one would, and the token then waits for
        as long as after all of these. Of a request that was let pass, further costs are taken
        unless the bucket is overdrawn (`least` 0): who comes back in time would else be declined
        again, and again.
        """
        if self._rate == 0 or times == 0:
            return
        now, per_second = self._clock(), self._rate / 60
        left, at = self._buckets.pop(token, (float(self._rate), now))
        left = min(self._rate, left + (now - at) * per_second)
        passes = left >= least
        self._buckets[token] = (left - times if passes else left, now)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        if not passes:
            wait = 1 + int((1 - left) / per_second)
            raise DeclinedError(
                "too_many", f"a token may come {self._rate} times a minute", retry_after=wait
            )
