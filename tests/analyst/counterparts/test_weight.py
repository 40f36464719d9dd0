"""How much her own probability of an item counts: learned on lists, and 0 where it says nothing."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import Factorizer, ItemProfiles, disclose, prepare
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Model
from midpoint.analyst.counterparts.strata import Strata
from midpoint.analyst.counterparts.weight import learn_weight, reveal_probability
from midpoint.data import PRESETS, Ratings, simulate
from midpoint.protocol import LearningProtocol, Population
from midpoint.protocol.population import local_scores
from midpoint.user import Parameters, adjust
from midpoint.wire import ONE, SCHEMES
from midpoint.wire.positions import MOST_WEIGHT

PLAYS = simulate(
    replace(PRESETS["simulated-plays"], users=500, items=60, ratings=10_000, selection_taste_sd=1.5)
).ratings


@pytest.fixture(scope="module")
def learned() -> ItemProfiles:
    profiles = Factorizer(dimension=4, iterations=5).fit(PLAYS, "gender")
    return prepare(profiles, PLAYS, SCHEMES["cmpss"])


def parts(learned: ItemProfiles) -> tuple[People, Model, Strata]:
    known = learned.positions
    assert known is not None
    model = Model(known.rate, known.choosing, known.base, known.taste, known.noise_variance)
    strata = Strata(known.least, known.mean, known.covariance)
    return People.of(PLAYS, PLAYS.feature("gender")), model, strata


def test_a_weight_is_learned_and_kept_with_the_profiles(
    learned: ItemProfiles, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert learned.positions is not None
    assert learned.positions.weight is not None
    directory = tmp_path_factory.mktemp("model") / "profiles"
    learned.save(directory)
    again = ItemProfiles.load(directory)
    assert again.positions is not None
    assert again.positions.weight == learned.positions.weight
    prior = LearningProtocol("cmpss").disclose(again).prior
    assert prior is not None
    assert prior.weight == round(learned.positions.weight * ONE)


def test_the_less_of_a_report_is_kept_the_more_her_own_probabilities_count(
    learned: ItemProfiles,
) -> None:
    assert learned.positions is not None
    light = learned.with_positions(replace(learned.positions, weight=2.0))
    count = PLAYS.by_item.offsets[1:] - PLAYS.by_item.offsets[:-1]
    for scheme in ("cmpss:leak=0.6", "cmpss:keep=0.5"):
        shown = disclose(light, scheme)
        assert shown.prior is not None
        assert shown.keep is not None
        keep = np.array(shown.keep)[np.argsort(learned.order)] / ONE
        share = float(keep @ count / count.sum())
        assert share < 0.95
        assert shown.prior.weight == pytest.approx(2.0 * ONE / share, rel=1e-3)
    shown = disclose(learned, "cmpss:keep=0.002")
    assert shown.prior is not None
    assert shown.prior.weight == MOST_WEIGHT * ONE  # devices refuse more


def test_positions_that_know_nothing_get_no_weight(learned: ItemProfiles) -> None:
    """The control: with rates of random items the best lists leave probabilities out."""
    people, model, strata = parts(learned)
    order = np.random.default_rng(0).permutation(learned.n_items)
    wrong = model._replace(rate=model.rate[order], selection=model.selection[order])
    draws = np.random.default_rng(1)
    assert learn_weight(learned, people, model, strata, draws, 1) is not None
    assert learn_weight(learned, people, wrong, strata, draws, 1) is None


def test_too_few_people_say_nothing(learned: ItemProfiles) -> None:
    people, model, strata = parts(learned)
    few = people.in_order(np.arange(8), np.array([0, 8, 8]))
    assert learn_weight(learned, few, model, strata, np.random.default_rng(1), 1) is None


def test_reveal_probabilities_are_those_of_devices(learned: ItemProfiles) -> None:
    """At positions that devices estimate, up to the rounding of what is disclosed."""
    _, model, strata = parts(learned)
    disclosure = LearningProtocol("cmpss").disclose(learned)
    parameters, G = Parameters.of(disclosure), len(strata.mean)
    item, everything = np.array([3, 9, 20, 41]), np.arange(learned.n_items)
    index = learned.message_index[item]
    for k in (0, 1):
        hers = adjust(parameters, k, everything, index, np.full(4, ONE))
        assert parameters.positions is not None
        expected = (1 / (1 + np.exp(-parameters.positions.rate[:, k] / 256))).sum()
        activity = (4 + 8) / (expected + 8)
        g = int((strata.least[:, k] <= activity).sum() - 1)
        bounds = np.searchsorted([k * G + g], np.arange(2 * G + 1), side="left")
        alone = People(np.array([0, 4]), item.astype(np.int32), np.ones(4), bounds)
        found = reveal_probability(alone, hers.move[None] / 256, model, strata)
        assert found == pytest.approx(hers.reveal / ONE, abs=0.02)


def test_lists_are_better_with_what_her_device_knows(learned: ItemProfiles) -> None:
    """The scores of all items differ by weight x p; without a weight nothing is added."""
    assert learned.positions is not None
    bare = learned.with_positions(replace(learned.positions, weight=None))
    people = _population(PLAYS)
    protocol, coins = LearningProtocol("cmpss"), np.random.default_rng(0)
    with_, without = protocol.disclose(learned), protocol.disclose(bare)
    sent = protocol.report(with_, learned, people, coins)
    position = protocol.moves(with_, learned, people, coins, sent)
    assert position.shape == (PLAYS.n_users, learned.positions.selection.shape[1])
    assert protocol.moves(without, bare, people, coins, sent).shape == (PLAYS.n_users, 0)
    x = np.zeros((PLAYS.n_users, learned.vectors.shape[1]))
    some = slice(0, 20)
    added = local_scores(with_, learned, x, people.category, position)(some)
    none = np.zeros((PLAYS.n_users, 0), dtype=np.int64)
    added -= local_scores(without, bare, x, people.category, none)(some)
    logit = learned.positions.rate.T[people.category[some]]
    logit = logit + position[some] / 256 @ learned.positions.selection.T
    weight = learned.positions.weight
    assert weight is not None
    assert added == pytest.approx(weight / (1 + np.exp(-logit)), abs=2e-5)


def _population(ratings: Ratings) -> Population:
    category = ratings.feature("gender").codes
    return Population(ratings.user, ratings.item, ratings.value, category)
