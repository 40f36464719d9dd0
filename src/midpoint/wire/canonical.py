"""Bytes on the wire: canonical JSON out, strict JSON in, SHA-256 over exactly what was sent."""

import hashlib
import json
from typing import Any

from midpoint.wire.refusal import Refusal, RefusedError

LARGEST = 2**53 - 1
"""Integers beyond this are not exact in every language, so they are refused."""
_SAFE_DIGITS = 15
"""So few digits are never beyond `LARGEST`."""
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")
LARGEST_MESSAGE = 2**26
"""Longer messages, in bytes, are refused unread: 64 MB hold half a million items."""


def encode(content: Any) -> bytes:
    """Return the canonical form: sorted keys, no spaces, UTF-8."""
    text = json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def digest(raw: bytes) -> str:
    """Return the SHA-256 of these bytes in hexadecimal."""
    return hashlib.sha256(raw).hexdigest()


def require_strict(raw: bytes) -> None:
    """Refuse what two readers may understand differently: doubled keys, numbers not exact."""
    if len(raw) > LARGEST_MESSAGE:
        raise RefusedError(
            Refusal.TOO_LONG, f"{len(raw)} bytes are more than the {LARGEST_MESSAGE} of a message"
        )
    try:
        json.loads(
            raw.decode("utf-8", errors="strict"),
            object_pairs_hook=_without_doubles,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
            parse_int=_exact if _has_long_number(raw) else int,
        )
    except RefusedError:
        raise
    except (ValueError, RecursionError) as error:
        raise RefusedError(
            Refusal.NOT_JSON, f"this is not JSON in UTF-8 ({error}); ask for the message again"
        ) from error


def _has_long_number(raw: bytes) -> bool:
    """Return whether a message may hold an integer to look at: one call for each is slow."""
    return b"0" * (_SAFE_DIGITS + 1) in raw.translate(_DIGITS_ALIKE)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise RefusedError(
                Refusal.DUPLICATE_KEY, f"the key {key[:40]!r} appears twice in one object"
            )
        content[key] = value
    return content


def _refuse_number(text: str) -> None:
    raise RefusedError(
        Refusal.NOT_AN_INTEGER, f"the number {text[:40]} is not written as an integer"
    )


def _exact(text: str) -> int:
    if len(text) > 17 or abs(number := int(text)) > LARGEST:
        raise RefusedError(
            Refusal.INTEGER_TOO_LARGE, f"the integer {text[:40]} is beyond 2^53 and not exact"
        )
    return number
