"""A device's life: moved, backed up, restored; two devices never decide apart."""

import shutil
from pathlib import Path

import pytest

from midpoint.errors import MidpointError
from midpoint.user import DeviceSecret
from midpoint.user.agent import Agent, Home
from midpoint.user.agent import transfer as module
from midpoint.user.agent.transfer import Transfer, export_home, import_home
from midpoint.user.checks.pin import Pin
from midpoint.user.core.ledger import Ledger
from tests.support.people.agents import MakeAgent, decide_only, directory_of, go_through_a_round
from tests.support.sites.door import Door

PHRASE = "correct horse battery"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COST", 2**4)


def state(directory: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(directory.iterdir()) if p.name != "lock"}


@pytest.fixture
def used(door: Door, agent_at: MakeAgent) -> Path:
    """Return the directory of a device that answered a round, and is closed."""
    agent = agent_at(door.address)
    go_through_a_round(agent)
    agent.close()
    return directory_of(agent)


def test_a_moved_device_goes_on_as_the_same_person_and_the_old_one_refuses(
    door: Door, agent_at: MakeAgent, used: Path, tmp_path: Path
) -> None:
    before, raw = state(used), export_home(used, PHRASE)
    for name, content in before.items():
        assert content not in raw, name
    assert state(used) == before | {"moved": b""}
    with pytest.raises(MidpointError, match="was moved to another device"):
        agent_at(door.address)
    other = import_home(raw, PHRASE, tmp_path / "other")
    assert state(other) == before | {"restored": b""}  # it asks the service first
    assert other.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in other.iterdir())
    agent = agent_at(door.address, "other")
    go_through_a_round(agent)
    assert len(agent.home.ledger.rounds) == 2
    agent.close()
    # And back again, where the ledger that was left behind is continued.
    back = import_home(export_home(other, PHRASE), PHRASE, used.parent)
    assert back == used
    with Home.inside(used.parent, used.name).ledger as ledger:
        assert len(ledger.rounds) == 2


def test_what_would_decide_apart_is_refused_and_nothing_changes(
    door: Door,
    agent_at: MakeAgent,
    used: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = export_home(used, PHRASE)
    other = import_home(old, PHRASE, tmp_path / "other")
    before = state(other)
    with pytest.raises(MidpointError, match="is in use and would be lost"):
        import_home(old, PHRASE, tmp_path / "other")
    agent = agent_at(door.address, "other")
    go_through_a_round(agent)
    agent.close()
    export_home(other, PHRASE)
    longer = state(other)
    assert longer != before
    with pytest.raises(MidpointError, match="is older than"):
        import_home(old, PHRASE, tmp_path / "other")
    assert state(other) == longer
    # Another secret under the same name is somebody else.
    shutil.rmtree(other)
    monkeypatch.setattr(DeviceSecret, "generate", lambda: DeviceSecret(b"x" * 32))
    Ledger.create(other).close()
    (other / "moved").touch()
    with pytest.raises(MidpointError, match="belongs to another secret"):
        import_home(old, PHRASE, tmp_path / "other")
    # A second home for the same service in one directory is refused as well.
    root = tmp_path / "third"
    moved = import_home(old, PHRASE, root)
    moved.rename(root / "elsewhere")
    with pytest.raises(MidpointError, match="belongs to the same service"):
        import_home(old, PHRASE, root)
    assert [path.name for path in root.iterdir()] == ["elsewhere"]


def test_a_service_that_renewed_its_key_is_known_by_all_keys_that_ever_signed(
    used: Path, tmp_path: Path
) -> None:
    old = export_home(used, PHRASE, backup=True)
    root = tmp_path / "other"
    known = import_home(old, PHRASE, root).rename(root / "elsewhere")
    pin = Pin.load(known / "pin")
    assert pin is not None
    # There the service has gone on under another key, which the file does not know.
    pin.model_copy(update={"key": "9" * 64}).save(known / "pin")
    with pytest.raises(MidpointError, match="belongs to the same service"):
        import_home(old, PHRASE, root)
    (known / "proof").unlink()  # the control: nothing ties them now
    import_home(old, PHRASE, root)


def test_a_wrong_passphrase_or_a_damaged_file_imports_nothing(used: Path, tmp_path: Path) -> None:
    raw, root = export_home(used, PHRASE, backup=True), tmp_path / "other"
    damaged = [raw[:-1], raw[:40], raw[:60] + bytes([raw[60] ^ 1]) + raw[61:], raw + b"x"]
    for wrong in damaged:
        with pytest.raises(MidpointError, match="wrong, or the file was damaged"):
            import_home(wrong, PHRASE, root)
    with pytest.raises(MidpointError, match="passphrase is wrong"):
        import_home(raw, "another passphrase", root)
    with pytest.raises(MidpointError, match="no file of"):
        import_home(b"{}", PHRASE, root)
    with pytest.raises(MidpointError, match="at least 12"):
        export_home(used, "short")
    assert not (used / "moved").exists()
    assert not root.exists()
    import_home(raw, PHRASE, root)  # the control


def test_names_that_lead_elsewhere_and_a_changed_ledger_are_refused(
    used: Path, tmp_path: Path
) -> None:
    files = tuple((name, text.decode()) for name, text in state(used).items())
    root = tmp_path / "other"

    def sealed(**changes: object) -> bytes:
        content = {"name": used.name, "files": files, "backup": False} | changes
        return module._sealed(Transfer.model_validate(content).raw, PHRASE.encode())

    for name in ("../x", ".hidden", "a/b", "/etc"):
        with pytest.raises(MidpointError, match="names that no device writes"):
            import_home(sealed(name=name), PHRASE, root)
    with pytest.raises(MidpointError, match="names that no device writes"):
        import_home(sealed(files=(*files, ("../../x", "y"))), PHRASE, root)
    changed = tuple((name, t + "\n" if name == "ledger" else t) for name, t in files)
    with pytest.raises(MidpointError, match="was changed"):
        import_home(sealed(files=changed), PHRASE, root)
    assert list(root.glob("*")) == []
    assert import_home(sealed(), PHRASE, root) == root / used.name  # the control


@pytest.mark.usefixtures("up")
def test_a_backup_goes_on_only_if_nothing_was_answered_since(
    door: Door, agent_at: MakeAgent, tmp_path: Path
) -> None:
    agent = agent_at(door.address)
    go_through_a_round(agent)
    agent.close()
    directory = directory_of(agent)
    backup = export_home(directory, PHRASE, backup=True)
    import_home(backup, PHRASE, tmp_path / "restored")
    restored = agent_at(door.address, "restored")
    with pytest.raises(MidpointError, match="imported from a file"):
        restored.submit()  # before the service was asked, nothing is sent
    decide_only(restored)
    assert restored.submit() is not None
    restored.close()
    # The device was not lost after all, and nothing tells it: but a backup knows.
    import_home(backup, PHRASE, tmp_path / "again")
    stale = agent_at(door.address, "again")
    door.seen.clear()
    for _ in range(2):
        with pytest.raises(MidpointError, match="answered after this file"):
            stale.connect()
    assert {line.split()[0] for line in door.lines} == {"GET"}
    stale.close()
    with pytest.raises(MidpointError, match="not asked yet"):
        export_home(directory_of(stale), PHRASE)


def test_a_device_that_is_open_or_to_be_forgotten_is_not_exported(
    door: Door, agent_at: MakeAgent, tmp_path: Path
) -> None:
    agent: Agent = agent_at(door.address)
    decide_only(agent)
    with pytest.raises(MidpointError, match="in use by another program"):
        export_home(directory_of(agent), PHRASE)
    agent.home.start_forgetting()
    agent.close()
    with pytest.raises(MidpointError, match="forget again"):
        export_home(directory_of(agent), PHRASE)
    with pytest.raises(MidpointError, match="holds no ledger"):
        export_home(tmp_path / "nowhere", PHRASE)
    assert not (tmp_path / "nowhere").exists()


def test_what_was_decided_and_not_sent_is_sent_by_the_other_device(
    door: Door, agent_at: MakeAgent, tmp_path: Path
) -> None:
    agent = agent_at(door.address)
    report = decide_only(agent)
    agent.close()
    import_home(export_home(directory_of(agent), PHRASE), PHRASE, tmp_path / "other")
    other = agent_at(door.address, "other")
    other.connect()
    sent = [seen for seen in door.seen if seen.line.startswith("POST /v1/reports")]
    assert [seen.body for seen in sent] == [report.raw]
