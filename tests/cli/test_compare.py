from dataclasses import replace
from pathlib import Path

import pytest

from midpoint.audit.measure.findings import COVERAGE, SHARPNESS
from midpoint.audit.measure.results import AuditResults
from tests.support.audits.made_up_results import made_up
from tests.support.audits.made_up_rounds import made_up_rounds
from tests.support.models.small_model import run


@pytest.mark.slow  # a whole audit
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
    costs = len(results.costs) + len(results.ndcg_costs)
    assert len(every) == len(results.rows) + costs
    assert "Compared person by person: the same" in same
    # How sharp a judge is has an interval, but nobody's own part in it.
    alone = {one["metric"] for one in every if not one["paired"]}
    assert alone == {"disclosed_bits", COVERAGE, *SHARPNESS}


def test_compare_folds_what_is_in_one_audit_and_shows_rounds(tmp_path: Path) -> None:
    many, few = made_up(), made_up({"no": {"lr": 0.83}, "dmpss": {"lr": 0.48}})
    many.save(tmp_path / "many")
    few.save(tmp_path / "few")
    shown = run("compare", tmp_path / "many", tmp_path / "few")
    assert "numbers of scheme mp, adaptive-lr-items, fraction" in shown
    assert "gone" not in shown.partition("Only before")[2]
    assert "The verdict on mp is gone: it was the feature is in plain sight (1.000" in shown
    assert "The verdict on mp is new" in run("compare", tmp_path / "few", tmp_path / "many")
    assert "gone" in run("compare", tmp_path / "many", tmp_path / "few", "--all")
    made_up_rounds().save(tmp_path / "many")
    alone = run("compare", tmp_path / "many", tmp_path / "few").partition("Only before")[2]
    assert "scheme dmpss:rounds=4," in alone
    made_up_rounds(product=0.99).save(tmp_path / "few")
    shown = run("compare", tmp_path / "many", tmp_path / "few")
    assert "The verdict on dmpss:rounds=4 changed: at chance" in shown
    found = run("compare", tmp_path / "many", tmp_path / "few", "--json")
    assert {one["scheme"] for one in found["changes"]} == {"dmpss:rounds=4"}
