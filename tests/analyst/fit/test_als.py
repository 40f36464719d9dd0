"""Alternating least squares against the truth that ratings were drawn from."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, Training, predict
from midpoint.analyst.fit.als import (
    ALIKE,
    Factors,
    Observations,
    Regularization,
    alternate,
    expected_squares,
    moments,
)
from midpoint.analyst.kernels import ridge
from midpoint.data import Ratings, Simulation, SimulationConfig, simulate, split_at_random
from midpoint.data.simulation import SimulatedFeature


def observations(ratings: Ratings) -> Observations:
    value = (ratings.value - ratings.value.mean()) / ratings.value.std()
    return Observations(
        ratings.user,
        ratings.item,
        value.astype(np.float32),
        ratings.user_offsets,
        ratings.by_item.offsets,
        ratings.by_item.order,
        np.zeros((ratings.n_users, 0), np.float32),
    )


def expected(simulated: Simulation, ratings: Ratings) -> NDArray[np.float64]:
    """Return the noiseless truth behind each rating."""
    users, items = simulated.users, simulated.items
    total = (items.means[ratings.item] + users.means[ratings.user]).astype(np.float64)
    total += np.einsum("nd,nd->n", users.vectors[ratings.user], items.vectors[ratings.item])
    for name, offset in items.offsets.items():
        total += offset[ratings.item, users.categories[name][ratings.user]]
    return total


def miss(simulated: Simulation, trained: Training, hidden: Ratings) -> float:
    """Return how far predictions are from the truth without its noise."""
    category = simulated.users.categories["gender"]
    added = trained.items.offset[hidden.item, category[hidden.user]]
    guess = predict(trained.items, trained.users, hidden.user, hidden.item, added)
    return float(np.sqrt(np.mean((guess - expected(simulated, hidden)) ** 2)))


@pytest.mark.slow
def test_predictions_come_close_to_the_truth_and_learning_needs_no_tuning() -> None:
    config = SimulationConfig(users=500, items=120, ratings=25_000, dimension=3, taste_sd=0.8)
    simulated = simulate(config, seed=2)
    given, hidden = split_at_random(simulated.ratings, 0.9, seed=0)
    noise = simulated.noise_sd

    def found(regularization: Regularization) -> float:
        factorizer = Factorizer(dimension=8, iterations=20, regularization=regularization)
        return miss(simulated, factorizer.train(given, "gender"), hidden)

    learned = found("learned")
    fixed = [found(ridge) for ridge in (0.01, 0.03, 0.1, 0.3)]
    knows_nothing = float(np.std(expected(simulated, hidden) - simulated.items.means[hidden.item]))
    assert learned < 0.4 * noise
    assert learned < 0.4 * knows_nothing
    assert learned <= 1.02 * min(fixed)
    assert max(fixed) > 1.2 * learned


def test_the_noise_is_recovered(simulated: Simulation, trained: Training) -> None:
    assert trained.items.noise_variance == pytest.approx(simulated.noise_sd**2, rel=0.05)


@pytest.mark.parametrize("regularization", ["learned", 0.06])
def test_bits_follow_from_the_seed_whatever_the_threads(
    simulated: Simulation, regularization: Regularization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ridge, "WORTH_A_THREAD", 1)
    seen = observations(simulated.ratings)

    def fit(seed: int, threads: int) -> Factors:
        return alternate(
            seen,
            dimension=4,
            iterations=4,
            regularization=regularization,
            seed=seed,
            threads=threads,
        )

    one, *others = (fit(3, threads) for threads in (1, 1, 2, 7))
    for other in others:
        assert one.users.profile.tobytes() == other.users.profile.tobytes()
        assert one.items.profile.tobytes() == other.items.profile.tobytes()
        assert one.items.covariance.tobytes() == other.items.covariance.tobytes()
        assert one.noise_variance == other.noise_variance
    assert not np.array_equal(one.items.profile, fit(4, 1).items.profile)


def test_weighted_least_squares_never_raises_its_objective(simulated: Simulation) -> None:
    seen, ridge_per_rating = observations(simulated.ratings), 0.05
    values: list[float] = []

    def watch(_: int, factors: Factors) -> bool:
        x, v = (side.profile.astype(np.float64) for side in (factors.users, factors.items))
        inner = np.einsum("nd,nd->n", x[seen.user, 1:], v[seen.item, 1:])
        squares = ((seen.value - x[seen.user, 0] - v[seen.item, 0] - inner) ** 2).sum()
        penalty = (np.diff(seen.user_offsets) * (x**2).sum(axis=1)).sum()
        penalty += (np.diff(seen.item_offsets) * (v**2).sum(axis=1)).sum()
        values.append(float(squares + ridge_per_rating * penalty))
        return False

    alternate(
        seen,
        dimension=4,
        iterations=12,
        regularization=ridge_per_rating,
        seed=0,
        after_iteration=watch,
    )
    assert len(values) == 12
    assert (np.diff(values) < 1e-5 * values[0]).all()
    assert values[-1] < 0.98 * values[0]


def test_a_watcher_can_end_the_fit(simulated: Simulation) -> None:
    seen_at: list[int] = []

    def watch(k: int, _: Factors) -> bool:
        seen_at.append(k)
        return k == 2

    alternate(
        observations(simulated.ratings),
        dimension=2,
        iterations=9,
        regularization="learned",
        seed=0,
        after_iteration=watch,
    )
    assert seen_at == [0, 1, 2]


BINARY = (SimulatedFeature("gender", ("F", "M"), bias_sd=0.4, selection_sd=0),)
THREE = (SimulatedFeature("gender", ("a", "b", "c"), (0.2, 0.3, 0.5), 0.4, 0),)
CROSSED = (*BINARY, SimulatedFeature("age", ("x", "y", "z"), bias_sd=0.3, selection_sd=0))


@pytest.mark.parametrize("features", [BINARY, THREE, CROSSED])
@pytest.mark.parametrize("regularization", ["learned", 0.02])
def test_the_joint_fit_of_eq_5_recovers_the_biases(
    features: tuple[SimulatedFeature, ...], regularization: Regularization
) -> None:
    config = SimulationConfig(users=900, items=60, ratings=30_000, features=features, dimension=2)
    simulated = simulate(config, seed=5)
    names = [feature.name for feature in features]
    factorizer = Factorizer(dimension=2, biases="joint", regularization=regularization)
    found = factorizer.fit(simulated.ratings, names)
    truth = simulated.offset(*names)
    assert found.offset.shape == truth.shape
    assert np.abs(found.offset.sum(axis=1)).max() < 1e-5
    assert np.corrcoef(found.offset.ravel(), truth.ravel())[0, 1] > 0.97
    assert np.sqrt(np.mean((found.offset - truth) ** 2)) < 0.25 * truth.std()
    shuffled = simulated.ratings.feature(*names)
    shuffled = replace(shuffled, codes=np.random.default_rng(0).permutation(shuffled.codes))
    apart = replace(shuffled, name="shuffled", parts=(("shuffled", shuffled.categories),))
    control = factorizer.fit(simulated.ratings.with_feature(apart), "shuffled")
    assert control.offset.std() < 0.3 * truth.std()


def test_the_level_is_one_and_items_without_ratings_say_nothing(simulated: Simulation) -> None:
    unrated = [3, 40]
    ratings = simulated.ratings.select_ratings(~np.isin(simulated.ratings.item, unrated))
    for factorizer in (
        Factorizer(dimension=3),
        Factorizer(dimension=3, regularization=0.06),
        Factorizer(dimension=3, biases="joint"),
        Factorizer(dimension=3, method="sgd"),
    ):
        found = factorizer.fit(ratings, "gender")
        assert (found.vectors[:, 0] == 1).all()
        assert not found.vectors[unrated, 1:].any()
        assert np.flatnonzero(~found.informative).tolist() == unrated
        assert np.isfinite(found.centre).all()
        assert found.centre[unrated] == pytest.approx(
            np.full(2, found.centre.mean()), abs=3 * found.centre.std()
        )


def test_what_all_items_have_in_common_is_expected_of_a_new_one() -> None:
    simulated = simulate(SimulationConfig(users=400, items=60, ratings=12_000), seed=6)
    man = simulated.users.categories["gender"][simulated.ratings.user]
    value = simulated.ratings.value + np.where(man == 1, 0.5, -0.5).astype(np.float32)
    ratings = replace(simulated.ratings, value=value).select_ratings(simulated.ratings.item != 0)
    found = Factorizer(dimension=2, biases="joint").fit(ratings, "gender")
    assert found.offset[0] == pytest.approx([-0.5, 0.5], abs=0.1)
    control = Factorizer(dimension=2, biases="joint").fit(simulated.ratings, "gender")
    assert np.abs(control.offset.mean(axis=0)).max() < 0.1


def test_moments_are_those_of_the_rated_rows() -> None:
    rng = np.random.default_rng(0)
    rows, rated = rng.normal(2, 3, (400, 5)).astype(np.float32), rng.random(400) < 0.7
    mean, covariance = moments(rows, rated)
    assert np.allclose(mean, rows[rated].astype(np.float64).mean(axis=0), rtol=1e-12)
    assert np.allclose(covariance, np.cov(rows[rated], rowvar=False, bias=True), atol=1e-5)
    assert not np.allclose(mean, rows.mean(axis=0), rtol=1e-3)


def test_expected_squares_are_those_of_drawn_profiles() -> None:
    """E (y - m - b - <x, v>)^2, with levels and vectors as uncertain as their variances say."""
    rng = np.random.default_rng(7)
    user, item = (np.array(index, np.int32) for index in ([0, 0, 1, 2], [1, 0, 1, 0]))
    value = rng.normal(size=4).astype(np.float32)
    x, v = (rng.normal(size=(rows, 4)).astype(np.float32) for rows in (3, 2))
    spread = [rng.uniform(0.1, 0.6, (rows, 2)).astype(np.float32) for rows in (3, 2)]
    found = expected_squares(user, item, value, x, v, spread[0], spread[1], ALIKE)
    draws = 200_000
    X, V = (
        mean + rng.normal(size=(draws, *mean.shape)) * np.sqrt(s[:, [0, 1, 1, 1]])
        for mean, s in zip((x, v), spread, strict=True)
    )
    inner = np.einsum("snd,snd->sn", X[:, user, 1:], V[:, item, 1:])
    squares = ((value - X[:, user, 0] - V[:, item, 0] - inner) ** 2).sum(axis=1)
    assert found == pytest.approx(squares.mean(), abs=5 * squares.std() / np.sqrt(draws))
    nothing = [np.zeros_like(s) for s in spread]
    certain = expected_squares(user, item, value, x, v, nothing[0], nothing[1], ALIKE)
    exact = (value - x[user, 0] - v[item, 0] - (x[user, 1:] * v[item, 1:]).sum(axis=1)) ** 2
    assert certain == pytest.approx(exact.sum(), rel=1e-5)
    assert certain < 0.9 * found
    weight = rng.uniform(0, 2, len(value))
    weighted = expected_squares(user, item, value, x, v, nothing[0], nothing[1], weight)
    assert weighted == pytest.approx((weight * exact).sum(), rel=1e-5)
