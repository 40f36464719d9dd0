from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import (
    Evidence,
    Factorizer,
    ItemProfiles,
    Training,
    estimate_profiles,
    least_squares,
    posterior,
    predict,
)
from midpoint.data import Ratings, Simulation, SimulationConfig, simulate


def one_by_one(profiles: ItemProfiles, ratings: Ratings) -> NDArray[np.float64]:
    """Return the float64 posterior means."""
    means = []
    for user in range(ratings.n_users):
        mine = ratings.of_user(user)
        evidence = Evidence.of(profiles, ratings.item[mine], ratings.value[mine])
        means.append(posterior(evidence, profiles).mean)
    return np.array(means)


def batch(profiles: ItemProfiles, ratings: Ratings, **options: object) -> NDArray[np.float64]:
    return estimate_profiles(
        profiles,
        ratings.user_offsets,
        ratings.item,
        ratings.value,
        **options,  # type: ignore[arg-type]
    )


def test_the_batch_equals_one_by_one_in_double_precision(
    simulated: Simulation, trained: Training
) -> None:
    ratings = simulated.ratings.select_ratings(simulated.ratings.user != 7)  # one has none
    expected = one_by_one(trained.items, ratings)
    assert batch(trained.items, ratings) == pytest.approx(expected, abs=1e-4)
    assert expected[7] == pytest.approx(trained.items.profile_mean)
    other = replace(trained.items, noise_variance=2 * trained.items.noise_variance)
    assert np.abs(batch(other, ratings) - expected).max() > 0.01


@pytest.mark.parametrize("regularization", ["learned", 0.06])
def test_a_prior_that_is_nearly_singular_costs_no_precision(regularization: str) -> None:
    """Eight training users cannot spread over twenty dimensions."""
    ratings = simulate(SimulationConfig(users=8, items=200, dimension=3), seed=1).ratings
    options = Factorizer(dimension=20, regularization=regularization)  # type: ignore[arg-type]
    profiles = options.fit(ratings, "gender")
    assert np.linalg.cond(profiles.profile_covariance) > 1e6
    assert batch(profiles, ratings) == pytest.approx(one_by_one(profiles, ratings), abs=1e-5)


def test_least_squares_is_the_closed_form_where_there_is_one(
    simulated: Simulation, trained: Training
) -> None:
    ratings = simulated.ratings
    found = batch(trained.items, ratings, method="least-squares")
    many = np.flatnonzero(np.diff(ratings.user_offsets) >= 30)
    assert len(many) > 50
    for user in many.tolist():
        mine = ratings.of_user(user)
        evidence = Evidence.of(trained.items, ratings.item[mine], ratings.value[mine])
        closed = least_squares(evidence, 1.0).mean
        assert found[user] == pytest.approx(closed, abs=0.02 * float(np.linalg.norm(closed)))
    by_prior = batch(trained.items, ratings)
    assert np.abs(by_prior[many] - found[many]).max() > 0.1


def test_the_prior_helps_those_with_few_ratings(simulated: Simulation, trained: Training) -> None:
    fresh = simulate(replace(simulated.config, users=1500), seed=1)
    assert np.array_equal(fresh.items.vectors, simulated.items.vectors)  # same items, new people
    ratings = fresh.ratings.select_users(np.arange(500, 1500))
    order = np.arange(len(ratings)) - ratings.user_offsets[ratings.user]
    given = ratings.select_ratings(order % 4 == 0)
    hidden = ratings.select_ratings(order % 4 != 0)

    def error(x: NDArray[np.float64]) -> float:
        guess = predict(trained.items, x, hidden.user, hidden.item)
        return float(np.sqrt(np.mean((guess - hidden.value) ** 2)))

    blind = np.tile(trained.items.profile_mean, (ratings.n_users, 1))
    by_map, by_squares = (batch(trained.items, given, method=m) for m in ("map", "least-squares"))
    assert error(by_map) < error(blind) < error(by_squares)


def test_a_prediction_is_eq_4_brought_onto_the_scale(trained_stars: Training) -> None:
    profiles = trained_stars.items
    x = np.array([profiles.profile_mean, profiles.profile_mean])
    x[1, 0] += 10
    user, item = np.array([0, 0, 1]), np.array([2, 5, 2])
    raw = profiles.centre[item] + (x[user] * profiles.vectors[item]).sum(axis=1)
    assert predict(profiles, x, user, item) == pytest.approx(np.clip(raw, 1, 5))
    own = profiles.offset[item, np.array([1, 0])[user]]
    found = predict(profiles, x, user, item, own)
    assert found == pytest.approx(np.clip(raw + own, 1, 5))
    assert raw.max() > 5
    assert not np.allclose(found, predict(profiles, x, user, item))


@pytest.mark.parametrize("weighed", [False, True])
def test_one_person_alone_is_estimated_as_among_many(
    simulated: Simulation, trained: Training, weighed: bool
) -> None:
    """Alone in double precision, among many in single: within its rounding."""
    ratings, profiles = simulated.ratings, trained.items
    weights = np.linspace(0.2, 1.0, profiles.n_items) if weighed else None
    together = batch(profiles, ratings, weights=weights)
    for user in range(0, ratings.n_users, 9):
        alone = batch(profiles, ratings.select_users(np.array([user])), weights=weights)
        assert alone.shape == (1, profiles.dimension)
        assert alone[0] == pytest.approx(together[user], abs=1e-4)
    nobody = estimate_profiles(
        profiles, np.array([0, 0]), np.array([], np.int32), np.array([], np.float32)
    )
    assert nobody[0] == pytest.approx(profiles.profile_mean)


@pytest.mark.parametrize(
    ("offsets", "item"), [([0, 2], [0]), ([1, 2], [0, 1]), ([0, 1], [-1]), ([0, 1], [10**6])]
)
def test_one_person_is_checked_like_many(
    trained: Training, offsets: list[int], item: list[int]
) -> None:
    value = np.ones(len(item), np.float32)
    with pytest.raises(ValueError, match=r"offsets must rise|outside the"):
        estimate_profiles(
            trained.items, np.array(offsets, np.int64), np.array(item, np.int32), value
        )
