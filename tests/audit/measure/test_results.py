import csv
import json
from pathlib import Path

import numpy as np
import pytest

from midpoint.audit.measure.results import AuditResults, Band, Cost
from midpoint.audit.measure.statistics import root_mean
from midpoint.audit.report.comparison import changes, differences, turns
from midpoint.audit.report.paper import PAPER, paper_numbers
from midpoint.errors import MidpointError
from tests.support.made_up_results import made_up

COLUMNS = "dataset,feature,scheme,metric,attack,value,low,high,folds,seed"


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


def test_older_results_are_read_too(tmp_path: Path) -> None:
    """They have no versions, and a cost of raw ratings against their own best."""
    raw, other = Cost(0.04, 0.03, 0.05), Cost(0.02, 0.01, 0.03)
    made_up(costs={"no": raw, "dmpss": other}, versions={"numpy": "2"}).save(tmp_path)
    path = tmp_path / "results.json"
    content = json.loads(path.read_text())
    del content["versions"]
    path.write_text(json.dumps(content))
    assert AuditResults.load(tmp_path) == made_up(costs={"dmpss": other})


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
    assert results.cost("dmpss") == pytest.approx(0.02)
    best = [row._replace(value=0.9) if row[2:4] == ("no", "rmse_inferred") else row
            for row in results.rows]  # fmt: skip
    other = made_up(rows=tuple(best))
    assert other.cost("dmpss") == pytest.approx(1.02 * 0.98 / 0.9 - 1)
    assert other.cost("no") == 0  # though its local error is 0.98
    assert results.cost("absent") is None


def test_the_error_and_its_interval_follow_their_formula() -> None:
    rng = np.random.default_rng(0)
    count = rng.integers(1, 20, 400)
    errors = [rng.normal(0, rng.uniform(0.5, 1.5), n) for n in count]
    squares = np.array([np.square(one).sum() for one in errors])
    value, low, high = root_mean(squares, count)
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


def test_a_difference_is_judged_by_both_standard_errors() -> None:
    """Intervals of 0.02 on either side overlap until 0.04; the difference has 0.028."""
    before = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.60}})
    for value, expected in ((0.574, False), (0.570, True)):
        after = made_up({"no": {"lr": 0.8}, "dmp": {"lr": value}})
        found = {(c.scheme, c.attack): c.beyond_chance for c in changes(before, after)}
        assert found["dmp", "lr"] == expected


def test_costs_are_compared_by_their_own_intervals() -> None:
    def at(cost: float) -> AuditResults:
        return made_up(costs={"dmpss": Cost(cost, cost - 0.001, cost + 0.001)})

    found = {c.metric: c for c in changes(at(0.010), at(0.013)) if c.scheme == "dmpss"}
    assert found["cost"].beyond_chance
    assert not found["rmse_local"].beyond_chance  # the same in both here
    assert not any(c.beyond_chance for c in changes(at(0.010), at(0.0112)))


def test_verdicts_that_changed_are_named() -> None:
    before = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.60}, "mp": {"lr": 0.7}})
    after = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.51}, "mp": {"lr": 0.71}})
    (turn,) = turns(before, after)
    assert turn[:3] == ("dmp", "a leak", "no more than chance")
    assert turn.before_by == "0.600, judged by 0.458-0.542, the strongest of 1"
    alone = made_up({"no": {"lr": 0.8}})
    assert [one[:2] for one in turns(alone, after)] == [("dmp", None), ("mp", None)]
    assert [one.after for one in turns(after, alone)] == [None, None]
    assert list(turns(before, before)) == []


def test_a_band_is_kept_as_prescribed_and_judged_by_a_wider_one() -> None:
    band = Band(0.46, 0.54, 3, 0.2)
    assert (band.judged_low, band.judged_high) == pytest.approx((0.4434, 0.5566), abs=1e-4)
    assert band.holds(0.55)
    assert not band.holds_closely(0.55)
    assert not band.holds(0.56)


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
