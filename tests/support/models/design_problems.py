"""Small problems of choosing items, and their exhaustive solution."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]


class Problem(NamedTuple):
    vectors: Float
    budget: int
    prior: Float | None
    weights: Float | None


def vectors_of(m: int, d: int, seed: int) -> Float:
    """Made-up item profiles: level 1 first, then tastes that matter less and less."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(m, d)) * np.linspace(1, 0.3, d)
    vectors[:, 0] = 1
    return vectors


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    d = draw(st.integers(1, 3))
    m = draw(st.integers(d + 1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    prior = draw(st.sampled_from([None, 1e-8, 1e-3, 1.0, 100.0]))
    budget = draw(st.integers(1 if prior else d, m + 1))
    weights = rng.uniform(0.05, 1, m) if draw(st.booleans()) else None
    unit = 10.0 ** draw(st.integers(-3, 3))
    vectors = rng.normal(size=(m, d)) * unit
    precision = None if prior is None else prior * unit**2 * np.eye(d)
    return Problem(vectors, budget, precision, weights)


def loss_of(vectors: Float, prior: Float | None, weights: Float | None, items: ArrayLike) -> float:
    """Compute tr[(A0 + sum p v v^T)^-1] as it is written."""
    V = vectors[np.asarray(items)]
    p = np.ones(len(V)) if weights is None else weights[np.asarray(items)]
    A = (V * p[:, None]).T @ V + (0 if prior is None else prior)
    return float(np.trace(np.linalg.inv(A)))


def best_of_all(problem: Problem) -> float:
    vectors, budget, prior, weights = problem
    sets = combinations(range(len(vectors)), min(budget, len(vectors)))
    return min(loss_of(vectors, prior, weights, items) for items in sets)
