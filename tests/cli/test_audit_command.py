import csv
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from midpoint.audit import Progress
from midpoint.audit.measure.results import AuditResults, Row
from midpoint.audit.report.verdict import judge
from midpoint.cli.app import app
from midpoint.cli.options import audit_extras as further
from midpoint.errors import MidpointError
from midpoint.wire import Certificate, Disclosure, Signed
from tests.support.small_model import run

pytestmark = pytest.mark.slow  # whole audits and drawings

FEW = ("--schemes", "mpr,cmpss", "--attacks", "lse,likelihood", "--folds", 2, "--jobs", 1)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("audit") / "out"
    shown = run("audit", "simulated-tiny", "--feature", "gender", *FEW, "--out", out)
    return out, shown


def test_an_audit_writes_its_results_and_shows_them(audited: tuple[Path, str]) -> None:
    out, shown = audited
    rows = list(csv.DictReader((out / "results.csv").read_text().splitlines()))
    assert {row["scheme"] for row in rows} == {"no", "mpr", "cmpss"}
    assert tuple(rows[0]) == Row._fields
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    assert "Of two people, the best attack (" in shown.rpartition("cmpss: ")[2]
    assert "chance band" in shown
    assert AuditResults.load(out).seed == 0


def test_other_options_are_refused_for_the_same_directory(audited: tuple[Path, str]) -> None:
    words = ["audit", "simulated-tiny", "--feature", "gender", "--seed", "5", *map(str, FEW)]
    result = CliRunner().invoke(app, [*words, "--out", str(audited[0])])
    assert isinstance(result.exception, MidpointError)
    assert "was made with other" in str(result.exception)


def test_a_curve_that_is_not_there_is_told_before_anything_is_run(tmp_path: Path) -> None:
    words = ["audit", "simulated-tiny", "--feature", "gender", "--curves", "alpha,alfa"]
    result = CliRunner().invoke(app, [*words, *map(str, FEW), "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, MidpointError)
    assert "no curve over 'alfa'" in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_progress_is_told_in_a_log_where_no_bar_can_be_drawn(
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


def test_compare_shows_what_changed(audited: tuple[Path, str], tmp_path: Path) -> None:
    results = AuditResults.load(audited[0])
    moved = [
        row._replace(value=0.99, low=0.98, high=1.0)
        if (row.scheme, row.attack) == ("cmpss", "lse")
        else row
        for row in results.rows
    ]
    replace(results, rows=tuple(moved), seed=9).save(tmp_path / "other")
    shown = run("compare", audited[0], tmp_path / "other")
    assert "They differ in seed: 0, 9" in shown
    assert "as two audits of different people, since they differ in seed" in shown
    assert "0.9900" in shown
    assert "The verdict on cmpss changed" in shown
    found = run("compare", audited[0], tmp_path / "other", "--json")
    assert [(one["scheme"], one["attack"]) for one in found["changes"]] == [("cmpss", "lse")]
    assert [one["scheme"] for one in found["verdicts"]] == ["cmpss"]
    assert found["differences"] == ["They differ in seed: 0, 9"]
    assert not found["paired"]
    same = run("compare", audited[0], audited[0])
    assert "No number changed" in same
    assert "No verdict changed" in same
    every = run("compare", audited[0], audited[0], "--all", "--json")["changes"]
    assert len(every) == len(results.rows) + len(results.costs)
    assert "Compared person by person: the same" in same
    assert {one["metric"] for one in every if not one["paired"]} == {"disclosed_bits"}


@pytest.mark.parametrize("option", ["--schemes", "--attacks"])
def test_an_audit_of_nothing_is_refused(tmp_path: Path, option: str) -> None:
    words = ["audit", "simulated-tiny", "--feature", "gender", option, ""]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, MidpointError)
    assert "is named: name one at least" in str(result.exception)
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def disclosure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("disclosed")
    words = ("--feature", "gender", "--counterparts", "sets", "--out", place / "model")
    run("train", "simulated-tiny", *words)
    run("disclose", place / "model", "--out", place / "told.json")
    return place / "told.json"


def test_certify_signs_what_was_measured(
    audited: tuple[Path, str], disclosure: Path, tmp_path: Path
) -> None:
    out, key = tmp_path / "certificate.json", tmp_path / "key.pem"
    words = ("--disclosure", disclosure, "--key", key, "--out", out, "--auditor", "A. U.")
    shown = run("certify", audited[0], "simulated-tiny", *words)
    assert "A. U. vouches for" in shown
    verdict = judge(AuditResults.load(audited[0]), "cmpss")
    assert verdict is not None
    assert f": {verdict.grade}" in shown
    signed = Signed.parse(out.read_bytes())
    made = signed.open(Certificate)
    assert made.disclosure == Disclosure.parse(disclosure.read_bytes()).digest
    assert signed.is_signed_by(made.key, Certificate)
    assert not signed.is_signed_by("0" * 64, Certificate)
    strongest = AuditResults.load(audited[0]).strongest("cmpss")
    assert strongest is not None
    assert (made.attack, made.auc) == (strongest.attack, round(strongest.value * 1e6))
    run("certify", audited[0], "simulated-tiny", *words)  # by the same key again
    assert Signed.parse(out.read_bytes()).open(Certificate).key == made.key


def other_scheme(content: dict[str, Any]) -> None:
    content["scheme"] = "dmp"
    for name in ("rate", "selection", "base", "taste", "prior"):
        del content[name]


def other_numbers(content: dict[str, Any]) -> None:
    content["rate"][0] = content["rate"][0][::-1]


def other_law(content: dict[str, Any]) -> None:
    content["prior"]["mean"][0][1][0] += 1


@pytest.mark.parametrize(
    ("tamper", "source", "words"),
    [
        (other_scheme, "simulated-tiny", "did not try 'dmp'"),
        (other_numbers, "simulated-tiny", "is not what simulated-tiny gives (rate of"),
        (other_law, "simulated-tiny", "gives (another prior of positions"),
        (lambda _: None, "simulated-ptv", "name the audited data"),
    ],
)
def test_certify_refuses_what_was_not_measured(
    audited: tuple[Path, str],
    disclosure: Path,
    tmp_path: Path,
    tamper: Any,
    source: str,
    words: str,
) -> None:
    other, key, out = (tmp_path / name for name in ("other.json", "key.pem", "out.json"))
    content = json.loads(disclosure.read_bytes())
    tamper(content)
    other.write_text(json.dumps(content))
    given = ["certify", audited[0], source, "--disclosure", other, "--key", key]
    given += ["--out", out, "--auditor", "me"]
    result = CliRunner().invoke(app, [str(word) for word in given])
    assert isinstance(result.exception, MidpointError)
    assert words in str(result.exception)
    assert not out.exists()
    assert not key.exists()
