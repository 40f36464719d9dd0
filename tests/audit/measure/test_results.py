import csv
import json
from pathlib import Path

import pytest

from midpoint.audit.measure.findings import Band
from midpoint.audit.measure.results import AuditResults
from midpoint.errors import MidpointError
from tests.support.audits.made_up_judges import judged
from tests.support.audits.made_up_results import made_up
from tests.support.audits.made_up_rounds import made_up_rounds

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
    rounds = made_up_rounds()
    rounds.save(tmp_path)
    assert AuditResults.load(tmp_path) == rounds


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="holds no finished audit"):
        AuditResults.load(tmp_path)
    made_up().save(tmp_path)
    path = tmp_path / "results.json"
    whole = path.read_text()
    path.write_text(whole[:-40])
    with pytest.raises(MidpointError, match="is damaged"):
        AuditResults.load(tmp_path)
    path.write_text(whole.replace('"format": 3', '"format": 7'))
    with pytest.raises(MidpointError, match="has format 7"):
        AuditResults.load(tmp_path)


def test_the_strongest_is_the_farthest_from_one_half_on_either_side() -> None:
    low = made_up({"no": {"lr": 0.8}, "dmp": {"lr": 0.4, "nb": 0.56}})
    strongest = low.strongest("dmp")
    assert strongest is not None
    assert (strongest.attack, strongest.value) == ("lr", 0.4)
    assert low.strongest("mp") is None


@pytest.mark.parametrize("category", ["25", "[18, 25)"])
def test_whose_an_attacker_is_does_not_depend_on_how_categories_are_called(category: str) -> None:
    """A range of ages may begin with a bracket, and a certificate has to say against whom."""
    results = judged(0.6, single=0.55)
    for attack in ("a", "judge:panel"):
        assert results.adversary_of(f"{attack}[{category}]") == "panel"
    assert results.adversary_of(f"nobody[{category}]") == ""


def test_cost_is_against_the_best_that_raw_ratings_give() -> None:
    results = made_up()
    assert results.cost("dmpss") == pytest.approx(0.02)
    best = [row._replace(value=0.9) if row[2:4] == ("no", "rmse_inferred") else row
            for row in results.rows]  # fmt: skip
    other = made_up(rows=tuple(best))
    assert other.cost("dmpss") == pytest.approx(1.02 * 0.98 / 0.9 - 1)
    assert other.cost("no") == 0  # though its local error is 0.98
    assert results.cost("absent") is None


def test_a_band_is_kept_as_prescribed_and_judged_by_a_wider_one() -> None:
    band = Band(0.46, 0.54, 3, 0.2)
    assert (band.judged_low, band.judged_high) == pytest.approx((0.4434, 0.5566), abs=1e-4)
    assert band.holds(0.55)
    assert not band.holds_closely(0.55)
    assert not band.holds(0.56)
