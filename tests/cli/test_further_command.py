"""`midpoint audit --curves --rounds`: what is added to an audit on request."""

import csv
from pathlib import Path

import pytest

from midpoint.audit.rounds.results import TranscriptResults
from midpoint.cli.options.audit_extras import named_scheme
from midpoint.errors import MidpointError
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
