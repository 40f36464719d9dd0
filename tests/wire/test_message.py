import hashlib
import json
import pickle

import pytest
from pydantic import ValidationError

from midpoint.wire import (
    ONE,
    Disclosure,
    Message,
    Problem,
    Refusal,
    Report,
    Scores,
)
from tests.support.sites.messages import COLUMN, MESSAGES, ZERO, code_of, example


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_a_message_comes_back_as_it_was_sent(message: Message) -> None:
    again = type(message).parse(message.raw)
    assert again == message
    assert again.raw == message.raw
    assert dict(again) == dict(message)
    assert message.digest == hashlib.sha256(message.raw).hexdigest()
    canonical = json.dumps(
        json.loads(message.raw), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert message.raw.decode() == canonical


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_unknown_fields_and_missing_fields_are_refused(message: Message) -> None:
    content = json.loads(message.raw)
    assert code_of(type(message), {**content, "private": 1}) == Refusal.UNKNOWN_FIELD
    optional = {*COLUMN, "prior", "previous"}
    for field in content.keys() - optional:
        rest = {name: value for name, value in content.items() if name != field}
        assert code_of(type(message), rest) == Refusal.MISSING_FIELD


def test_exact_bytes_are_kept_and_never_made_again() -> None:
    spaced = json.dumps(json.loads(example().raw), indent=1).encode()
    received = Disclosure.parse(spaced)
    assert received.raw == spaced
    assert received.digest == hashlib.sha256(spaced).hexdigest()
    assert received.digest != example().digest
    assert received != example()


def test_a_changed_copy_does_not_keep_the_old_bytes() -> None:
    received = Disclosure.parse(example().raw)
    copy = received.model_copy(update={"items": ("a", "c")})
    assert Disclosure.parse(copy.raw).items == ("a", "c")
    with pytest.raises(ValidationError):
        received.model_copy(update={"items": ("c", "a")})


@pytest.mark.parametrize("name", ["a b", "Zoë", "東京", "🎬", "\ue000", "naïve-1.0/2", "ß"])
def test_names_that_show_are_taken(name: str) -> None:
    assert code_of(Report, answer_about(name)) is None


@pytest.mark.parametrize(
    "name",
    ["a ", " a", "a\u00a0b", "a\u2003b", "a\u2028", "a\u200b", "\u202ea", "a\x00", "a\tb", "\x7f",
     "\ufeffa", "e\u0301", "\u212b", " "],
)  # fmt: skip
def test_names_that_look_like_others_are_refused(name: str) -> None:
    assert code_of(Report, answer_about(name)) == Refusal.BAD_NAME


def answer_about(name: str) -> bytes:
    content = json.loads(Report(id="0" * 32, disclosure=ZERO, round=1, answers=()).raw)
    return json.dumps({**content, "answers": [[name, 1]]}).encode()


def test_messages_pickle_between_processes() -> None:
    received = Disclosure.parse(example().raw + b"\n")
    assert pickle.loads(pickle.dumps(received)).raw == received.raw  # noqa: S301


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_a_message_prints_as_one_short_line_with_its_digest(message: Message) -> None:
    shown = repr(message)
    assert str(message) == shown
    assert shown.startswith(f"<{type(message).__name__} ")
    assert shown.endswith(f" {message.digest[:12]}>")
    assert len(shown) <= 160
    assert "\n" not in shown


def test_a_line_says_what_a_message_holds() -> None:
    disclosure = example("dmpss")
    assert repr(disclosure) == f"<Disclosure dmpss: 2 items, gender; {disclosure.digest[:12]}>"
    shown = {type(message): repr(message) for message in MESSAGES}
    assert "<Report round 3: 2 answers;" in shown[Report]
    assert "<Scores 2 items;" in shown[Scores]
    assert "<Problem not_current: this is not current;" in shown[Problem]
    long = example(
        "ia", features=(), items=tuple(f"{k:05}" for k in range(9000)), average=((ONE,),) * 9000
    )
    assert repr(long).startswith("<Disclosure ia: 9000 items, no private feature;")
