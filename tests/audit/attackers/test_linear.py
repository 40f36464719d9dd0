"""What the panel shows under its own disclosure, and what that is worth elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.attackers.auc import auc
from midpoint.audit.attackers.linear import panel_directions
from midpoint.audit.attackers.view import Panel, View
from midpoint.audit.run.adversaries.catalogue import OUTSIDER, PUBLISHED
from midpoint.audit.run.adversaries.outsiders import PublishedViews, SplitFold
from midpoint.audit.run.folds import FoldData, learn
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.views import NOBODY, ReportViews
from midpoint.data import Simulation
from midpoint.protocol import LearningProtocol
from tests.support.audits.seen import LEAKY, Seen, codes, some
from tests.support.audits.small_audit import QUICKLY

FEW = np.arange(40)
"""Outsiders: too few to learn a weight for each title from."""


@pytest.fixture(scope="module")
def seen() -> Seen:
    gender = replace(LEAKY.features[0], bias_sd=0.0, selection_sd=0.3)
    weak = replace(LEAKY, features=(gender,), users=800, items=150, ratings=24_000)
    return Seen(weak, seed=5)


def read(seen: Seen, attack: str, labels: NDArray[np.int64]) -> float:
    """Return what an attacker reads that knows a few outsiders, and the panel by these labels."""
    panel = Panel(lambda: [seen.view(seen.training, "no")], labels)
    view, category = replace(seen.view(seen.tried, "no"), panel=panel), codes(seen.tried)
    others = np.arange(len(FEW), view.n_users)
    attacker = ATTACKERS[attack]()
    attacker.fit([some(view, FEW)], category[FEW], seed=1)
    return auc(attacker.score(some(view, others)), category[others])


def test_the_panel_teaches_directions_and_outsiders_what_they_are_worth(seen: Seen) -> None:
    labels = codes(seen.training)
    found = read(seen, "adaptive-lr-panel", labels)
    assert found > read(seen, "adaptive-lr-mask", labels) + 0.05  # by outsiders alone
    # The sign is theirs to say: a panel of flipped labels teaches the same.
    assert read(seen, "adaptive-lr-panel", 1 - labels) == pytest.approx(found, abs=0.01)
    # The control: labels dealt out at random teach nothing.
    dealt = np.random.default_rng(2).permutation(labels)
    assert read(seen, "adaptive-lr-panel", dealt) < found - 0.2


def test_without_a_panel_there_is_nothing_to_read(seen: Seen) -> None:
    assert not panel_directions(seen.view(seen.tried, "no")).any()


PLAN = Plan(("gender",), folds=2, seed=3, draws=2, factorizer=QUICKLY, outsiders=30, panel=0.6)


def people_of(view: View) -> int:
    assert view.panel is not None
    drawn = view.panel.draw()
    assert {one.disclosure.digest for one in drawn} == {view.disclosure.digest}
    assert {one.n_users for one in drawn} == {len(view.panel.category)}
    return len(view.panel.category)


def test_each_disclosure_has_its_own_panel_and_nobody_is_judged_by_herself(
    tiny: Simulation,
) -> None:
    split, protocol = SplitFold(FoldData.of(tiny.ratings, PLAN, 0)), LearningProtocol("dmpss")
    panel = split.learners(PUBLISHED)
    crossed = ReportViews(panel, "dmpss", protocol, learn(panel))
    assert people_of(crossed.held_out) == 60
    first, *_ = crossed.training()
    assert [people_of(part) for part in first.parts] == [40] * 3
    judged, *_ = first.nested_folds
    assert people_of(judged.judge) == 40
    assert [people_of(part) for part in judged.learn[0].parts] == [20] * 2
    for part, view in enumerate(first.parts):
        assert view.panel is not None
        others = panel.training_category[panel.part != part]
        assert np.sort(view.panel.category).tolist() == np.sort(others).tolist()
    assert crossed.panel(NOBODY) is crossed.panel(NOBODY)  # learned from once

    learned = split.learn()
    outside = PublishedViews.of(split.learners(OUTSIDER), "dmpss", protocol, learned, panel)
    assert people_of(outside.held_out) == 60
    assert {people_of(part) for part in outside.training()[0].parts} == {60}


def test_the_panels_own_people_do_not_show_a_sign(tiny: Simulation) -> None:
    """Among them chance was taken out of both sides, so what is right looks flipped."""
    split, protocol = SplitFold(FoldData.of(tiny.ratings, PLAN, 0)), LearningProtocol("dmpss")
    panel, learned = split.learners(PUBLISHED), split.learn()
    published = PublishedViews.of(panel, "dmpss", protocol, learned)
    outside = PublishedViews.of(split.learners(OUTSIDER), "dmpss", protocol, learned, panel)
    assert published.held_out.panel is None
    assert not any(one.shows_sign for one in published.nested_folds())
    assert all(one.shows_sign for one in outside.nested_folds())
