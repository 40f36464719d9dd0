"""Leak budgets: what is asked is kept to, for the least error, and by all categories alike."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, disclose, train
from midpoint.analyst.disclose.leak import LeakBudget, area_of, divergence_of
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.audit.attackers.auc import auc
from midpoint.data import PRESETS, simulate
from midpoint.errors import MidpointError
from midpoint.user import Parameters
from midpoint.wire import ONE
from midpoint.wire.numbers import check_numbers
from tests.support.models.leaks import ITEMS, World, profiles_of

Float = NDArray[np.float64]
LEAK = 0.65
TRIED = 4000
"""People of each category who are attacked."""


@pytest.fixture(scope="module")
def world() -> World:
    return World.draw(np.random.default_rng(3))


@pytest.fixture(scope="module")
def profiles(world: World) -> ItemProfiles:
    return profiles_of(world, 1500, np.random.default_rng(4))


@pytest.fixture(scope="module")
def rule(profiles: ItemProfiles) -> LeakBudget:
    return LeakBudget(profiles)


def read_by_who_knows(world: World, profiles: ItemProfiles, keep: Float) -> float:
    """Return the AUC of somebody who knows the true probabilities, by which items are revealed."""
    p = profiles.estimates().probability
    rate = world.probability * p.min(axis=1, keepdims=True) / p * keep[:, None]
    category = np.repeat([0, 1], TRIED)
    revealed = np.random.default_rng(5).random((2 * TRIED, ITEMS)) < rate[:, category].T
    some = keep > 0
    weight = np.log(rate[some, 1] / rate[some, 0])
    other = np.log((1 - rate[some, 1]) / (1 - rate[some, 0]))
    return auc(np.where(revealed[:, some], weight, other).sum(axis=1), category)


@pytest.mark.parametrize("leak", [0.55, LEAK])
def test_the_budget_is_kept_to(rule: LeakBudget, leak: float) -> None:
    budget = rule.within(leak)
    assert rule.everything().leak > LEAK + 0.05  # the control: there is something to withhold
    assert budget.leak == pytest.approx(leak, abs=1e-6)
    assert ((budget.keep >= 0) & (budget.keep <= 1)).all()
    assert rule.everything().error < budget.error


def test_who_knows_the_truth_reads_no_more_than_the_budget(
    world: World, profiles: ItemProfiles, rule: LeakBudget
) -> None:
    sampling = 3.5 * 0.0065  # an AUC of as many people
    whole = read_by_who_knows(world, profiles, np.ones(ITEMS))
    budgeted = read_by_who_knows(world, profiles, rule.within(LEAK).keep)
    assert budgeted < LEAK + sampling
    assert whole > LEAK + sampling  # the control: without it, more is read
    # Values have a part of the budget, too, which sets alone do not use up.
    assert whole < rule.everything().leak + sampling


def test_no_other_way_to_spend_it_has_less_error(rule: LeakBudget) -> None:
    budget = rule.within(LEAK)
    D = divergence_of(budget.leak)
    rng = np.random.default_rng(6)
    others = [rng.random(ITEMS) for _ in range(5)]
    others += [(rule.revealed >= np.quantile(rule.revealed, q)).astype(float) for q in (0.3, 0.6)]
    others += [np.clip(budget.keep + 0.2 * rng.normal(size=ITEMS), 0, 1) for _ in range(5)]
    for keep in others:
        scaled = keep * min(1.0, D / divergence_of(rule.leak(keep)))
        assert rule.leak(scaled) <= budget.leak + 1e-9
        assert rule.error(scaled) > budget.error


def test_what_is_known_badly_is_withheld_first(profiles: ItemProfiles, rule: LeakBudget) -> None:
    keep = rule.within(LEAK).keep
    assert profiles.statistics is not None
    count = profiles.statistics.count.sum(axis=1)
    assert count[keep > 0.9].mean() > 1.5 * count[keep < 0.1].mean()


def test_curves_fall(rule: LeakBudget) -> None:
    leaks = [leak for leak in (0.52, 0.55, 0.6, 0.7) if leak < rule.everything().leak]
    curve = [*map(rule.within, leaks), rule.everything()]
    assert [b.leak for b in curve] == sorted(b.leak for b in curve)
    assert [b.error for b in curve] == sorted((b.error for b in curve), reverse=True)
    assert (curve[-1].keep == 1).all()
    assert (rule.within(0.999).keep == 1).all()


def test_all_categories_still_reveal_alike(profiles: ItemProfiles) -> None:
    """What is proved stays proved: p_k reveal_k keep is the same for all k (Theorem 3)."""
    shown = disclose(profiles, "mpssr", leak=LEAK)
    check_numbers(shown)
    assert shown.leak is not None
    assert shown.leak == pytest.approx(LEAK * ONE, abs=2)
    parameters = Parameters.of(shown)
    assert parameters.reveal is not None
    assert parameters.keep is not None
    assert 0 < (parameters.keep < ONE).mean() < 1
    p = profiles.estimates().probability[profiles.order]
    joint = p * parameters.reveal * parameters.keep[:, None]
    assert np.allclose(joint, joint.mean(axis=1, keepdims=True), rtol=3e-4)
    # The control: a keep probability of each category's own would show.
    own = joint * np.array([1.0, 0.9])
    assert not np.allclose(own, own.mean(axis=1, keepdims=True), rtol=3e-4)


def test_without_a_budget_disclosures_stay_as_they_were(profiles: ItemProfiles) -> None:
    plain = disclose(profiles, "mpssr")
    assert (plain.keep, plain.leak) == (None, None)
    assert disclose(profiles, "mpssr", leak=1).raw == plain.raw
    assert disclose(replace(profiles, leak=LEAK), "mpr").keep is None  # withholds nothing


def test_a_budget_may_stand_in_the_schemes_name(profiles: ItemProfiles) -> None:
    """The one of a model goes before it, and that of the call before both."""
    asked = disclose(profiles, "mpssr", leak=LEAK)
    assert disclose(profiles, f"mpssr:leak={LEAK}").raw == asked.raw
    trained = replace(profiles, leak=LEAK)
    assert disclose(trained, "mpssr:leak=0.9").raw == asked.raw
    assert disclose(trained, "mpssr:leak=0.9", leak=1).keep is None


@pytest.mark.parametrize("share", [0.5, 0.25])
def test_a_share_leaks_less_and_the_disclosure_says_how_much(
    world: World, profiles: ItemProfiles, rule: LeakBudget, share: float
) -> None:
    shown = disclose(profiles, f"mpssr:keep={share}")
    assert SchemeSpec.of(shown).keep == share
    assert shown.keep == (int(share * ONE),) * ITEMS
    assert shown.leak is not None
    assert shown.leak / ONE < rule.everything().leak - 0.03
    # As somebody reads it who knows the truth; values have their part, which sets do not use up.
    sampling = 3.5 * 0.0065
    some, whole = (read_by_who_knows(world, profiles, np.full(ITEMS, p)) for p in (share, 1.0))
    assert some < shown.leak / ONE + sampling
    assert some < whole - 0.02  # the control: that is less than is read of everything


def test_a_share_and_a_budget_go_together(profiles: ItemProfiles) -> None:
    both = disclose(profiles, f"mpssr:keep=0.5:leak={LEAK}")
    alone = disclose(profiles, f"mpssr:leak={LEAK}")
    assert both.leak == alone.leak  # the budget is used up by more items
    assert both.keep is not None
    assert alone.keep is not None
    assert max(both.keep) == ONE // 2 < max(alone.keep)
    assert np.mean(np.array(both.keep) > 0) > np.mean(np.array(alone.keep) > 0)


def test_where_more_than_errors_leak_no_leak_is_said(profiles: ItemProfiles) -> None:
    for shown in (
        disclose(profiles, "mpr:keep=0.5"),
        disclose(profiles, "mpssr:keep=0.5", bits=6),
        disclose(profiles, "mpssr:keep=0.5", estimation="plain"),
    ):
        assert shown.keep == (ONE // 2,) * ITEMS
        assert shown.leak is None


def test_areas_and_divergences_are_inverse() -> None:
    for area in (0.5, 0.6, 0.9):
        assert area_of(divergence_of(area)) == pytest.approx(area)


@pytest.mark.parametrize("leak", [0.4, 1.2, -1.0])
def test_a_leak_that_is_none_is_refused(rule: LeakBudget, leak: float) -> None:
    with pytest.raises(MidpointError, match="blind guessing"):
        rule.within(leak)


def test_a_scheme_that_reveals_everything_has_no_budget(profiles: ItemProfiles) -> None:
    with pytest.raises(MidpointError, match="reveals every rating"):
        disclose(profiles, "mpr", leak=LEAK)
    with pytest.raises(MidpointError, match="without bits"):
        disclose(profiles, "mpssr", leak=LEAK, bits=4)
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    small = Factorizer(dimension=2, iterations=2)
    with pytest.raises(MidpointError, match="private feature"):
        LeakBudget(small.fit(ratings))
    with pytest.raises(MidpointError, match="reveals every"):
        train(ratings, "gender", factorizer=small, scheme="mpr", leak=0.6)


def test_training_remembers_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    small = Factorizer(dimension=2, iterations=2)
    model = train(ratings, "gender", factorizer=small, scheme="dmpss", leak=0.6)
    directory = tmp_path_factory.mktemp("model") / "model"
    model.save(directory)
    again = ItemProfiles.load(directory)
    assert again.leak == 0.6
    assert disclose(again).raw == disclose(model).raw
    assert disclose(again).keep is not None
