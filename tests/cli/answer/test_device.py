"""`midpoint device` as it is typed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from midpoint.cli.app import app
from midpoint.errors import MidpointError
from midpoint.user.agent import Agent, transfer
from tests.support.models.small_model import run

URL = "http://127.0.0.1:1"


@pytest.fixture
def phrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(transfer, "COST", 2**4)
    Agent.open(URL, tmp_path / "home").close()
    path = tmp_path / "phrase"
    path.write_text("correct horse battery\n")
    path.chmod(0o600)
    return path


def test_a_device_is_exported_and_imported(phrase: Path, tmp_path: Path) -> None:
    home, other, file = tmp_path / "home", tmp_path / "other", tmp_path / "file"
    shown = run("device", "export", URL, file, "--home", home, "--passphrase-file", phrase)
    assert "answers nothing any more" in shown
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(MidpointError, match="was moved"):
        Agent.open(URL, home)
    with pytest.raises(MidpointError, match="exists; name another"):
        run("device", "export", URL, file, "--home", home, "--passphrase-file", phrase)
    assert "Imported" in run("device", "import", file, "--home", other, "--passphrase-file", phrase)
    Agent.open(URL, other).close()


def test_a_backup_and_a_typed_passphrase(phrase: Path, tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "file"
    typed = f"{phrase.read_text()}{phrase.read_text()}"
    arguments = ["device", "export", URL, str(file), "--home", str(home), "--backup"]
    shown = CliRunner().invoke(app, arguments, input=typed)
    assert shown.exit_code == 0, shown.output
    assert "stays in use" in shown.output
    assert "correct horse" not in shown.output
    Agent.open(URL, home).close()
    arguments[3] = str(tmp_path / "another")
    unasked = CliRunner().invoke(app, arguments, input="")
    assert "name its file by --passphrase-file" in str(unasked.exception)


def test_what_a_person_can_fix_is_said(phrase: Path, tmp_path: Path) -> None:
    given = ("--home", tmp_path / "home", "--passphrase-file", phrase)
    with pytest.raises(MidpointError, match="cannot be read"):
        run("device", "import", tmp_path / "none", *given)
    with pytest.raises(MidpointError, match="holds no ledger; check the address"):
        run("device", "export", "https://else.example", tmp_path / "f", *given)
    phrase.chmod(0o644)
    with pytest.raises(MidpointError, match="chmod 600"):
        run("device", "export", URL, tmp_path / "f", *given)
    assert not (tmp_path / "f").exists()


def test_what_is_kept_and_demanded_is_shown(phrase: Path, tmp_path: Path) -> None:
    home, other, file = tmp_path / "home", tmp_path / "other", tmp_path / "file"
    assert "no witness, no certificate and no leak budget" in run(
        "device", "show", URL, "--home", home
    )
    with Agent.open(URL, home) as agent:
        agent.home.demand(
            witness="https://witness.example",
            witness_key="1" * 64,
            shown_for=2 * 3600,
            auditors=("2" * 64,),
            require_certificate=True,
            most_auc=550_000,
            most_leak=600_000,
        )
    demanded = run("device", "show", URL, "--home", home)
    for words in (
        "ratings kept: 0; rounds answered: 0.",
        "https://witness.example with the key that you named shows a disclosure for 2 hours",
        "an auditor that you trust (1 named) certified an AUC of at most 0.55",
        "leak budget is at most an AUC of 0.6",
    ):
        assert words in demanded
    run("device", "export", URL, file, "--home", home, "--passphrase-file", phrase)
    run("device", "import", file, "--home", other, "--passphrase-file", phrase)
    moved = run("device", "show", URL, "--home", other)
    assert moved.splitlines()[1:] == demanded.splitlines()[1:]
    with pytest.raises(MidpointError, match=r"nothing of https://else\.example is in"):
        run("device", "show", "https://else.example", "--home", home)
