from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import (
    Estimate,
    Evidence,
    ItemProfiles,
    Training,
    expected_loss,
    least_squares,
    posterior,
)
from midpoint.data import Simulation, simulate

ITEMS = np.array([0, 3, 5, 9, 20, 21, 30, 44, 60, 71])


def answers(
    profiles: ItemProfiles, x: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw ratings of `ITEMS` by someone with this profile."""
    exact = profiles.centre[ITEMS] + profiles.vectors[ITEMS] @ x
    return np.asarray(exact + rng.normal(0, np.sqrt(profiles.noise_variance), len(ITEMS)))


def test_evidence_of_two_rounds_adds_up(trained: Training) -> None:
    profiles = trained.items
    value = np.linspace(1, 5, len(ITEMS))
    whole = Evidence.of(profiles, ITEMS, value)
    parts = Evidence.of(profiles, ITEMS[:4], value[:4]) + Evidence.of(
        profiles, ITEMS[4:], value[4:]
    )
    none = Evidence.none(profiles)
    for other in (parts, none + parts):
        assert other.information == pytest.approx(whole.information)
        assert other.moment == pytest.approx(whole.moment)
        assert other.count == whole.count == len(ITEMS)
    assert posterior(parts, profiles).mean == pytest.approx(posterior(whole, profiles).mean)
    assert least_squares(parts, 1.0).mean == pytest.approx(least_squares(whole, 1.0).mean)
    assert posterior(none, profiles).mean == pytest.approx(profiles.profile_mean)
    assert posterior(none, profiles).covariance == pytest.approx(profiles.profile_covariance)


def test_least_squares_minimises_the_squares(trained: Training) -> None:
    profiles = trained.items
    value = answers(profiles, profiles.profile_mean, np.random.default_rng(0))
    found = least_squares(Evidence.of(profiles, ITEMS, value), profiles.noise_variance)
    V = profiles.vectors[ITEMS].astype(np.float64)
    expected = np.linalg.lstsq(V, value - profiles.centre[ITEMS], rcond=None)[0]
    assert found.mean == pytest.approx(expected)
    assert found.covariance == pytest.approx(profiles.noise_variance * np.linalg.inv(V.T @ V))


def test_least_squares_of_too_few_ratings_has_the_least_norm(trained: Training) -> None:
    profiles = trained.items
    value = answers(profiles, profiles.profile_mean, np.random.default_rng(0))[:2]
    evidence = Evidence.of(profiles, ITEMS[:2], value)
    V = profiles.vectors[ITEMS[:2]].astype(np.float64)
    rest = value - profiles.centre[ITEMS[:2]]
    found = least_squares(evidence, profiles.noise_variance).mean
    assert V @ found == pytest.approx(rest)
    assert found == pytest.approx(np.linalg.pinv(V) @ rest)
    hidden = np.linalg.svd(V)[2][-1]  # a direction that these ratings do not see
    assert V @ (found + hidden) == pytest.approx(rest)
    assert np.linalg.norm(found) < np.linalg.norm(found + hidden)
    assert expected_loss(evidence.information, 1.0) == float("inf")
    assert expected_loss(Evidence.none(profiles).information, 1.0) == float("inf")


@pytest.mark.slow
def test_the_loss_is_that_of_eq_12(trained: Training) -> None:
    """E |x-hat - x|^2 = sigma^2 tr[(sum v v^T)^-1], whatever x is."""
    profiles, rng = trained.items, np.random.default_rng(1)
    x = rng.normal(0, 1, profiles.dimension)
    squares = []
    for _ in range(3000):
        evidence = Evidence.of(profiles, ITEMS, answers(profiles, x, rng))
        squares.append(((least_squares(evidence, 1.0).mean - x) ** 2).sum())
    expected = expected_loss(evidence.information, profiles.noise_variance)
    four_errors = 4 * np.std(squares) / np.sqrt(len(squares))
    assert np.mean(squares) == pytest.approx(expected, abs=four_errors)
    assert four_errors < 0.2 * expected
    fewer = Evidence.of(profiles, ITEMS[:-2], np.zeros(len(ITEMS) - 2)).information
    assert expected_loss(fewer, profiles.noise_variance) > expected
    assert expected_loss(2 * evidence.information, profiles.noise_variance) == pytest.approx(
        expected / 2
    )


@pytest.mark.slow
def test_the_posterior_is_the_best_guess_for_people_of_the_prior(trained: Training) -> None:
    profiles, rng = trained.items, np.random.default_rng(2)
    people = rng.multivariate_normal(profiles.profile_mean, profiles.profile_covariance, 2000)
    by_map, by_squares, scaled = [], [], []
    for x in people:
        evidence = Evidence.of(profiles, ITEMS, answers(profiles, x, rng))
        found = posterior(evidence, profiles)
        by_map.append(found.mean - x)
        by_squares.append(least_squares(evidence, 1.0).mean - x)
        scaled.append(by_map[-1] @ np.linalg.solve(found.covariance, by_map[-1]))
    assert np.square(by_map).sum() < 0.8 * np.square(by_squares).sum()
    assert np.mean(scaled) == pytest.approx(profiles.dimension, rel=0.1)  # chi squared


def covered(found: Estimate, profiles: ItemProfiles, truth: NDArray[np.float64]) -> float:
    mean, deviation = found.predict(profiles)
    return float(np.mean(np.abs(truth - mean) < deviation))


def test_predictions_are_as_certain_as_they_say(simulated: Simulation, trained: Training) -> None:
    profiles = trained.items
    fresh = simulate(replace(simulated.config, users=900), seed=1)
    gender = fresh.users.categories["gender"]
    rng = np.random.default_rng(3)
    shares, naive = [], []
    for user in range(500, 900):
        exact = fresh.items.means + fresh.items.vectors @ fresh.users.vectors[user]
        exact = exact + fresh.users.means[user] + rng.normal(0, fresh.noise_sd, len(exact))
        answered = rng.choice(profiles.n_items, 12, replace=False)
        found = posterior(Evidence.of(profiles, answered, exact[answered]), profiles)
        others = np.setdiff1d(np.arange(profiles.n_items), answered)
        mean, deviation = found.predict(profiles)
        inside = np.abs(exact - mean)[others] < deviation[others]
        shares.append(inside.mean())
        naive.append((np.abs(exact - mean)[others] < 0.7 * deviation[others]).mean())
    assert gender.max() == 1
    assert np.mean(shares) == pytest.approx(0.683, abs=0.03)  # one standard deviation
    assert np.mean(naive) < 0.55
