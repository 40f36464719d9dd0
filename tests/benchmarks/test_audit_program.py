"""The program that runs full audits, on a few people."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.audits import audit
from benchmarks.audits.bars import Clock
from benchmarks.audits.cases import CASES, Case
from benchmarks.measuring import measure
from midpoint.audit.run.sources import code_digest
from tests.support.audits.made_up_results import made_up


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    for module in (audit, measure):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(audit, "IMAGES", tmp_path / "images")
    monkeypatch.setattr(measure, "_shown", [])
    return audit


@pytest.mark.slow
def test_what_is_kept_says_which_code_and_versions_made_it(program: Any, tmp_path: Path) -> None:
    clock = Clock("a small audit", 60)
    case = Case("simulated-tiny", "gender", (), ("mp",), ("lr",), clock=clock)
    program.run("tiny", case, 1, 2, tmp_path, "tiny")
    kept = json.loads((tmp_path / "results" / "audit-tiny.json").read_text())
    assert kept["code"] == code_digest()
    named = {"python", "midpoint", "numpy", "scipy", "scikit-learn", "lightgbm"}
    assert named <= set(kept["versions"])
    (bar,) = kept["bars"]
    assert bar["what"] == "a small audit, by the clock"
    assert bar["met"]
    assert kept["wall_seconds"] > 0
    assert [len(table["rows"]) for table in kept["tables"]] == [1]
    assert all((tmp_path / "images" / one["file"]).exists() for one in kept["pictures"])


def test_only_what_takes_long_has_fewer_folds() -> None:
    folds = {name: case.folds for name, case in CASES.items()}
    few = {name for name, count in folds.items() if count < 10 and not name.endswith("-default")}
    assert few == {
        "ml-100k-gender-quick",
        "ml-100k-gender-outsiders-rounds",
        "ml-1m-gender-liked-outsiders",
        "ml-1m-gender-outsiders-budgets",
        "ml-1m-gender-panels",
        "ml-1m-gender-views-outsiders",
        "simulated-outsiders",
        "simulated-panels",
    }
    assert CASES["ml-1m-gender-paper"].clock == Clock("the paper's attackers alone", 10)


def test_section_7_keeps_table_1_and_what_is_withheld(program: Any) -> None:
    areas = {"no": {"lr": 0.83, "lse": 0.8}, "mpss": {"lr": 0.5, "lse": 0.6}}
    kept = program.section_7(made_up(areas, dataset="movielens-1m"))
    assert kept["table_1"]["here"]["users"] == 60
    assert kept["table_1"]["here"]["user_skew"] == "F:M 1:2.5"
    assert kept["table_1"]["paper"]["users"] == "6K"
    median = next(one for one in kept["withheld"] if one["decile"] == 5)
    assert (median["scheme"], median["paper"], median["here"]) == ("mpss", 0.23, 0.25)
    assert kept["withheld_deciles"] == {"mpss": [k / 20 for k in range(11)]}
    read = {(one["scheme"], one["what"]): one for one in kept["beside_the_paper"]}
    assert read["mpss", "lr"]["difference"] == pytest.approx(0.5 - 0.542)
    assert json.loads(json.dumps(kept)) is not None
