import os
from pathlib import Path
from typing import Self

import pytest

from midpoint.errors import MidpointError
from midpoint.user import Decision, DeviceSecret, Ledger, PrivateCategory, decide
from midpoint.wire import Report
from tests.support.people.made_up import STARS, accepted, disclosure, ratings, solicitation

SHOWN = disclosure("dmpss")
WOMAN = PrivateCategory.of(SHOWN, {"gender": "F"})


def answer(ledger: Ledger, number: int, items: slice) -> None:
    asked = solicitation(SHOWN, number, SHOWN.items[items])
    decide(ratings(SHOWN), asked, accepted(SHOWN), WOMAN, ledger)


def state(ledger: Ledger) -> dict[str, Decision | None]:
    return {item: ledger.decision(item) for item in SHOWN.items}


@pytest.fixture(autouse=True)
def known_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new secret is the same each time, with coins that fall both ways."""
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(bytes(range(32))))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A ledger on disk with two answered rounds."""
    index = tmp_path / "device"
    with Ledger.create(index) as ledger:
        answer(ledger, 1, slice(0, 6))
        answer(ledger, 2, slice(4, 12))
    return index


def test_disk_and_memory_hold_the_same(directory: Path) -> None:
    memory = Ledger(DeviceSecret.generate())
    answer(memory, 1, slice(0, 6))
    answer(memory, 2, slice(4, 12))
    with Ledger.open(directory) as ledger:
        assert state(ledger) == state(memory)
        assert ledger.decided == memory.decided == ratings(SHOWN).keys()
        kinds = {d.value is None for d in state(ledger).values() if d}
        assert kinds == {True, False}


def test_a_crash_between_the_secret_and_its_first_ledger_is_started_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = iter(DeviceSecret(bytes([n]) * 32) for n in range(9))
    monkeypatch.setattr(DeviceSecret, "generate", lambda: next(secrets))
    Ledger.create(tmp_path).close()
    (tmp_path / "ledger").rename(tmp_path / ".ledger.0123")
    with Ledger.create(tmp_path, after_crash=True) as ledger:
        assert ledger.secret.prf(b"") == DeviceSecret(bytes([1]) * 32).prf(b"")
    (tmp_path / "ledger").unlink()
    (tmp_path / "pin").write_bytes(b"")  # control: this secret may have been used
    with pytest.raises(MidpointError, match="keeps its secret"):
        Ledger.create(tmp_path, after_crash=True)
    (tmp_path / "pin").unlink()
    with pytest.raises(MidpointError, match="keeps its secret"):
        Ledger.create(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A ledger of one item, for tests that try every byte."""
    index = tmp_path / "small"
    with Ledger.create(index) as ledger:
        answer(ledger, 1, slice(0, 1))
    return index


def test_it_is_for_its_owner_only(directory: Path) -> None:
    for name in ("secret", "ledger"):
        assert (directory / name).stat().st_mode & 0o777 == 0o600
    assert directory.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_one_changed_byte_anywhere_is_seen(small: Path) -> None:
    file = small / "ledger"
    content = file.read_bytes()
    for index in range(len(content)):
        changed = bytearray(content)
        changed[index] ^= 1 << index % 8
        file.write_bytes(bytes(changed))
        with pytest.raises(MidpointError, match="was changed"):
            Ledger.open(small)
    file.write_bytes(content)
    Ledger.open(small).close()


def test_a_cut_or_grown_ledger_is_seen(directory: Path, small: Path) -> None:
    file = small / "ledger"
    content = file.read_bytes()
    last_round_gone = b"".join((directory / "ledger").read_bytes().splitlines(keepends=True)[:-1])
    for other in (*(content[:n] for n in range(len(content))), last_round_gone, content * 2):
        file.write_bytes(other)
        with pytest.raises(MidpointError, match="was changed"):
            Ledger.open(small)


def test_another_secret_does_not_open_it(directory: Path) -> None:
    (directory / "secret").unlink()
    with pytest.raises(MidpointError, match="secret cannot be read"):
        Ledger.open(directory)
    DeviceSecret(bytes(32)).save(directory / "secret")
    with pytest.raises(MidpointError, match="another secret"):
        Ledger.open(directory)


def test_a_crash_at_any_byte_of_a_write_loses_nothing(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies after n bytes: what was acknowledged is there, and nothing half-done."""
    with Ledger.open(directory) as ledger:
        before = state(ledger)
    path = directory / "ledger"
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
        with Ledger.open(directory) as ledger:
            cut_after(n)
            with pytest.raises(PowerCutError):
                decide(ratings(SHOWN), asked, accepted(SHOWN), WOMAN, ledger)
            assert ledger.answered(3) is None
        monkeypatch.undo()
        assert path.read_bytes() == old
        with Ledger.open(directory) as ledger:
            assert state(ledger) == before
    with Ledger.open(directory) as ledger:
        decide(ratings(SHOWN), asked, accepted(SHOWN), WOMAN, ledger)
    with Ledger.open(directory) as ledger:
        assert ledger.answered(3) is not None


@pytest.mark.parametrize("way", ["itself", "directory link", "file links", "detour"])
def test_two_programs_do_not_decide_at_once_by_any_path(directory: Path, way: str) -> None:
    """Otherwise one question gets two reports under one name."""
    other = directory.with_name("other")
    match way:
        case "itself":
            other = directory
        case "directory link":
            other.symlink_to(directory)
        case "file links":
            other.mkdir()
            (other / "ledger").symlink_to(directory / "ledger")
            (other / "secret").symlink_to(directory / "secret")
        case _:
            other = directory / ".." / directory.name
    with Ledger.open(directory), pytest.raises(MidpointError, match="in use"):
        Ledger.open(other)
    with Ledger.open(other) as ledger:
        answer(ledger, 3, slice(0, 3))
    with Ledger.open(directory) as ledger:
        assert ledger.answered(3) is not None


@pytest.mark.parametrize("lost", ["ledger", "secret"])
def test_a_secret_has_one_ledger_and_decisions_are_never_started_over(
    directory: Path, lost: str
) -> None:
    with pytest.raises(MidpointError, match="exists"):
        Ledger.create(directory)
    (directory / lost).unlink()
    with pytest.raises(MidpointError, match=r"cannot be read|not a readable"):
        Ledger.open(directory)
    with pytest.raises(MidpointError, match="exists"):
        Ledger.create(directory)


def test_a_new_ledger_has_a_new_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one secret, the control, two ledgers give two answers under one name."""

    def twice() -> list[Report]:
        found = []
        for index, star in enumerate((STARS[0], STARS[-1])):
            with Ledger.create(tmp_path / str(index)) as ledger:
                rated = dict.fromkeys(SHOWN.items, star)
                found.append(decide(rated, solicitation(SHOWN), accepted(SHOWN), WOMAN, ledger))
            (tmp_path / str(index)).rename(tmp_path / f"{index} {len(list(tmp_path.iterdir()))}")
        return found

    first, second = twice()
    assert first.id == second.id
    assert first.answers != second.answers
    monkeypatch.undo()
    first, second = twice()
    assert first.id != second.id


def test_a_round_is_recorded_once_and_only_while_open(directory: Path) -> None:
    ledger = Ledger.open(directory)
    first = ledger.answered(1)
    assert first is not None
    with pytest.raises(MidpointError, match="final"):
        ledger.record(first)
    ledger.close()
    with pytest.raises(MidpointError, match="closed"):
        ledger.record(first.model_copy(update={"round": 9}))
