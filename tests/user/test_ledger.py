import os
from pathlib import Path
from typing import Self

import pytest
from made_up import disclosure, ratings, solicitation

from midpoint.errors import MidpointError
from midpoint.user import Decision, DeviceSecret, Ledger, PrivateCategory, decide

SECRET = DeviceSecret(bytes(range(32)))
SHOWN = disclosure("dmpss")
WOMAN = PrivateCategory.of(SHOWN, {"gender": "F"})


def answer(ledger: Ledger, number: int, items: slice) -> None:
    asked = solicitation(SHOWN, number, SHOWN.items[items])
    decide(ratings(SHOWN), asked, SHOWN, WOMAN, SECRET, ledger)


def state(ledger: Ledger) -> dict[str, Decision | None]:
    return {item: ledger.decision(item) for item in SHOWN.items}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger on disk with two answered rounds."""
    place = tmp_path / "ledger"
    with Ledger.create(place, SECRET) as ledger:
        answer(ledger, 1, slice(0, 6))
        answer(ledger, 2, slice(4, 12))
    return place


def test_disk_and_memory_hold_the_same(path: Path) -> None:
    memory = Ledger(SECRET)
    answer(memory, 1, slice(0, 6))
    answer(memory, 2, slice(4, 12))
    with Ledger.open(path, SECRET) as ledger:
        assert state(ledger) == state(memory)
        assert ledger.decided == memory.decided == ratings(SHOWN).keys()
        kinds = {d.value is None for d in state(ledger).values() if d}
        assert kinds == {True, False}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A ledger of one item, for tests that try every byte."""
    place = tmp_path / "small"
    with Ledger.create(place, SECRET) as ledger:
        answer(ledger, 1, slice(0, 1))
    return place


def test_it_is_for_its_owner_only(path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600


def test_one_changed_byte_anywhere_is_seen(small: Path) -> None:
    content = small.read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        small.write_bytes(bytes(changed))
        with pytest.raises(MidpointError, match="was changed"):
            Ledger.open(small, SECRET)
    small.write_bytes(content)
    Ledger.open(small, SECRET).close()


def test_a_cut_or_grown_ledger_is_seen(path: Path, small: Path) -> None:
    content = small.read_bytes()
    last_round_gone = b"".join(path.read_bytes().splitlines(keepends=True)[:-1])
    for other in (*(content[:n] for n in range(len(content))), last_round_gone, content * 2):
        small.write_bytes(other)
        with pytest.raises(MidpointError, match="was changed"):
            Ledger.open(small, SECRET)


def test_another_secret_does_not_open_it(path: Path) -> None:
    with pytest.raises(MidpointError, match="another secret"):
        Ledger.open(path, DeviceSecret.generate())


def test_a_crash_at_any_byte_of_a_write_loses_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies after n bytes: what was acknowledged is there, and nothing half-done."""
    with Ledger.open(path, SECRET) as ledger:
        before = state(ledger)
    old = path.read_bytes()
    asked = solicitation(SHOWN, 3, SHOWN.items)

    class PowerCutError(BaseException):
        pass

    real_fdopen = os.fdopen

    def cut_after(n: int) -> None:
        def fdopen(descriptor: int, mode: str) -> object:
            stream = real_fdopen(descriptor, mode)

            class Torn:
                def __enter__(self) -> Self:
                    return self

                def __exit__(self, *_: object) -> None:
                    stream.close()

                def write(self, content: bytes) -> None:
                    stream.write(content[:n])
                    stream.flush()
                    raise PowerCutError

            return Torn()

        monkeypatch.setattr(os, "fdopen", fdopen)
        monkeypatch.setattr(Path, "unlink", lambda *_: None)  # a dead process tidies nothing

    for n in range(0, len(old) + 400, 97):
        with Ledger.open(path, SECRET) as ledger:
            cut_after(n)
            with pytest.raises(PowerCutError):
                decide(ratings(SHOWN), asked, SHOWN, WOMAN, SECRET, ledger)
            assert ledger.answered(3) is None
        monkeypatch.undo()
        assert path.read_bytes() == old
        with Ledger.open(path, SECRET) as ledger:
            assert state(ledger) == before
    with Ledger.open(path, SECRET) as ledger:
        decide(ratings(SHOWN), asked, SHOWN, WOMAN, SECRET, ledger)
    with Ledger.open(path, SECRET) as ledger:
        assert ledger.answered(3) is not None


def test_two_programs_do_not_decide_at_once(path: Path) -> None:
    with Ledger.open(path, SECRET), pytest.raises(MidpointError, match="in use"):
        Ledger.open(path, SECRET)
    Ledger.open(path, SECRET).close()


def test_a_missing_ledger_is_not_silently_started_over(path: Path) -> None:
    with pytest.raises(MidpointError, match="exists"):
        Ledger.create(path, SECRET)
    path.unlink()
    with pytest.raises(MidpointError, match="cannot be read"):
        Ledger.open(path, SECRET)
    Ledger.create(path, SECRET).close()


def test_a_round_is_recorded_once_and_only_while_open(path: Path) -> None:
    ledger = Ledger.open(path, SECRET)
    first = ledger.answered(1)
    assert first is not None
    with pytest.raises(MidpointError, match="final"):
        ledger.record(first)
    ledger.close()
    with pytest.raises(MidpointError, match="closed"):
        ledger.record(first.model_copy(update={"round": 9}))
