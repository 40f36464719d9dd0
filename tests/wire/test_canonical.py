import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.wire import (
    Disclosure,
    Refusal,
    RefusedError,
    Report,
)
from midpoint.wire.canonical import LARGEST_MESSAGE, _without_doubles
from tests.support.sites.messages import REPORT, code_of, example


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b"65536", b"65536.0", Refusal.NOT_AN_INTEGER),
        (b"65536", b"6.5536e4", Refusal.NOT_AN_INTEGER),
        (b"65536", b"NaN", Refusal.NOT_AN_INTEGER),
        (b"65536", b"true", Refusal.NOT_AN_INTEGER),
        (b'"version":1', b'"version":true', Refusal.NOT_AN_INTEGER),
        (b'"version":1', b'"version":2', Refusal.UNKNOWN_VERSION),
        (b"65536", b"9007199254740992", Refusal.INTEGER_TOO_LARGE),
        (b"65536", b"-9007199254740992", Refusal.INTEGER_TOO_LARGE),
        (b"65536", b"9" * 5000, Refusal.INTEGER_TOO_LARGE),
        (b'"name"', b'"name":"x","name"', Refusal.DUPLICATE_KEY),
        (b'"a"', b'"\xff"', Refusal.NOT_JSON),
        (b'"a"', b"[" * 100_000, Refusal.NOT_JSON),
        (b'"dmpss"', b'"xyz"', Refusal.UNKNOWN_SCHEME),
    ],
)
def test_what_readers_could_understand_differently_is_refused(
    old: bytes, new: bytes, code: Refusal
) -> None:
    assert code_of(Disclosure, example().raw) is None
    assert code_of(Disclosure, example().raw.replace(old, new, 1)) == code


@given(st.binary(max_size=60))
def test_noise_is_refused_and_never_crashes(raw: bytes) -> None:
    assert code_of(Report, raw) is not None


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=3))
def test_damage_is_refused_or_changes_the_digest(index: int, patch: bytes) -> None:
    raw = REPORT.raw
    at = index % len(raw)
    changed = raw[:at] + patch + raw[at + len(patch) :]
    if changed != raw and code_of(Report, changed) is None:
        assert Report.parse(changed).digest != REPORT.digest


def test_a_message_too_long_is_refused_unread() -> None:
    assert code_of(Report, b" " * (LARGEST_MESSAGE + 1)) == Refusal.TOO_LONG
    assert code_of(Report, b" " * 1000) == Refusal.NOT_JSON


def test_the_second_of_two_keys_is_found_in_one_pass() -> None:
    class Counted(str):
        __slots__ = ()
        asked = 0

        def __hash__(self) -> int:
            Counted.asked += 1
            return super().__hash__()

        def __eq__(self, other: object) -> bool:
            Counted.asked += 1
            return super().__eq__(other)

    keys = [*range(2000), 1999]
    with pytest.raises(RefusedError, match="'1999' appears twice"):
        _without_doubles([(Counted(key), 1) for key in keys])
    assert Counted.asked < 20 * len(keys)
