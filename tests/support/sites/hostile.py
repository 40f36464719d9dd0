"""Requests that no device sends, made by damaging one that it does."""

import json
import random
import secrets
from collections.abc import Callable, Iterator
from typing import Any

from midpoint.wire import Report

Request = dict[str, Any]
Damage = Callable[[dict[str, Any], random.Random], Any]
NUMBERS: tuple[Any, ...] = (
    0.5,
    -0.0,
    1e400,
    float("nan"),
    2**53,
    -(2**63),
    2**200,
    True,
    None,
    "1",
    [],
    {},
)
TEXTS = ("", "\x00", "a" * 300, "\u202e", "e\u0301", "'; DROP TABLE report; --", "../../key.pem")


def _field(content: dict[str, Any], draw: random.Random) -> Any:
    """Replace a field by something else."""
    name = draw.choice(["id", "disclosure", "round", "answers", "version"])
    content[name] = draw.choice([*NUMBERS[:-3], "x", {"a": 1}, [[1, 2]], [["a"]], [["a", 1, 2]]])
    if content[name] is True and name in ("version", "round"):
        content[name] = -1
    return content


def _unknown(content: dict[str, Any], draw: random.Random) -> Any:
    """Add a field that could say more."""
    return {**content, draw.choice(["gender", "category", "ip", "__class__", ""]): "F"}


def _missing(content: dict[str, Any], draw: random.Random) -> Any:
    content.pop(draw.choice(sorted(content)))
    return content


def _answer(content: dict[str, Any], draw: random.Random) -> Any:
    """Damage one answer: its item, or its value."""
    answers = content["answers"] or [["x", 1]]
    answer = draw.choice(answers)
    if draw.random() < 0.5:
        answer[0] = draw.choice(TEXTS)
    else:
        answer[1] = draw.choice([*NUMBERS, 1, -5, 10**9])
    content["answers"] = answers
    return content


def _order(content: dict[str, Any], draw: random.Random) -> Any:
    """Repeat an answer, so that they do not ascend."""
    answers = content["answers"] or [["x", 1]]
    return {**content, "answers": [*answers, draw.choice(answers)]}


def _many(content: dict[str, Any], draw: random.Random) -> Any:
    """Answer about items that there are not, a great many."""
    made = [[f"zz-{n:05d}", 65536] for n in range(draw.randint(1, 3000))]
    return {**content, "answers": made}


def _nested(_: dict[str, Any], draw: random.Random) -> Any:
    deep: Any = 1
    for _level in range(draw.randint(10, 400)):
        deep = [deep]
    return {"answers": deep}


DAMAGES: dict[str, Damage] = {
    "field": _field,
    "unknown": _unknown,
    "missing": _missing,
    "answer": _answer,
    "order": _order,
    "many": _many,
    "nested": _nested,
}


def _bytes(raw: bytes, draw: random.Random) -> bytes:
    """Damage the text itself, so that it is no JSON any more."""
    at = draw.randrange(len(raw))
    kinds = (
        raw[:at],
        raw + b"x",
        b"\xff" + raw,
        b"[" * draw.randint(1, 5000),
        raw.replace(b"{", b'{"version":1,', 1),
        secrets.token_bytes(draw.randint(0, 200)),
    )
    return draw.choice(kinds)


def hostile(good: Report, token: str, *, count: int, seed: int) -> Iterator[tuple[str, Request]]:
    """Yield so many requests, each named by what is wrong with it."""
    draw = random.Random(seed)  # noqa: S311 - the same ones each time
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for _ in range(count):
        request: Request = {"method": "POST", "url": "/v1/reports", "headers": dict(headers)}
        name = draw.choice([*DAMAGES, "bytes", "token", "media", "query", "path", "method"])
        content = good.raw
        if name in DAMAGES:
            content = json.dumps(DAMAGES[name](json.loads(good.raw), draw)).encode()
        elif name == "bytes":
            content = _bytes(good.raw, draw)
        elif name == "token":
            wrong = draw.choice(["", "Bearer x", "Bearer" + "0" * 64])
            request["headers"]["Authorization"] = wrong
        elif name == "media":
            request["headers"]["Content-Type"] = draw.choice(["text/plain", "application/xml", ""])
        elif name == "query":
            request["url"] += draw.choice(["?gender=F", "?x", "?%00=1", "?top=1"])
        elif name == "path":
            request["url"] = draw.choice(["/v1", "/v1/reports/", "/v1/disclosures/%2e%2e", "/%00"])
        else:
            request["method"] = draw.choice(["PUT", "PATCH", "GET"])
        yield name, {**request, "content": content}
