"""The time of an audit by some of its folds: all that the tasks took, and nothing twice."""

from pathlib import Path

import pytest

from benchmarks.audits import audit_time as program
from midpoint.audit.measure.collecting import collect
from midpoint.audit.run.assignment import choose_work
from midpoint.audit.run.folds import audited_people
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.store import Store
from midpoint.audit.run.tasks.auditor import Auditor
from midpoint.data import PRESETS, simulate


def test_the_folds_of_an_audit_take_together_what_it_says_that_it_took(tmp_path: Path) -> None:
    plan = Plan(("gender",), folds=2)
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    people, feature = audited_people(ratings, plan)
    work = choose_work("no,mpss", "lr,adaptive-lr-mask", people.scale)
    store = Store(tmp_path / "audit")
    store.open(plan, {"digest": ratings.digest, "feature": feature.name}, work)
    auditor = Auditor(people, plan, work, store)
    booked = [one for fold in range(plan.folds) for one in program.run(auditor, fold)]
    whole = collect(store, plan, people).seconds
    assert sum(one.seconds for one in booked) == pytest.approx(sum(whole.values()))
    assert {one.scheme for one in booked} == {program.SHARED, "no", "mpss"}
    assert {one.step for one in booked} == whole.keys()
