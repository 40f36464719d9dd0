"""Ratings with known extra noise: they count by it, and the rest of the noise is recovered."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import Factorizer
from midpoint.analyst.fit.als import Side, _Fit
from midpoint.analyst.fit.report_noise import CLASSES, ReportNoise
from midpoint.data import Simulation
from midpoint.errors import MidpointError


def test_pairs_name_every_vector_in_the_classes_its_ratings_have() -> None:
    rng = np.random.default_rng(0)
    variance = rng.choice([0.0, 0.02, 0.3, 0.31], 500)
    noise = ReportNoise.of(variance, np.ones(500))
    vector, order = rng.integers(0, 40, 500), rng.permutation(500)
    for listed, found in (
        (vector, noise.pairs(vector, noise.kind)),
        (vector[order], noise.pairs(vector[order], noise.kind[order])),
    ):
        assert (found.vector[found.pair_of] == listed).all()
        assert (found.kind[found.pair_of] == found.rating_kind).all()
        assert len(found.vector) == len(set(zip(listed, found.rating_kind, strict=True)))
    assert (noise.kind[variance == 0] == 0).all()
    assert noise.variance[0] == 0
    assert noise.variance[noise.kind] == pytest.approx(variance, abs=0.31 / CLASSES)


def test_a_row_is_the_weighted_regression_of_its_docstring() -> None:
    rng = np.random.default_rng(1)
    n, d, sigma2 = 60, 4, 0.5
    design = rng.normal(size=(30, d)).astype(np.float32)
    design[:, 0] = 0.0  # levels
    index, value = rng.integers(0, 30, n).astype(np.int32), rng.normal(size=n).astype(np.float32)
    variance = rng.choice([0.0, 0.4], n)
    noise = ReportNoise.of(variance, np.ones(n))
    other, side = Side.start(design), Side.start(np.zeros((1, d), np.float32))
    other.variance[:, 1] = 0.05
    side.covariance = np.diag([1.0, 2.0, 3.0, 4.0])
    prior = side.covariance.copy()
    fit = _Fit(None, d - 1, sigma2, 1, noise)
    fit(side, np.array([0, n]), index, value, design, other, noise.pairs(index, noise.kind))
    rows = design[index].astype(np.float64)
    rows[:, 0] = 1
    w = sigma2 / (sigma2 + variance)
    extra = np.diag([0.0] + [float(0.05 * w.sum())] * (d - 1))
    left = (rows * w[:, None]).T @ rows + extra + sigma2 * np.linalg.inv(prior)
    right = (rows * w[:, None]).T @ value
    assert side.profile[0] == pytest.approx(np.linalg.solve(left, right), abs=1e-4)
    plain = Side.start(np.zeros((1, d), np.float32))
    plain.covariance = prior
    fit._replace(report_noise=None)(plain, np.array([0, n]), index, value, design, other)
    assert np.abs(plain.profile - side.profile).max() > 0.01  # the control: weights matter


def test_the_noise_without_the_coins_is_recovered(simulated: Simulation) -> None:
    ratings, rng = simulated.ratings, np.random.default_rng(2)
    coins = np.where(rng.random(len(ratings)) < 0.6, 0.8, 0.0)
    noisy = (ratings.value + np.sqrt(coins) * rng.normal(size=len(coins))).astype(np.float32)
    seen = replace(ratings, value=noisy)
    factorizer = Factorizer(dimension=4)
    knowing = factorizer.fit(seen, None, None, ReportNoise.of(coins, np.ones(len(coins))))
    blind = factorizer.fit(seen)
    truth = simulated.noise_sd**2
    assert knowing.noise_variance == pytest.approx(truth, rel=0.1)
    assert blind.noise_variance > 1.3 * truth
    means = simulated.items.means - simulated.items.means.mean()

    def miss(centre: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        return float(np.std(centre - means))

    assert miss(knowing.centre) < miss(blind.centre)


def test_no_extra_noise_is_the_plain_fit(simulated: Simulation) -> None:
    ratings, factorizer = simulated.ratings, Factorizer(dimension=3, iterations=3)
    none = ReportNoise.of(np.zeros(len(ratings)), np.ones(len(ratings)))
    same = factorizer.fit(ratings, "gender", None, none)
    assert same.vectors == pytest.approx(factorizer.fit(ratings, "gender").vectors, abs=1e-5)


@pytest.mark.parametrize("factorizer", [Factorizer(validation=0.1), Factorizer(method="sgd")])
def test_what_cannot_weigh_ratings_is_refused(
    simulated: Simulation, factorizer: Factorizer
) -> None:
    none = ReportNoise.of(np.zeros(len(simulated.ratings)), np.ones(len(simulated.ratings)))
    with pytest.raises(MidpointError, match="method als"):
        factorizer.fit(simulated.ratings, None, None, none)
