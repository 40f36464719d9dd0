"""`midpoint audit --curves --rounds`: what is added to an audit on request."""

import csv
from pathlib import Path

import pytest
from small_model import run

from midpoint.audit.transcript_results import TranscriptResults

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
    schemes = {row["scheme"] for row in rows}
    assert schemes == {
        name for base in ("no", "dmpss") for name in (base, *(f"{base}:share={n}" for n in STEPS))
    }
    assert "share=0.2" not in shown
    assert "Privacy by the number of ratings" in (out / "report.html").read_text()


def test_rounds_are_shown_kept_and_reported(audited: tuple[Path, str]) -> None:
    out, shown = audited
    found = TranscriptResults.load(out)
    assert found is not None
    assert found.rounds == 2
    assert found.folds == 2
    assert found.sentence in shown
    assert found.sentence in (out / "report.html").read_text()
