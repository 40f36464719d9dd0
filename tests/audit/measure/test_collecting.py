"""What was stored becomes numbers: privacy, costs, and rows that say both."""

import numpy as np
import pytest

from midpoint.audit.measure.collecting import collect
from midpoint.audit.measure.costs import cost, deciles, ndcg_cost, ranking, withheld
from midpoint.audit.measure.privacy import Privacy
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.measure.stored import Stored, by_adversary
from midpoint.audit.run.folds import audited_people
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.store import Store
from midpoint.data import Simulation
from tests.support.audits.small_audit import QUICKLY, SMALL, small_audit

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tiny: Simulation, tmp_path_factory: pytest.TempPathFactory) -> tuple[AuditResults, Stored]:
    out = tmp_path_factory.mktemp("collected")
    results = small_audit(tiny.ratings, out, schemes=["dmpss"])
    plan = Plan(("gender",), folds=2, factorizer=QUICKLY)
    people, _ = audited_people(tiny.ratings, plan)
    return results, Stored(Store(out), plan, people)


def test_what_is_stored_is_collected_again_as_it_was(made: tuple[AuditResults, Stored]) -> None:
    results, stored = made
    assert collect(stored.store, stored.plan, stored.people).rows == results.rows
    assert stored.attacks("dmpss") == list(SMALL)
    assert stored.scores("dmpss", "items").shape == (len(stored.category), 1)
    kinds = stored.store.manifest()["attackers"]
    assert by_adversary(kinds) == {"clean": ["items"], "panel": ["adaptive-items", "chance"]}


def test_privacy_is_that_of_the_rows(made: tuple[AuditResults, Stored]) -> None:
    results, stored = made
    privacy = Privacy(stored)
    for attack, area in privacy.areas("dmpss"):
        row = results.get("dmpss", "auc", attack)
        assert row is not None
        assert row.value == area.value
    assert privacy.band("dmpss") == results.bands["dmpss"]
    assert privacy.control("items", "no").reads
    assert not privacy.control("chance", "no").reads
    counts = np.array(privacy.histogram("no", "items").counts)
    assert counts.sum() == len(stored.category)


def test_costs_are_counted_from_raw_ratings(made: tuple[AuditResults, Stored]) -> None:
    results, stored = made
    assert cost(stored, "dmpss") == results.costs["dmpss"]
    assert ndcg_cost(stored, "dmpss") == results.ndcg_costs["dmpss"]
    assert not withheld(stored, "no").any()
    assert withheld(stored, "dmpss").mean() > 0
    assert deciles(stored, "dmpss") == results.withheld["dmpss"]


def test_lists_are_measured_person_by_person(made: tuple[AuditResults, Stored]) -> None:
    results, stored = made
    measured = {metric: numbers for metric, *numbers in ranking(stored, "dmpss")}
    assert list(measured) == ["ndcg_at_10", "recall_at_20", "mrr", "coverage"]
    for metric, (value, low, high) in measured.items():
        assert 0 <= low <= value <= high <= 1
        row = results.get("dmpss", metric)
        assert row is not None
        assert row.value == value
    ndcg = np.concatenate([one["ndcg"] for one in stored.every("dmpss", "accuracy")])
    assert measured["ndcg_at_10"][0] == pytest.approx(np.nanmean(ndcg))
    assert 0 < measured["coverage"][0] <= 1
