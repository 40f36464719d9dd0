"""One person's posterior mean in compiled code, held to the formula in plain numpy."""

import numpy as np
import pytest

from midpoint.analyst.kernels.single import NormalPrior, posterior_mean

ITEMS, D, FACTORS = 40, 6, 3


def prior(*, factors: int = FACTORS, weighed: bool = True) -> NormalPrior:
    draws = np.random.default_rng(0)
    covariance = np.cov(draws.normal(size=(D, 30)))
    root = np.linalg.cholesky(covariance).astype(np.float64)
    made = NormalPrior(
        vectors=(draws.normal(size=(ITEMS, D)) @ root).astype(np.float32),
        typical=draws.normal(3, 1, ITEMS).astype(np.float32),
        weights=draws.uniform(0.2, 1, ITEMS) if weighed else np.empty(0),
        root=root,
        mean=draws.normal(size=D),
        noise=0.7,
        set_factors=draws.normal(size=(ITEMS, factors)).astype(np.float32),
        pseudo_count=draws.uniform(1, 9, factors),
        set_weights=draws.normal(size=(factors, D)),
    )
    for array in made:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return made


def by_formula(prior: NormalPrior, item: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return the mean of N(m + s, C) given y_j = typical_j - <m, v_j> + <x, v_j> + noise."""
    V = np.linalg.solve(prior.root.T, prior.vectors[item].T.astype(np.float64)).T
    w = prior.weights[item] if len(prior.weights) else np.ones(len(item))
    sums = prior.set_factors[item].sum(axis=0, dtype=np.float64)
    mean = prior.mean + (sums / (len(item) + prior.pseudo_count)) @ prior.set_weights
    precision = np.linalg.inv(prior.root @ prior.root.T)
    y = value - prior.typical[item] + V @ prior.mean
    A = precision + (V.T * w) @ V / prior.noise
    return np.linalg.solve(A, precision @ mean + V.T @ (w * y) / prior.noise)


@pytest.mark.parametrize("n", [0, 1, 5, 40])
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("factors", [0, FACTORS])
def test_it_is_the_posterior_mean(n: int, weighed: bool, factors: int) -> None:
    draws = np.random.default_rng(n)
    item = draws.permutation(ITEMS)[:n].astype(np.int32)
    value = draws.integers(1, 6, n).astype(np.float64)
    known = prior(factors=factors, weighed=weighed)
    mean = posterior_mean(known, item, value)
    np.testing.assert_allclose(mean, by_formula(known, item, value), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("index", [-1, ITEMS])
def test_an_item_that_is_none_is_not_read(index: int) -> None:
    assert len(posterior_mean(prior(), np.array([3, index], np.int32), np.ones(2))) == 0


def test_a_number_that_is_none_gives_no_profile() -> None:
    noiseless = prior()._replace(noise=0.0)
    assert len(posterior_mean(noiseless, np.empty(0, np.int32), np.empty(0))) == 0
