"""`midpoint audit --curves --rounds`: what is added to an audit on request."""

import csv
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from midpoint.audit import Progress
from midpoint.audit.rounds.results import TranscriptResults
from midpoint.cli.options import audit_extras as further
from midpoint.cli.options.audit_extras import named_scheme, show_rounds
from midpoint.errors import MidpointError
from tests.support.made_up_rounds import made_up_rounds
from tests.support.small_model import run

FEW = ("--schemes", "dmpss", "--attacks", "lse", "--folds", 2, "--jobs", 1, "--quick")
STEPS = (0.05, 0.2, 0.5)


@pytest.fixture(scope="module")
def with_rounds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("further") / "out"
    more = ("--curves", "share", "--rounds", 2)
    shown = run("audit", "simulated-tiny", "--feature", "gender", *FEW, *more, "--out", out)
    return out, shown


@pytest.mark.slow  # a whole audit
def test_points_of_curves_are_in_the_results_and_not_in_the_table(
    with_rounds: tuple[Path, str],
) -> None:
    out, shown = with_rounds
    rows = csv.DictReader((out / "results.csv").read_text().splitlines())
    schemes = {row["scheme"] for row in rows}
    assert schemes == {
        name for base in ("no", "dmpss") for name in (base, *(f"{base}:share={n}" for n in STEPS))
    }
    assert "share=0.2" not in shown
    assert "Privacy by the number of ratings" in (out / "report.html").read_text()


@pytest.mark.slow  # a whole audit
def test_rounds_are_shown_kept_and_reported(with_rounds: tuple[Path, str]) -> None:
    out, shown = with_rounds
    found = TranscriptResults.load(out)
    assert found is not None
    assert found.rounds == 2
    assert found.folds == 2
    assert found.scheme == "dmpss"  # the only one named
    assert "Holding 2 rounds under dmpss: 2 folds, 8 attackers" in shown
    assert found.sentence in shown
    assert found.sentence in (out / "report.html").read_text()


def test_rounds_are_held_under_the_one_scheme_that_is_named() -> None:
    assert named_scheme(["no", "dmp"], 2) == "dmp"
    assert named_scheme(["dmp", "mp"], 2) is None
    assert named_scheme(None, 2) is None
    with pytest.raises(MidpointError, match="cannot be held"):
        named_scheme(["mpss:alpha=0.5"], 2)


def test_progress_is_written_to_a_log_where_no_bar_can_be_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = Console(file=StringIO(), force_terminal=False, width=80)
    for every, lines in (
        (60.0, []),
        (0.0, ["Attacking: 2 of 9", "Attacking: 3 of 9, 1 min 05 s left"]),
    ):
        monkeypatch.setattr(further, "EVERY", every)
        with further.audit_bar(log) as report:
            report(Progress(2, 9, None))
            report(Progress(3, 9, 65.0))
        assert log.file.getvalue().splitlines() == lines  # type: ignore[attr-defined]


def test_a_table_of_rounds_is_whole_in_80_columns() -> None:
    rounds = made_up_rounds()
    weak = replace(rounds, reads={**rounds.reads, "transcript-trees": False})
    shown = []
    for found in (rounds, weak):
        log = Console(file=StringIO(), width=80)
        show_rounds(log, found)
        shown.append(log.file.getvalue())  # type: ignore[attr-defined]
    assert "\u2026" not in "".join(shown)
    assert "AUC of 4 rounds of dmpss" in shown[0]
    assert "0.940*" in shown[0]
    assert "0.520*" not in shown[0]
    assert "proves nothing" in shown[1]
    assert "proves nothing" not in shown[0]
