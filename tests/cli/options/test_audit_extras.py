"""`midpoint audit --curves --rounds`: what is added to an audit on request."""

import csv
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from midpoint.audit import AuditResults, Progress
from midpoint.audit.report.verdict import judge
from midpoint.cli.options import audit_extras as further
from midpoint.cli.options.audit_extras import show_rounds
from tests.support.audits.made_up_rounds import made_up_rounds
from tests.support.models.small_model import run

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
    schemes = {row["scheme"] for row in rows if "rounds" not in row["scheme"]}
    drawn = {name.partition(":share=")[0] for name in schemes if ":share=" in name}
    assert len(drawn) == 2  # raw ratings, and the scheme that training chooses
    assert "no" in drawn
    assert schemes == drawn | {"dmpss"} | {f"{name}:share={n}" for name in drawn for n in STEPS}
    assert "share=0.2" not in shown
    assert "Privacy by the number of ratings" in (out / "report.html").read_text()


@pytest.mark.slow  # a whole audit
def test_rounds_are_shown_kept_and_reported(with_rounds: tuple[Path, str]) -> None:
    out, shown = with_rounds
    results = AuditResults.load(out)
    (held,) = results.rounds.values()
    assert held.rounds == 2
    assert held.scheme == "dmpss"  # the only one named
    assert len(held.controls) == 9
    verdict = judge(results, held.product)
    assert verdict is not None
    assert "AUC of 2 rounds of dmpss" in shown
    assert verdict.lines in shown
    assert verdict.lines.replace("\n", "<br>") in (out / "report.html").read_text()


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
