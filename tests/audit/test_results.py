import csv
import json
from pathlib import Path

import numpy as np
import pytest
from made_up_results import made_up

from midpoint.audit.certifying import certificate
from midpoint.audit.collecting import _root_mean
from midpoint.audit.comparison import changes, differences
from midpoint.audit.paper import PAPER, paper_numbers
from midpoint.audit.results import AuditResults
from midpoint.errors import MidpointError
from midpoint.wire import Disclosure, FeatureNames, RatingScale

COLUMNS = "dataset,feature,scheme,metric,attack,value,low,high,folds,seed"


def told(scheme: str = "mp", feature: str = "gender", bits: int | None = None) -> Disclosure:
    rows = ((0, 0),)
    return Disclosure(
        scheme=scheme,
        features=(FeatureNames(name=feature, categories=("F", "M")),),
        scale=RatingScale(low=1, high=5, levels=(1, 3, 5)),
        items=("a",),
        offset=rows if scheme in {"mp", "mpss"} else None,
        reveal=rows if scheme == "mpss" else None,
        bits=bits,
    )


def test_the_table_has_the_agreed_columns(tmp_path: Path) -> None:
    results = made_up()
    results.save(tmp_path)
    text = (tmp_path / "results.csv").read_text()
    assert text.splitlines()[0] == COLUMNS
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == len(results.rows)
    assert [float(row["value"]) for row in rows] == [row.value for row in results.rows]
    plain = json.loads((tmp_path / "results.json").read_text())["rows"]
    assert [list(row) for row in plain] == [COLUMNS.split(",")] * len(rows)


def test_results_come_back_from_disk(tmp_path: Path) -> None:
    results = made_up()
    results.save(tmp_path)
    assert AuditResults.load(tmp_path) == results
    assert AuditResults.load(tmp_path) != made_up(seed=1)


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="holds no finished audit"):
        AuditResults.load(tmp_path)
    made_up().save(tmp_path)
    path = tmp_path / "results.json"
    whole = path.read_text()
    path.write_text(whole[:-40])
    with pytest.raises(MidpointError, match="is damaged"):
        AuditResults.load(tmp_path)
    path.write_text(whole.replace('"format": 1', '"format": 7'))
    with pytest.raises(MidpointError, match="has format 7"):
        AuditResults.load(tmp_path)


def test_the_strongest_is_the_farthest_from_one_half_on_either_side() -> None:
    low = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.4, "nb": 0.56}})
    strongest = low.strongest("dmp")
    assert strongest is not None
    assert (strongest.attack, strongest.value) == ("lr", 0.4)
    assert low.strongest("mp") is None


def test_cost_is_against_the_best_that_raw_ratings_give() -> None:
    results = made_up()
    assert results.cost("no", "rmse_blind") == pytest.approx(1.0 / 0.98 - 1)
    assert results.cost("dmpss") == pytest.approx(0.02)
    assert results.cost("absent") is None


def test_the_error_and_its_interval_follow_their_formula() -> None:
    rng = np.random.default_rng(0)
    count = rng.integers(1, 20, 400)
    errors = [rng.normal(0, rng.uniform(0.5, 1.5), n) for n in count]
    squares = np.array([np.square(one).sum() for one in errors])
    value, low, high = _root_mean(squares, count)
    assert value == pytest.approx(np.sqrt(np.square(np.concatenate(errors)).mean()))
    drawn = rng.integers(0, 400, (2000, 400))
    spread = np.sqrt(squares[drawn].sum(axis=1) / count[drawn].sum(axis=1)).std()
    assert (high - low) / 2 == pytest.approx(1.96 * spread, rel=0.1)


def test_changes_between_audits_are_told_from_noise() -> None:
    before = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.60, "nb": 0.5}})
    after = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.52, "nb": 0.51}, "mp": {"lr": 0.9}})
    found = {(c.scheme, c.metric, c.attack): c for c in changes(before, after)}
    assert found["dmp", "auc", "lr"].beyond_chance
    assert not found["dmp", "auc", "nb"].beyond_chance
    assert not found["no", "rmse_blind", ""].beyond_chance
    assert found["mp", "auc", "lr"].before is None
    assert found["mp", "auc", "lr"].beyond_chance
    assert list(differences(before, after)) == []
    assert list(differences(before, made_up(seed=4))) == ["They differ in seed: 0, 4"]


def test_a_certificate_says_what_was_measured() -> None:
    disclosure = told("mp")
    made = certificate(made_up(), disclosure, auditor="me", key="0" * 64, time=7)
    assert made.disclosure == disclosure.digest
    assert made.data == "d" * 64
    assert (made.attack, made.auc, made.null_low) == ("fraction", 1_000_000, 470_000)
    assert made.auc_low <= made.auc <= made.auc_high
    assert made.rmse_cost == pytest.approx(9_800, abs=1)


def test_a_certificate_is_refused_where_nothing_was_measured() -> None:
    with pytest.raises(MidpointError, match="about gender, the disclosure about age"):
        certificate(made_up(), told(feature="age"), auditor="me", key="0" * 64, time=7)
    with pytest.raises(MidpointError, match="did not try 'mpss'"):
        certificate(made_up(), told("mpss"), auditor="me", key="0" * 64, time=7)
    with pytest.raises(MidpointError, match="with bits 4"):
        certificate(made_up(), told(bits=4), auditor="me", key="0" * 64, time=7)
    other = made_up(categories=("M", "F"))
    with pytest.raises(MidpointError, match="categories are M, F"):
        certificate(other, told(), auditor="me", key="0" * 64, time=7)


def test_the_papers_numbers_are_all_there() -> None:
    assert len(PAPER) == 5
    assert {len(schemes) for schemes in PAPER.values()} == {10}
    for schemes in PAPER.values():
        for found in schemes.values():
            assert all(0.5 <= one <= 1 for one in found[:4] if one is not None)
    assert PAPER["movielens-1m", "gender"]["no"].lr == 0.841
    assert PAPER["flixster", "gender"]["no"].svm is None
    like = paper_numbers("movielens-100k", "gender")
    assert like is not None
    assert like[0] == "movielens-1m, gender"
    assert paper_numbers("young-people", "gender") is None
