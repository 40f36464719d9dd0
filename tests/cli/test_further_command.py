"""`midpoint audit --curves --rounds`: what is added to an audit on request."""

import csv
from pathlib import Path

import pytest

from midpoint.audit import AuditResults
from midpoint.audit.report.verdict import judge
from tests.support.small_model import run

pytestmark = pytest.mark.slow  # whole audits and drawings

FEW = ("--schemes", "dmpss", "--attacks", "lse", "--folds", 2, "--jobs", 1, "--quick")
STEPS = (0.05, 0.2, 0.5)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("further") / "out"
    more = ("--curves", "share", "--rounds", 2)
    shown = run("audit", "simulated-tiny", "--feature", "gender", *FEW, *more, "--out", out)
    return out, shown


def test_points_of_curves_are_in_the_results_and_not_in_the_table(
    audited: tuple[Path, str],
) -> None:
    out, shown = audited
    rows = csv.DictReader((out / "results.csv").read_text().splitlines())
    schemes = {row["scheme"] for row in rows if "rounds" not in row["scheme"]}
    assert schemes == {
        name for base in ("no", "dmpss") for name in (base, *(f"{base}:share={n}" for n in STEPS))
    }
    assert "share=0.2" not in shown
    assert "Privacy by the number of ratings" in (out / "report.html").read_text()


def test_rounds_are_shown_kept_and_reported(audited: tuple[Path, str]) -> None:
    out, shown = audited
    results = AuditResults.load(out)
    (held,) = results.rounds.values()
    assert held.rounds == 2
    assert held.scheme == "dmpss"  # the only one named
    assert len(held.controls) == 8
    verdict = judge(results, held.product)
    assert verdict is not None
    assert "AUC of 2 rounds of dmpss" in shown
    assert verdict.sentence in shown
    assert verdict.sentence in (out / "report.html").read_text()
