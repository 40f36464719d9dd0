"""Panel, outsiders and the people attacked: apart, and under one disclosure."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.attackers.auc import auc
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.adversaries.catalogue import OUTSIDER, PANEL, PUBLISHED, choose_adversaries
from midpoint.audit.run.adversaries.judge import Stacked
from midpoint.audit.run.adversaries.outsiders import (
    PublishedRounds,
    PublishedViews,
    SplitFold,
    require_panel,
    require_split,
)
from midpoint.audit.run.adversaries.panel_draw import sizes
from midpoint.audit.run.folds import FoldData, learn
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.round_views import RoundViews, Versions
from midpoint.audit.run.views import FoldViews, ReportViews
from midpoint.data import Scale, Simulation, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from tests.support.audits.small_audit import QUICKLY

PLAN = Plan(("gender",), folds=2, seed=3, draws=2, factorizer=QUICKLY, outsiders=30, panel=0.6)


@pytest.fixture(scope="module")
def split(tiny: Simulation) -> SplitFold:
    return SplitFold(FoldData.of(tiny.ratings, PLAN, 0))


def test_nobody_is_in_two(split: SplitFold) -> None:
    fold = split.fold
    sets = [set(one.user_ids) for one in (split.panel, split.outsiders, fold.held_out)]
    assert [len(one) for one in sets] == [60, 30, 100]
    assert len(set.union(*sets)) == 190
    share = [np.mean(one.feature("gender").codes) for one in (split.panel, split.outsiders)]
    assert share[0] == pytest.approx(share[1], abs=0.05)


def test_sizes_are_shares_or_numbers() -> None:
    assert sizes(replace(PLAN, outsiders=0.25, panel=None), 400) == (300, 100)
    assert sizes(replace(PLAN, outsiders=100, panel=200), 400) == (200, 100)
    assert sizes(replace(PLAN, outsiders=100, panel=0.5), 400) == (200, 100)
    assert sizes(replace(PLAN, outsiders=100, panel=1), 400) == (300, 100)


@pytest.mark.parametrize("size", [0, -3, 2.5])
def test_a_size_that_is_none_is_refused(size: float) -> None:
    with pytest.raises(MidpointError, match="a share between 0 and 1, or a number of people"):
        replace(PLAN, outsiders=size)


def test_more_people_than_there_are_are_refused(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match="more than the 100 people outside a fold"):
        require_split(tiny.ratings, replace(PLAN, panel=90, outsiders=30))
    with pytest.raises(MidpointError, match="too few people who are"):
        require_split(tiny.ratings, replace(PLAN, panel=90, outsiders=8))
    require_split(tiny.ratings, PLAN)


def test_a_panel_of_more_people_than_there_are_is_refused_without_outsiders(
    tiny: Simulation,
) -> None:
    with pytest.raises(MidpointError, match="a panel of 101 is more than the 100 people outside"):
        require_panel(tiny.ratings, replace(PLAN, panel=101))
    for size in (None, 1, 100):
        require_panel(tiny.ratings, replace(PLAN, panel=size))


def test_an_adversary_that_is_none_is_refused() -> None:
    with pytest.raises(MidpointError, match="no adversary 'insider'; choose from clean, panel"):
        choose_adversaries(["insider"])
    with pytest.raises(MidpointError, match="name one at least"):
        choose_adversaries([])
    assert choose_adversaries(["outsider", "panel"]) == ("panel", "outsider")
    assert choose_adversaries("outsider") == ("outsider",)


def test_all_are_seen_under_the_one_disclosure_that_the_panel_made(split: SplitFold) -> None:
    protocol, learned = LearningProtocol("dmpss"), split.learn()
    assert learned.statistics is not None
    assert learned.statistics.users.sum() == split.panel.n_users
    wanted = protocol.disclose(learned).digest
    reports = {}
    for adversary, people in ((OUTSIDER, 30), (PUBLISHED, 60)):
        views = PublishedViews.of(split.learners(adversary), "dmpss", protocol, learned)
        training = views.training()
        assert [view.n_users for view in training] == [people] * 2
        nested = [view for one in training[0].nested_folds for view in (*one.learn, one.judge)]
        every = [views.held_out, *training, *nested]
        parts = [part for view in every for part in view.parts]
        assert {view.disclosure.digest for view in [*every, *parts]} == {wanted}
        assert training[0].reports.item.tolist() != training[1].reports.item.tolist()
        reports[adversary] = views.held_out.reports
    assert np.array_equal(reports[OUTSIDER].item, reports[PUBLISHED].item)
    assert np.array_equal(reports[OUTSIDER].value, reports[PUBLISHED].value)


def test_over_rounds_all_are_seen_under_what_was_published_early_and_late(
    split: SplitFold,
) -> None:
    early, late = split.early_panel, split.panel
    assert set(early.user_ids) < set(late.user_ids)
    assert early.n_users == 30
    protocol, known = RoundsProtocol("dmpss", rounds=2, budget=5), Versions()
    learned = split.learn(early=True), split.learn()
    answered = {}
    for adversary, people in ((OUTSIDER, 30), (PUBLISHED, 60)):
        fold = split.learners(adversary)
        views = PublishedRounds.of(fold, "dmpss:rounds=2", protocol, learned, known)
        assert [view.n_users for view in views.training()] == [people] * 2
        answered[adversary] = views.held_out.transcript.answered
    assert np.array_equal(answered[OUTSIDER], answered[PUBLISHED])
    assert views.panel(frozenset()) is None  # the panel itself: nobody beside it, and no sign
    assert not any(one.shows_sign for one in views.training()[0].nested_folds)
    (published,) = known.values()  # nobody is seen under numbers that were not published
    wanted = [protocol.disclose(one).digest for one in learned]
    assert [version.disclosure.digest for version in published] == wanted
    assert wanted[0] != wanted[1]


ALIKE = SimulationConfig(
    name="alike",
    users=1500,
    items=150,
    ratings=60_000,
    features=(SimulatedFeature("gender", ("F", "M"), bias_sd=0.0, selection_sd=0.0),),
    dimension=2,
    scale=Scale.stars(1, 5),
    taste_sd=0.3,
    noise_sd=0.7,
)
"""Categories that differ in nothing: whatever a disclosure says of them is the panel's error."""
CHANCE = 3.5 * (1 / (12 * 250)) ** 0.5 * 2**0.5
"""By how much an AUC of 250 of either category may be off by luck, twice the variance."""


@pytest.fixture(scope="module")
def alike() -> SplitFold:
    plan = replace(PLAN, folds=3, draws=3, panel=60, outsiders=900)
    return SplitFold(FoldData.of(simulate(ALIKE, seed=4).ratings, plan, 0))


@pytest.mark.slow
def test_only_outsiders_find_the_panels_error(alike: SplitFold) -> None:
    """Where categories are alike, all that can be read is the error of the published numbers."""
    split, panel = alike, alike.learners(PUBLISHED)
    crossed = learn(panel)

    # Attackers of single items: those of profiles know what was disclosed, and so know that who
    # withholds by an exaggerated ratio is of the category that it was exaggerated for.
    names = ("adaptive-lr-mask", "adaptive-lr-items")
    makers = {name: ATTACKERS[name] for name in names}

    def read(views: FoldViews) -> list[float]:
        """Return what one attacker reads, and what a stack of several does."""
        found = []
        for attacker in (makers["adaptive-lr-mask"](), Stacked(makers)):
            attacker.fit(views.training(), views.fold.pooled_category, seed=1)
            found.append(auc(attacker.score(views.held_out), split.fold.category))
        return found

    plain = LearningProtocol("dmpss", estimation="plain")
    of_outsiders = PublishedViews.of(split.learners(OUTSIDER), "dmpss", plain, crossed.whole)
    cross_fitted = ReportViews(panel, of_outsiders.name, plain, crossed)
    same = of_outsiders.held_out.reports, cross_fitted.held_out.reports
    assert np.array_equal(same[0].item, same[1].item)  # the same people say the same
    assert min(read(of_outsiders)) > 0.5 + CHANCE
    assert all(abs(one - 0.5) < CHANCE for one in read(cross_fitted))
    # Where nothing was disclosed, and so no error, outsiders find nothing either.
    raw = LearningProtocol("no")
    nothing = PublishedViews.of(split.learners(OUTSIDER), "no", raw, crossed.whole)
    assert all(abs(one - 0.5) < CHANCE for one in read(nothing))


@pytest.mark.slow
def test_over_rounds_who_has_the_panel_finds_its_error_too(alike: SplitFold) -> None:
    """Its directions show the error of two disclosures, and other people what that is worth."""
    panel = alike.learners(PUBLISHED)
    early, late = learn(panel, early=True), learn(panel)

    def read(attack: str, adversary: str, scheme: str) -> float:
        protocol = RoundsProtocol(scheme, estimation="plain", rounds=2, budget=40, items=100)
        views: FoldViews = RoundViews(panel, f"split:{scheme}", protocol, early, late)
        if adversary == OUTSIDER:
            fold, learned = alike.learners(OUTSIDER), (early.whole, late.whole)
            views = PublishedRounds.of(fold, scheme, protocol, learned, Versions(), panel)
        attacker = ATTACKERS[attack]()
        attacker.fit(views.training(), views.fold.pooled_category, seed=1)
        return auc(attacker.score(views.held_out), alike.fold.category)

    for adversary in (OUTSIDER, PANEL):
        assert read("adaptive-lr-panel", adversary, "dmpss") > 0.5 + CHANCE
        # The control: where nothing was disclosed there is no error, and nothing to find.
        assert abs(read("adaptive-lr-panel", adversary, "no") - 0.5) < CHANCE
    # Cross-fitted, an attacker without the panel's directions does not find it.
    assert read("adaptive-lr-mask", OUTSIDER, "dmpss") > 0.5 + CHANCE
    assert abs(read("adaptive-lr-mask", PANEL, "dmpss") - 0.5) < CHANCE
