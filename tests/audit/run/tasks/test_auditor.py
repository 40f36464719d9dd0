"""A unit stores its results with the time they took, and a second time does nothing."""

from pathlib import Path

import pytest

from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.run.adversaries.catalogue import OUTSIDER
from midpoint.audit.run.folds import audited_people
from midpoint.audit.run.plan import Plan, read_scheme
from midpoint.audit.run.store import Store
from midpoint.audit.run.tasks.auditor import Auditor
from midpoint.audit.run.work import Work
from midpoint.data import Simulation
from tests.support.audits.small_audit import QUICKLY

pytestmark = pytest.mark.slow

SCHEMES = {"no": read_scheme("no"), "dmpss": read_scheme("dmpss")}
MAKERS = {"nb": ATTACKERS["nb"], "adaptive-lr-mask": ATTACKERS["adaptive-lr-mask"]}


@pytest.fixture
def auditor(tiny: Simulation, tmp_path: Path) -> Auditor:
    plan = Plan(("gender",), folds=2, seed=3, draws=2, outsiders=0.4, factorizer=QUICKLY)
    people, _ = audited_people(tiny.ratings, plan)
    work = Work.of(SCHEMES, MAKERS) | Work.against(OUTSIDER, SCHEMES, MAKERS)
    return Auditor(people, plan, work, Store(tmp_path))


def test_the_units_of_a_fold_store_every_result_once(auditor: Auditor) -> None:
    for unit in auditor.tasks.every(1):
        wanted = auditor.tasks.of(unit)
        assert list(auditor.run(unit)) == wanted
        assert list(auditor.run(unit)) == []
        for task in wanted:
            stored = auditor.store.load(task.fold, *task.names)
            assert float(stored["wall_seconds"]) >= 0
            assert float(stored["shared_seconds"]) >= 0


def test_outsiders_wait_for_what_the_panel_apart_taught_alone(auditor: Auditor) -> None:
    _, split = auditor.tasks.first(0)
    for unit in (split, *auditor.tasks.after(split)):
        assert list(auditor.run(unit)) == auditor.tasks.of(unit)
