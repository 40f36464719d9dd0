"""The vectors of messages that are refused, or taken, when they are read."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from midpoint.wire import (
    ONE,
    Catalogue,
    Certificates,
    Chain,
    Message,
    Problem,
    Receipt,
    Refusal,
    Report,
    SolicitationRequest,
    Wording,
)
from tests.support.people.made_up import (
    disclosure,
    entries,
    sealed,
    solicitation,
)
from tests.support.vectors.parts import (
    Case,
    text,
)
from tests.support.vectors.priors import bad_priors


def bad_texts() -> Iterator[Case]:
    """Messages that are refused when they are read."""
    shown = disclosure("dmpss", n_items=2)
    good = text(shown)
    report = text(Report(id="0" * 32, disclosure="0" * 64, round=1, answers=(("a", ONE),)))
    offset = json.dumps(disclosure("mpr", n_items=2).offset, separators=(",", ":"))
    rows: list[tuple[str, str, str, Refusal]] = [
        ("not JSON", "disclosure", good[:-1], Refusal.NOT_JSON),
        ("trailing text", "disclosure", good + "x", Refusal.NOT_JSON),
        ("lone surrogate", "report", report.replace('"a"', '"\\ud800"'), Refusal.NOT_JSON),
        ("duplicate key", "disclosure", _swap(good, "{", '{"version":1,'), Refusal.DUPLICATE_KEY),
        ("float", "disclosure", _swap(good, "65536", "65536.0"), Refusal.NOT_AN_INTEGER),
        ("exponent", "disclosure", _swap(good, "65536", "65536e0"), Refusal.NOT_AN_INTEGER),
        ("NaN", "disclosure", _swap(good, "65536", "NaN"), Refusal.NOT_AN_INTEGER),
        ("Infinity", "disclosure", _swap(good, "65536", "-Infinity"), Refusal.NOT_AN_INTEGER),
        ("bool", "disclosure", _swap(good, "65536", "true"), Refusal.NOT_AN_INTEGER),
        ("text for a number", "disclosure", _swap(good, "65536", '"1"'), Refusal.NOT_AN_INTEGER),
        ("too large", "disclosure", _swap(good, "65536", str(2**53)), Refusal.INTEGER_TOO_LARGE),
        ("unknown field", "disclosure", _swap(good, "{", '{"extra":1,'), Refusal.UNKNOWN_FIELD),
        ("private field", "report", _swap(report, "{", '{"gender":"F",'), Refusal.UNKNOWN_FIELD),
        ("no version", "report", report.replace(',"version":1', ""), Refusal.MISSING_FIELD),
        ("no items", "disclosure", _without(good, "items"), Refusal.MISSING_FIELD),
        ("version 2", "disclosure", good.replace('"version":1', '"version":2'),
         Refusal.UNKNOWN_VERSION),
        ("unknown scheme", "disclosure", good.replace("dmpss", "magic"), Refusal.UNKNOWN_SCHEME),
        ("column missing", "disclosure", _without(good, "reveal"), Refusal.WRONG_COLUMNS),
        ("column too many", "disclosure", _swap(good, "{", f'{{"offset":{offset},'),
         Refusal.WRONG_COLUMNS),
        ("columns of another scheme", "disclosure", good.replace("dmpss", "mpssr"),
         Refusal.WRONG_COLUMNS),
        ("item twice", "disclosure", good.replace("item-01", "item-00"), Refusal.WRONG_SHAPE),
        ("category twice", "disclosure", good.replace('"F"', '"M"'), Refusal.WRONG_SHAPE),
        ("row too short", "disclosure", _swap(good, "65536,", ""), Refusal.WRONG_SHAPE),
        ("answers not sorted", "report", report.replace('["a",65536]', '["b",1],["a",1]'),
         Refusal.WRONG_SHAPE),
        ("outer space", "report", report.replace('"a"', '"a "'), Refusal.BAD_NAME),
        ("no-break space", "report", report.replace('"a"', '"a\u00a0b"'), Refusal.BAD_NAME),
        ("line separator", "report", report.replace('"a"', '"a\u2028b"'), Refusal.BAD_NAME),
        ("control character", "report", report.replace('"a"', '"a\\u0000"'), Refusal.BAD_NAME),
        ("zero-width space", "report", report.replace('"a"', '"a\u200b"'), Refusal.BAD_NAME),
        ("direction mark", "report", report.replace('"a"', '"\u202ea"'), Refusal.BAD_NAME),
        ("not NFC", "report", report.replace('"a"', '"e\u0301"'), Refusal.BAD_NAME),
        ("too many bits", "disclosure", _swap(good, "{", '{"bits":17,'), Refusal.WRONG_SHAPE),
        ("assigned items withheld", "disclosure", _swap(good, "{", '{"sets":"assigned",'),
         Refusal.WRONG_COLUMNS),
        ("sets of another kind", "disclosure", _swap(good, "{", '{"sets":"chosen",'),
         Refusal.WRONG_SHAPE),
        ("id too short", "report", _swap(report, '"id":"0', '"id":"'),
         Refusal.WRONG_SHAPE),
        *bad_priors(),
    ]  # fmt: skip
    for name, kind, content, code in rows:
        yield {"name": name, "kind": kind, "text": content, "code": code}


def service_texts() -> Iterator[Case]:
    """Messages of the service; `code` is null where they are taken."""
    shown = disclosure("dmpss", n_items=2)
    chain = Chain(entries=tuple(sealed(entries([shown]))))
    good: dict[str, Message] = {
        "solicitation": solicitation(shown, 0, (), more=True),
        "solicitation_request": SolicitationRequest(disclosure=shown.digest),
        "receipt": Receipt(report=shown.digest, answers=3),
        "problem": Problem(code="not_current", message="this is not the current disclosure"),
        "catalogue": Catalogue(items=("a", "b"), titles=("A \u200d b", "é" * 500), ratings=(0, 7)),
        "chain": chain,
        "certificates": Certificates(certificates=()),
    }
    asked = SolicitationRequest(disclosure=shown.digest, after=7)
    songs = Wording(item="song", items="songs", done="liked")
    called = text(Catalogue(items=("a",), titles=("A",), ratings=(0,), wording=songs))
    yield {"name": "items called songs", "kind": "catalogue", "text": called, "code": None}
    yield {"name": "after a round", "kind": "solicitation_request", "text": text(asked),
           "code": None}  # fmt: skip
    for kind, message in good.items():
        yield {"name": kind, "kind": kind, "text": text(message), "code": None}
    sent = {kind: text(message) for kind, message in good.items()}
    titles = sent["catalogue"]
    rows: list[tuple[str, str, str, Refusal]] = [
        ("open left out", "solicitation", _without(sent["solicitation"], "open"),
         Refusal.MISSING_FIELD),
        ("open as a number", "solicitation", _swap(sent["solicitation"], "true", "1"),
         Refusal.WRONG_SHAPE),
        ("a long title", "catalogue", _swap(titles, "é", "éé"), Refusal.WRONG_SHAPE),
        ("an empty title", "catalogue", _swap(titles, "é" * 500, ""), Refusal.WRONG_SHAPE),
        ("a control character", "catalogue", _swap(titles, "é", "\\u001b"), Refusal.BAD_NAME),
        ("a late control character", "catalogue", _swap(titles, "é", "\\u0085"), Refusal.BAD_NAME),
        ("a line separator", "catalogue", _swap(titles, "é", "\u2028"), Refusal.BAD_NAME),
        ("a turned direction", "catalogue", _swap(titles, "é", "\u202e"), Refusal.BAD_NAME),
        ("a mark of direction", "catalogue", _swap(titles, "é", "\u200f"), Refusal.BAD_NAME),
        ("an Arabic mark", "catalogue", _swap(titles, "é", "\u061c"), Refusal.BAD_NAME),
        ("an isolated direction", "catalogue", _swap(titles, "é", "\u2067"), Refusal.BAD_NAME),
        ("a title too few", "catalogue", _swap(titles, "[0,7]", "[0]"), Refusal.WRONG_SHAPE),
        ("a negative number", "catalogue", _swap(titles, "[0,7]", "[0,-7]"), Refusal.WRONG_SHAPE),
        ("items not sorted", "catalogue", _swap(titles, '"a","b"', '"b","a"'),
         Refusal.WRONG_SHAPE),
        ("a long word", "catalogue", _swap(called, "liked", "l" * 31), Refusal.WRONG_SHAPE),
        ("no word", "catalogue", _swap(called, "liked", ""), Refusal.WRONG_SHAPE),
        ("a word of two lines", "catalogue", _swap(called, "liked", "a\\nb"), Refusal.BAD_NAME),
        ("a word left out", "catalogue", _swap(called, '"item":"song",', ""),
         Refusal.MISSING_FIELD),
        ("no entries", "chain", '{"entries":[],"version":1}', Refusal.WRONG_SHAPE),
        ("an entry without version", "chain", _swap(sent["chain"], ',"version":1}],', "}],"),
         Refusal.MISSING_FIELD),
        ("an entry with more", "chain", _swap(sent["chain"], '[{"', '[{"a":1,"'),
         Refusal.UNKNOWN_FIELD),
        ("a short digest", "receipt", _swap(sent["receipt"], shown.digest, shown.digest[1:]),
         Refusal.WRONG_SHAPE),
        ("a code with spaces", "problem", _swap(sent["problem"], "not_current", "not current"),
         Refusal.WRONG_SHAPE),
        ("lines", "problem", _swap(sent["problem"], "this is", "this\\nis"), Refusal.BAD_NAME),
        ("after too many rounds", "solicitation_request",
         _swap(sent["solicitation_request"], "{", '{"after":1000001,'), Refusal.WRONG_SHAPE),
        ("a feature", "solicitation_request",
         _swap(sent["solicitation_request"], "{", '{"gender":"F",'), Refusal.UNKNOWN_FIELD),
    ]  # fmt: skip
    for name, kind, content, code in rows:
        yield {"name": f"{kind}: {name}", "kind": kind, "text": content, "code": code}


def _swap(content: str, old: str, new: str) -> str:
    return content.replace(old, new, 1)


def _without(content: str, key: str) -> str:
    kept: Mapping[str, Any] = {k: v for k, v in json.loads(content).items() if k != key}
    return json.dumps(kept, separators=(",", ":"), sort_keys=True)
