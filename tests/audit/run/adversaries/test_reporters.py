"""Everyone else's reports teach items beside a panel."""

from dataclasses import replace

import numpy as np

from midpoint.audit.run.adversaries.reporters import collected
from midpoint.audit.run.folds import FoldData
from midpoint.audit.run.plan import Plan
from midpoint.data import Simulation
from midpoint.protocol import LearningProtocol
from tests.support.audits.small_audit import QUICKLY

PLAN = Plan(("gender",), folds=2, seed=3, factorizer=QUICKLY, outsiders=40, panel=60)


def test_people_answer_under_the_one_disclosure_of_a_model(tiny: Simulation) -> None:
    learned, protocol = QUICKLY.fit(tiny.ratings, "gender"), LearningProtocol("dmpss")
    reports = collected(tiny.ratings, ("gender",), learned, protocol, np.random.default_rng(1))
    assert list(reports.disclosures) == [protocol.disclose(learned).digest]
    assert set(reports.answers["disclosure"]) == set(reports.disclosures)
    assert 0 < len(reports) < len(tiny.ratings)


def test_reports_of_everyone_else_teach_items_and_no_category(tiny: Simulation) -> None:
    alone, both = (FoldData.of(tiny.ratings, replace(PLAN, reports=taught), 0)
                   for taught in (False, True))  # fmt: skip
    assert alone.reports is None
    assert both.reports is not None
    people = set(both.reports.answers["person"].unique())
    assert people.isdisjoint(both.training.user_ids.tolist())
    assert people.isdisjoint(both.held_out.user_ids.tolist())
    first, second = alone.fit(alone.training), both.fit(both.training)
    assert second.statistics is not None
    assert int(second.statistics.users.sum()) == 60
    assert not np.allclose(first.vectors, second.vectors)
