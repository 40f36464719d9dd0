"""What the device keeps about a service, and how it forgets."""

import errno
import json
import stat
from pathlib import Path

import pytest

from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.user import (
    BrokenSealError,
    DeviceSecret,
    StorageError,
)
from midpoint.user.agent import Agent, AwayError, Home
from tests.support.door import Door, answering
from tests.support.made_up import STRANGER, disclosure
from tests.support.people import (
    WOMAN,
    MakeAgent,
    decide_only,
    directory_of,
    go_through_a_round,
)
from tests.support.tiny_analyst import TinyAnalyst

pytestmark = pytest.mark.slow


def test_all_of_it_is_for_her_eyes_only(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    agent.home.keep_category({"gender": "F"})
    directory = directory_of(agent)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    files = {path.name for path in directory.iterdir()}
    assert files == {"secret", "ledger", "lock", "pin", "notes", "proof"}
    for name in files:
        assert stat.S_IMODE((directory / name).stat().st_mode) == 0o600, name


def test_the_category_is_kept_only_if_she_says_so(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    assert agent.home.category is None
    assert b"gender" not in (directory_of(agent) / "notes").read_bytes()
    agent.home.keep_category({"gender": "F"})
    agent.close()
    again = agent_at(door.address)
    assert again.home.category is not None
    assert again.home.category.cell_in(disclosure()) == WOMAN.cell_in(disclosure())
    again.home.keep_category(None)
    assert b"gender" not in (directory_of(again) / "notes").read_bytes()


def test_in_memory_nothing_is_written(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    agent = Agent.in_memory(door.address)
    decide_only(agent)
    agent.submit()
    assert agent.home.directory is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("full", ["ledger", "notes", "pin"])
def test_a_disk_that_takes_no_more_is_not_called_a_broken_seal(
    full: str, door: Door, agent_at: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_at(door.address)

    def no_space(path: Path, content: bytes, *, mode: int) -> None:
        if path.name == full:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        replace_file(path, content, mode=mode)

    monkeypatch.setattr("midpoint.user.device_files.replace_file", no_space)
    with pytest.raises(StorageError, match=rf"{full} cannot be written \(No space"):
        decide_only(agent)
    assert (agent.home.ledger.rounds, agent.home.unsent) == ((), ())
    monkeypatch.undo()
    agent.close()
    (directory_of(agent) / "ledger").write_bytes(b"0\n")
    with pytest.raises(BrokenSealError):
        agent_at(door.address)


def test_one_secret_for_one_analyst(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    """Under a second address the same analyst would see a second toss; another analyst is fine."""
    agent_at(door.address).connect()
    with pytest.raises(MidpointError, match="same service, under another address"):
        agent_at(tiny_analyst.address).connect()
    other = TinyAnalyst(key=STRANGER)
    agent_at(other.address).connect()
    other.stop()


def test_two_programs_do_not_share_a_directory(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    with pytest.raises(MidpointError, match="in use by another program"):
        agent_at(door.address)
    agent.close()
    agent_at(door.address)


def test_the_pseudonym_goes_with_the_secret() -> None:
    first, same, other = (Home.in_memory(DeviceSecret(bytes([n]) * 32)) for n in (1, 1, 2))
    assert first.token == same.token != other.token
    assert len(bytes.fromhex(first.token)) == 32


def test_damaged_notes_are_reported(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    agent.close()
    (directory_of(agent) / "notes").write_bytes(b"{}")
    with pytest.raises(MidpointError, match="damaged"):
        agent_at(door.address)


def test_export_holds_both_halves(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    report = decide_only(agent)
    agent.submit()
    whole = json.loads(agent.export())
    assert whole["service"]["reports"] == [report.raw.decode()]
    assert whole["device"]["rounds"][0]["report"] == report.raw.decode()
    assert dict(whole["device"]["notes"]["ratings"]) == agent.home.ratings


def test_forget_erases_there_then_here_and_the_next_is_somebody_new(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    agent.submit()
    directory, token = directory_of(agent), agent.home.token
    assert len(tiny_analyst.accounts) == 1
    agent.forget()
    assert tiny_analyst.accounts == {}
    assert not directory.exists()
    assert list(directory.parent.iterdir()) == []
    with pytest.raises(MidpointError, match="somebody new"):
        agent.submit()
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(bytes(range(1, 33))))
    new = agent_at(door.address)
    assert new.home.token != token
    assert (new.home.ledger.rounds, new.home.pin, new.home.ratings) == ((), None, {})


def test_forget_while_the_service_is_away_keeps_what_is_needed_and_does_nothing_else(
    door: Door, tiny_analyst: TinyAnalyst, agent_at: MakeAgent
) -> None:
    agent = agent_at(door.address)
    report = decide_only(agent)
    door.behave["/v1/pseudonym"] = answering(b"")
    with pytest.raises(AwayError):
        agent.forget()
    agent.close()
    again = agent_at(door.address)
    assert again.home.ledger.rounds[0].report == report.raw.decode()
    door.seen.clear()
    for step in (again.connect, again.submit, again.export):
        with pytest.raises(MidpointError, match="asked to be forgotten"):
            step()
    assert door.seen == []
    door.honest()
    again.forget()
    assert tiny_analyst.accounts == {}
    assert not directory_of(again).exists()


def test_forget_only_here_asks_nobody(door: Door, agent_at: MakeAgent) -> None:
    agent = agent_at(door.address)
    decide_only(agent)
    door.seen.clear()
    agent.forget(only_here=True)
    assert door.seen == []
    assert not directory_of(agent).exists()


def test_a_crash_in_the_middle_of_erasing_is_finished_next_time(
    door: Door, agent_at: MakeAgent, tmp_path: Path
) -> None:
    agent = agent_at(door.address)
    agent.close()
    directory_of(agent).rename(tmp_path / "home" / ".forgotten-0123")
    agent_at(door.address)
    assert [path.name for path in (tmp_path / "home").iterdir()] == [directory_of(agent).name]


def test_a_crash_before_the_first_ledger_is_started_over(
    door: Door, agent_at: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_at(door.address)
    agent.close()
    token, directory = agent.home.token, directory_of(agent)
    (directory / "ledger").unlink()
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(bytes(range(1, 33))))
    again = agent_at(door.address)
    assert again.home.token != token
    decide_only(again)
    again.close()
    (directory / "ledger").unlink()  # control: this secret was used
    with pytest.raises(MidpointError, match="keeps its secret"):
        agent_at(door.address)


def test_a_ledger_older_than_the_notes_is_refused(door: Door, agent_at: MakeAgent) -> None:
    """Control: a whole older copy looks like the original, and opens."""
    agent = agent_at(door.address)
    go_through_a_round(agent)
    directory = directory_of(agent)
    older = {name: (directory / name).read_bytes() for name in ("ledger", "notes")}
    go_through_a_round(agent)
    agent.close()
    (directory / "ledger").write_bytes(older["ledger"])
    with pytest.raises(BrokenSealError, match="round 1 was sent"):
        agent_at(door.address)
    (directory / "notes").write_bytes(older["notes"])
    assert len(agent_at(door.address).home.ledger.rounds) == 1


def test_loose_modes_are_tightened(door: Door, agent_at: MakeAgent) -> None:
    """But for the secret's: others may have read it, so it is refused."""
    agent = agent_at(door.address)
    decide_only(agent)
    agent.close()
    directory = directory_of(agent)
    for path in (directory, *(p for p in directory.iterdir() if p.name != "secret")):
        path.chmod(0o755)
    agent_at(door.address)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}
