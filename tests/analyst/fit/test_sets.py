"""Unary data: weighted factorization, folding in, and what categories prefer."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import Factorizer, ItemProfiles, estimate_profiles
from midpoint.analyst.categories.estimates import CategoryEstimates
from midpoint.analyst.fit import sets
from midpoint.analyst.fit.sets import Setting, factorize, log_odds, prior_precision
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.data import PRESETS, Ratings, hold_out, simulate, split_ratings
from midpoint.errors import MidpointError

PLAYS = simulate(
    replace(PRESETS["simulated-plays"], users=600, items=80, ratings=12_000, selection_taste_sd=1.5)
)
SETTING = Setting(weight=3.0, ridge=0.2, dimension=4)


@pytest.fixture(scope="module")
def learned() -> ItemProfiles:
    return Factorizer(dimension=4).fit(PLAYS.ratings, "gender")


def dense(ratings: Ratings) -> np.ndarray:
    table = np.zeros((ratings.n_users, ratings.n_items))
    table[ratings.user, ratings.item] = 1
    return table


def test_each_side_solves_the_weighted_problem_of_the_other() -> None:
    ratings = PLAYS.ratings
    fitted = factorize(ratings, SETTING, 3, seed=0, threads=1)
    V, P = fitted.items.astype(float), dense(ratings)
    ridge = SETTING.ridge * len(ratings) / ratings.n_users
    assert fitted.ridge == pytest.approx(ridge)
    for i in (0, 17, 599):
        w, A = SETTING.weight, V.T @ V + ridge * np.eye(4)
        x = np.linalg.solve(A + w * V.T @ np.diag(P[i]) @ V, w * V.T @ P[i])
        assert fitted.users[i] == pytest.approx(x, abs=2e-3)


def test_folding_in_by_the_profiles_is_folding_in_by_the_model(learned: ItemProfiles) -> None:
    """The claim of the module: centre, noise and prior make graded code solve the sets' problem."""
    chosen = learned.provenance.configuration["sets"]
    V, w = learned.vectors[:, 1:].astype(float), chosen["weight"]
    ridge = chosen["ridge"] * len(PLAYS.ratings) / PLAYS.ratings.n_users
    offsets, item = np.array([0, 3, 3]), np.array([5, 20, 41], dtype=np.int32)
    x = estimate_profiles(learned, offsets, item, np.ones(3))
    p = np.zeros(80)
    p[item] = 1
    A = V.T @ V + ridge * np.eye(V.shape[1])
    expected = np.linalg.solve(A + w * V.T @ np.diag(p) @ V, w * V.T @ p)
    assert x[0, 1:] == pytest.approx(expected, abs=1e-4)
    assert x[0, 0] == pytest.approx(0, abs=1e-4)  # sets have no level
    assert x[1] == pytest.approx(np.zeros(1 + V.shape[1]), abs=1e-6)
    unweighted = np.linalg.solve(A + V.T @ np.diag(p) @ V, V.T @ p)
    assert x[0, 1:] != pytest.approx(unweighted, abs=1e-3)  # the control: confidence matters
    scores = learned.centre + x[0] @ learned.vectors.T
    assert scores == pytest.approx(V @ expected, abs=1e-4)


def test_lists_are_better_than_popularity_and_chance() -> None:
    training, others = hold_out(PLAYS.ratings, (np.arange(600) % 6 == 0).astype(int), 1)
    given, hidden = split_ratings(others, seed=0)
    profiles = Factorizer(dimension=4).fit(training, "gender")
    x = estimate_profiles(profiles, given.user_offsets, given.item, given.value)
    popular = np.bincount(training.item, minlength=80).astype(float)
    ways = {
        "model": lambda some: profiles.centre + x[some] @ profiles.vectors.T.astype(float),
        "popularity": lambda some: np.tile(popular, (some.stop - some.start, 1)),
        "chance": lambda some: np.random.default_rng(0).random((some.stop - some.start, 80)),
    }
    known = Sets(given.user_offsets, given.item), Sets(hidden.user_offsets, hidden.item)
    ndcg = {name: np.nanmean(rank_people(way, *known, 80).ndcg) for name, way in ways.items()}
    assert ndcg["chance"] + 0.05 < ndcg["popularity"]
    assert ndcg["popularity"] + 0.02 < ndcg["model"]


def test_offsets_are_beta_times_centred_log_odds(learned: ItemProfiles) -> None:
    beta = learned.provenance.configuration["sets"]["beta"]
    odds = log_odds(learned.estimates())
    assert odds.sum(axis=1) == pytest.approx(np.zeros(80), abs=1e-9)
    assert learned.offset == pytest.approx(beta * odds)
    truth = np.log(PLAYS.probability("gender"))
    apart = (truth - truth.mean(axis=1, keepdims=True))[:, 0]
    assert np.corrcoef(odds[:, 0], apart)[0, 1] > 0.6


def test_beta_is_learned_where_categories_prefer_and_zero_where_they_do_not() -> None:
    strong, none = (
        simulate(
            replace(
                PLAYS.config,
                selection_taste_sd=0.0,
                features=(replace(PLAYS.config.features[0], selection_sd=sd),),
            ),
            seed=3,
        ).ratings
        for sd in (1.5, 0.0)
    )
    assert Factorizer(dimension=4).fit(strong, "gender").offset.std() > 0.02
    assert Factorizer(dimension=4).fit(none, "gender").offset.std() < 0.02


def test_few_people_take_the_usual_setting_and_one_item_is_enough() -> None:
    few = PLAYS.ratings.select_users(np.arange(600) < 60)
    alone = few.select_ratings((few.user > 0) | (np.arange(len(few)) == 0))  # person 0: one item
    assert (np.diff(alone.user_offsets) == 1).any()
    profiles = Factorizer(dimension=3).fit(alone, "gender")
    chosen = profiles.provenance.configuration["sets"]
    assert (chosen["weight"], chosen["ridge"]) == sets.USUAL
    assert np.isfinite(profiles.vectors).all()


def test_a_given_regularization_is_kept_and_only_the_weight_is_tried() -> None:
    profiles = Factorizer(dimension=4, regularization=0.5).fit(PLAYS.ratings, "gender")
    chosen = profiles.provenance.configuration["sets"]
    assert (chosen["ridge"], chosen["dimension"]) == (0.5, 4)


def test_threads_and_seeds_decide_as_they_should() -> None:
    fits = [factorize(PLAYS.ratings, SETTING, 2, seed=0, threads=t).items for t in (1, 2)]
    assert np.array_equal(fits[0], fits[1])
    assert prior_precision(fits[0], 1.0).shape == (4, 4)


@pytest.mark.parametrize("wrong", [{"method": "sgd"}, {"biases": "joint"}, {"validation": 0.1}])
def test_what_sets_do_not_have_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(MidpointError, match="unary data is fitted by alternating"):
        Factorizer(**wrong).fit(PLAYS.ratings, "gender")  # type: ignore[arg-type]


def test_without_a_feature_there_is_nothing_to_prefer() -> None:
    assert Factorizer(dimension=3).fit(PLAYS.ratings).offset.shape == (80, 0)


def test_plain_probabilities_make_finite_log_odds(learned: ItemProfiles) -> None:
    assert learned.statistics is not None
    assert np.isfinite(log_odds(CategoryEstimates(learned.statistics, "plain"))).all()
