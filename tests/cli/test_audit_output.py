"""How audits that nobody ran look on the terminal."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from typer.testing import CliRunner

from midpoint.cli.app import app
from midpoint.cli.audit import show
from midpoint.cli.options.audit_extras import show_rounds
from tests.support.made_up_results import made_up
from tests.support.made_up_rounds import made_up_rounds


def run(*arguments: object) -> Any:
    """Run a command; return its JSON if that is asked for, else its text."""
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(app, words, catch_exceptions=False, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout) if "--json" in words else result.stdout


def test_compare_folds_what_is_in_one_audit_and_shows_rounds(tmp_path: Path) -> None:
    many, few = made_up(), made_up({"no": {"lr": 0.83}, "dmpss": {"lr": 0.48}})
    many.save(tmp_path / "many")
    few.save(tmp_path / "few")
    shown = run("compare", tmp_path / "many", tmp_path / "few")
    assert "numbers of scheme mp, adaptive-lr-items, fraction" in shown
    assert "gone" not in shown.partition("Only before")[2]
    assert "The verdict on mp is gone: it was the feature is there to read (1.000" in shown
    assert "The verdict on mp is new" in run("compare", tmp_path / "few", tmp_path / "many")
    assert "gone" in run("compare", tmp_path / "many", tmp_path / "few", "--all")
    made_up_rounds().save(tmp_path / "many")
    alone = run("compare", tmp_path / "many", tmp_path / "few").partition("Only before")[2]
    assert "scheme dmpss:rounds=4," in alone
    made_up_rounds(product=0.99).save(tmp_path / "few")
    shown = run("compare", tmp_path / "many", tmp_path / "few")
    assert "The verdict on dmpss:rounds=4 changed: at chance" in shown
    found = run("compare", tmp_path / "many", tmp_path / "few", "--json")
    assert {one["scheme"] for one in found["changes"]} == {"dmpss:rounds=4"}


def test_the_terminal_marks_what_is_read_without_bold() -> None:
    log = Console(file=StringIO(), width=80)
    show(log, made_up())
    shown = log.file.getvalue()  # type: ignore[attr-defined]
    assert "0.560*" in shown
    assert "0.480*" not in shown
    assert "mp: strongest attacker 1.000 (fraction): the feature is there to read" in shown
    assert "no: strongest" not in shown


def test_a_table_of_rounds_is_whole_in_80_columns() -> None:
    shown = []
    for results in (made_up_rounds(), made_up_rounds(reads=False)):
        log = Console(file=StringIO(), width=80)
        show_rounds(log, results, results.rounds["dmpss:rounds=4"])
        shown.append(log.file.getvalue())  # type: ignore[attr-defined]
    assert "\u2026" not in "".join(shown)
    assert "AUC of 4 rounds of dmpss" in shown[0]
    assert "0.940*" in shown[0]
    assert "0.520*" not in shown[0]
    assert "proves nothing" in shown[1]
    assert "proves nothing" not in shown[0]
