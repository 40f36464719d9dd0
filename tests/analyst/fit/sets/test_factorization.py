"""Unary data: weighted factorization, folding in, and what categories prefer."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import Factorizer, ItemProfiles, estimate_profiles
from midpoint.analyst.categories.estimates import CategoryEstimates
from midpoint.analyst.fit.sets import factorization, tuning
from midpoint.analyst.fit.sets.factorization import Incidence, Setting, factorize, prior_precision
from midpoint.analyst.fit.sets.tuning import log_odds
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.data import PRESETS, Ratings, hold_out, simulate, split_ratings
from midpoint.errors import MidpointError

PLAYS = simulate(
    replace(PRESETS["simulated-plays"], users=600, items=80, ratings=12_000, selection_taste_sd=1.5)
)
SETTING = Setting(weight=3.0, ridge=0.2, popular=0.1, dimension=4)


@pytest.fixture(scope="module")
def learned() -> ItemProfiles:
    return Factorizer(dimension=4).fit(PLAYS.ratings, "gender")


def dense(ratings: Ratings) -> np.ndarray:
    table = np.zeros((ratings.n_users, ratings.n_items))
    table[ratings.user, ratings.item] = 1
    return table


def test_each_side_solves_the_weighted_problem_of_the_other() -> None:
    ratings = PLAYS.ratings
    fitted = factorize(Incidence.of(ratings), SETTING, 3, seed=0, threads=1)
    V, P = fitted.items.astype(float), dense(ratings)
    ridge = SETTING.ridge * len(ratings) / ratings.n_users
    assert fitted.ridge == pytest.approx(ridge)
    for i in (0, 17, 599):
        w, A = SETTING.weight, V.T @ V + ridge * np.eye(4)
        x = np.linalg.solve(A + w * V.T @ np.diag(P[i]) @ V, w * V.T @ P[i])
        assert fitted.users[i] == pytest.approx(x, abs=2e-3)


def test_popular_items_have_more_of_a_ridge() -> None:
    """Checked on the last step of items: they are fitted to people of one step before."""
    ratings, w = PLAYS.ratings, SETTING.weight
    P, by = dense(ratings), np.random.default_rng(0).normal(0, 0.5, (80, 4))
    V = by.astype(np.float32).astype(float)
    ridge = SETTING.ridge * len(ratings) / ratings.n_users
    A = V.T @ V + ridge * np.eye(4)
    X = np.array([np.linalg.solve(A + w * V.T @ (p[:, None] * V), w * V.T @ p) for p in P])
    fitted = factorize(Incidence.of(ratings), SETTING, 1, seed=0, threads=1)
    for popular, same in ((SETTING.popular, True), (0.0, False)):  # the second is the control
        for j in (3, 40):
            B = X.T @ X + (ridge + popular * P[:, j].sum()) * np.eye(4)
            v = np.linalg.solve(B + w * X.T @ (P[:, j, None] * X), w * X.T @ P[:, j])
            assert (fitted.items[j] == pytest.approx(v, abs=2e-3)) == same


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
    assert (chosen["weight"], chosen["ridge"], chosen["popular"]) == tuning.USUAL
    assert np.isfinite(profiles.vectors).all()


def test_a_given_regularization_is_kept_and_only_the_weight_is_tried() -> None:
    profiles = Factorizer(dimension=4, regularization=0.5).fit(PLAYS.ratings, "gender")
    chosen = profiles.provenance.configuration["sets"]
    assert (chosen["ridge"], chosen["dimension"]) == (0.5, 4)


def test_threads_and_seeds_decide_as_they_should() -> None:
    fits = [
        factorize(Incidence.of(PLAYS.ratings), SETTING, 2, seed=0, threads=t).items for t in (1, 2)
    ]
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


def test_what_devices_withheld_is_not_taken_for_disliked() -> None:
    """Items whose entries are mostly withheld keep their scores; the control loses them."""
    ratings, rare = PLAYS.ratings, np.arange(80) % 4 == 0
    share = np.where(rare, 0.3, 1.0)
    revealed = np.random.default_rng(0).random(len(ratings)) < share[ratings.item]
    sent = ratings.select_ratings(revealed)

    def score(of: Ratings, presence: np.ndarray | None) -> float:
        fitted = factorize(Incidence.of(of, presence), SETTING, 6, seed=0, threads=1)
        return float((fitted.users @ fitted.items.T)[:, rare].mean())

    raw, control = score(ratings, None), score(sent, None)
    assert control < 0.5 * raw
    assert 0.75 * raw < score(sent, 1 / share[sent.item]) < 1.1 * raw


def test_an_entry_that_stands_for_one_changes_nothing() -> None:
    ratings = PLAYS.ratings
    plain, weighted, control = (
        factorize(Incidence.of(ratings, presence), SETTING, 2, seed=0, threads=1)
        for presence in (None, np.ones(len(ratings)), np.full(len(ratings), 2.0))
    )
    assert weighted.items == pytest.approx(plain.items, abs=2e-3)
    assert control.items != pytest.approx(plain.items, abs=2e-2)
    assert weighted.ridge == pytest.approx(plain.ridge)


def test_conjugate_gradients_come_to_the_same_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """In many dimensions nothing is solved exactly; the control has not been alternated enough."""
    setting = SETTING._replace(dimension=12)

    def scores(iterations: int, exact_up_to: int) -> np.ndarray:
        monkeypatch.setattr(factorization, "EXACT_UP_TO", exact_up_to)
        fitted = factorize(Incidence.of(PLAYS.ratings), setting, iterations, seed=0, threads=1)
        return fitted.users @ fitted.items.T

    exact = scores(40, 12)
    assert scores(40, 11) == pytest.approx(exact, abs=0.01)
    assert scores(2, 11) != pytest.approx(exact, abs=0.01)
