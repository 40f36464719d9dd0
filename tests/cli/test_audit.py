import csv
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

from midpoint.audit.measure.findings import Row
from midpoint.audit.measure.results import AuditResults
from midpoint.cli.app import app
from midpoint.cli.audit import show
from midpoint.data import PRESETS, simulate
from midpoint.errors import MidpointError
from tests.support.audits.made_up_results import made_up
from tests.support.models.small_model import SMALL_AUDIT


@pytest.mark.slow  # whole audits
def test_an_audit_writes_its_results_and_shows_them(audited: tuple[Path, str]) -> None:
    out, shown = audited
    rows = list(csv.DictReader((out / "results.csv").read_text().splitlines()))
    assert {row["scheme"] for row in rows} == {"no", "mpr", "cmpss"}
    assert tuple(rows[0]) == Row._fields
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    said = shown.rpartition("cmpss: ")[2]
    assert "the best attack picks the right one" in said.lower()
    assert "the judge (judge:" in said.lower()
    assert "chance band" in shown
    assert AuditResults.load(out).seed == 0


@pytest.mark.slow  # whole audits
def test_other_options_are_refused_for_the_same_directory(audited: tuple[Path, str]) -> None:
    words = [
        "audit",
        "simulated-tiny",
        "--feature",
        "gender",
        "--seed",
        "5",
        *map(str, SMALL_AUDIT),
    ]
    result = CliRunner().invoke(app, [*words, "--out", str(audited[0])])
    assert isinstance(result.exception, MidpointError)
    assert "was made with other" in str(result.exception)


@pytest.mark.slow  # whole audits
def test_people_of_unknown_category_are_left_out_and_counted(tmp_path: Path) -> None:
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    table, people = tmp_path / "ratings.csv", tmp_path / "people.csv"
    pl.DataFrame({"user": ratings.user, "item": ratings.item, "rating": ratings.value}).write_csv(
        table
    )
    gender = ratings.feature("gender")
    names = [gender.categories[code] for code in gender.codes]
    names[:7] = [""] * 7
    pl.DataFrame({"user": range(len(names)), "gender": names}).write_csv(people)
    words = ["audit", str(table), "--users", str(people), "--feature", "gender"]
    options = ["--schemes", "no", "--attacks", "lr", "--folds", "2", "--jobs", "1"]
    result = CliRunner().invoke(
        app, [*words, *options, "--adversary", "clean", "--out", str(tmp_path / "out")]
    )
    assert result.exit_code == 0, result.output
    assert "Left out: 7 people whose gender is not known" in result.output


@pytest.mark.slow  # whole audits
def test_a_curve_that_is_not_there_is_an_error_before_anything_is_run(tmp_path: Path) -> None:
    words = ["audit", "simulated-tiny", "--feature", "gender", "--curves", "alpha,alfa"]
    result = CliRunner().invoke(
        app, [*words, *map(str, SMALL_AUDIT), "--out", str(tmp_path / "out")]
    )
    assert isinstance(result.exception, MidpointError)
    assert "no curve over 'alfa'" in str(result.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow  # whole audits
@pytest.mark.parametrize("option", ["--schemes", "--attacks"])
def test_an_audit_of_nothing_is_refused(tmp_path: Path, option: str) -> None:
    words = ["audit", "simulated-tiny", "--feature", "gender", option, ""]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, MidpointError)
    assert "is named: name one at least" in str(result.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--schemes", "mp"), "schemes"),
        (("--folds", "3"), "folds"),
        (("--at-least", "5"), "at-least"),
        (("--levels", "3"), "levels"),
        (("--quick", "--rounds", "2"), "quick and rounds"),
        (("--given", "all", "--panel", "0.5"), "panel and given"),
        (("--adversary", "outsider"), "adversary"),
        (("--beside", "elsewhere"), "beside"),
    ],
)
def test_what_contradicts_the_papers_setting_is_refused(
    options: tuple[str, ...], named: str, tmp_path: Path
) -> None:
    words = ["audit", "simulated-tiny", "--feature", "gender", "--paper", *options]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, MidpointError)
    assert f"contradicts {named}:" in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_an_audit_without_paper_cannot_stand_beside(tmp_path: Path) -> None:
    made_up().save(tmp_path)
    words = ["audit", "simulated-tiny", "--feature", "gender", "--beside", str(tmp_path)]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, MidpointError)
    assert "one with --paper" in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_the_terminal_says_how_the_model_was_made() -> None:
    fit = {"method": "als", "dimension": 20, "iterations": 15, "regularization": "learned"}
    plan = {"folds": 10, "share": 0.7, "factorizer": {**fit, "biases": "shrunken"}}
    text = StringIO()
    show(Console(file=text, width=300), made_up(model=plan))
    assert "alternating least squares, 20 latent dimensions, with a mean" in text.getvalue()
    assert "shrunken by empirical Bayes" in text.getvalue()


def test_the_terminal_marks_what_is_read_without_bold() -> None:
    log = Console(file=StringIO(), width=80)
    show(log, made_up())
    shown = log.file.getvalue()  # type: ignore[attr-defined]
    assert "0.560*" in shown
    assert "0.480*" not in shown
    assert "mp: AUC 1.000 (fraction): the feature is in plain sight" in shown
    assert "no: strongest" not in shown


@pytest.mark.slow  # a whole audit
def test_what_another_tool_made_is_attacked_beside_raw_ratings(tmp_path: Path) -> None:
    ratings = simulate(PRESETS["simulated-tiny"], seed=0).ratings
    draws = [tmp_path / "first.csv", tmp_path / "second.csv"]
    for shift, path in enumerate(draws):  # everybody gets the ratings of her neighbour
        user = ratings.user_ids[(ratings.user + shift + 1) % ratings.n_users].tolist()
        table = ratings.to_polars().with_columns(user=pl.Series(user))
        table.with_columns(pl.col("rating") + 0.5).write_csv(path)
    words = ["audit", "simulated-tiny", "--feature", "gender", "--attacks", "adaptive-lr-items"]
    named = [word for path in draws for word in ("--protected", str(path))]
    out = tmp_path / "out"
    more = ["--folds", "2", "--jobs", "1", "--out", str(out)]
    result = CliRunner().invoke(app, [*words, *named, *more], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    results = AuditResults.load(out)
    assert set(results.scheme_names()) == {"no", "protected"}
    protected, raw = (results.get(name, "auc", "adaptive-lr-items") for name in ("protected", "no"))
    assert raw is not None
    assert protected is not None
    assert raw.value > 0.75
    assert protected.value < 0.65
    withheld = results.get("protected", "withheld")
    assert withheld is not None
    assert 0 < withheld.value < 1  # what the tool made up is not counted
    assert "protected: " in result.output
    assert "protected" in (out / "report.html").read_text()
