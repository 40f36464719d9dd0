"""Download a file: resumed where it broke off, checked, and kept only when it is whole."""

import hashlib
import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from midpoint.errors import MidpointError

CHUNK = 1 << 16
Progress = Callable[[int, int | None], None]
"""Called with the bytes that are there so far and their total number, where that is known."""
Checksum = tuple[Literal["md5", "sha256"], str]
"""The kind of a checksum and its hexadecimal digits."""


def fetch(
    url: str,
    target: Path,
    *,
    checksum: Checksum | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> None:
    """Download into `target`, by way of `target.part`, which a later call goes on from.

    A broken connection is taken up again as long as each attempt brings something.
    """
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
    except OSError as error:
        raise MidpointError(
            f"{target.parent} cannot be written ({error}); check its permissions"
        ) from error
    while True:
        before = part.stat().st_size
        try:
            _go_on(url, part, progress, timeout)
            break
        except urllib.error.HTTPError as error:
            raise MidpointError(
                f"{url}: the server answers {error.code} {error.reason}; try later, or see whether"
                " the file has moved"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            size = part.stat().st_size
            if size <= before:
                raise MidpointError(
                    f"{url} cannot be downloaded ({_reason(error)}); check the network and run it"
                    f" again{f' to go on from the {size} bytes that are here' if size else ''}"
                ) from error
    _require_checksum(part, url, checksum)
    part.replace(target)


def fetch_text(url: str, *, timeout: float = 30.0) -> str | None:
    """Return a small text file, or None where there is none at that address."""
    try:
        with urllib.request.urlopen(_request(url), timeout=timeout) as answer:  # noqa: S310
            return str(answer.read(CHUNK).decode("utf-8", errors="replace"))
    except urllib.error.HTTPError as error:
        error.close()
        return None
    except (OSError, http.client.HTTPException) as error:
        raise MidpointError(
            f"{url} cannot be reached ({_reason(error)}); check the network"
        ) from error


def md5_in(text: str) -> Checksum | None:
    """Find the MD5 in a checksum file, whichever way round it is written."""
    digits = re.search(r"\b[0-9a-fA-F]{32}\b", text)
    return ("md5", digits.group().lower()) if digits else None


def digest_of(path: Path, kind: Literal["md5", "sha256"]) -> str:
    """Compute the checksum of a file; MD5 is what some publishers offer against damage."""
    total = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            total.update(chunk)
    return total.hexdigest()


def _go_on(url: str, part: Path, progress: Progress | None, timeout: float) -> None:
    """Download what is missing of a file, all of it if the server cannot serve a rest."""
    start = part.stat().st_size
    try:
        answer = urllib.request.urlopen(_request(url, start), timeout=timeout)  # noqa: S310
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not start:
            raise
        if error.headers.get("Content-Range", "").endswith(f"/{start}"):
            return
        os.truncate(part, 0)
        answer = urllib.request.urlopen(_request(url), timeout=timeout)  # noqa: S310
    with answer:
        served_from = answer.headers.get("Content-Range", "")
        goes_on = answer.status == http.HTTPStatus.PARTIAL_CONTENT and served_from.startswith(
            f"bytes {start}-"
        )
        done = start if goes_on else 0
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length else None
        with part.open("ab" if goes_on else "wb") as stream:
            while chunk := answer.read(CHUNK):
                stream.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(done, total)
            stream.flush()
            os.fsync(stream.fileno())
    if total is not None and done < total:
        raise ConnectionError(f"the connection closed after {done} of {total} bytes")


def _request(url: str, start: int = 0) -> urllib.request.Request:
    if not url.startswith(("https://", "http://")):
        raise MidpointError(f"{url} is no web address")
    headers = {"User-Agent": "midpoint"} | ({"Range": f"bytes={start}-"} if start else {})
    return urllib.request.Request(url, headers=headers)  # noqa: S310


def _require_checksum(part: Path, url: str, checksum: Checksum | None) -> None:
    if checksum is None:
        return
    kind, expected = checksum
    arrived = digest_of(part, kind)
    if arrived != expected:
        part.unlink()
        raise MidpointError(
            f"{url}: the {kind} of what arrived is {arrived}, not {expected}; it was damaged on the"
            " way and is removed: run it again"
        )


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return str(reason) or type(error).__name__
