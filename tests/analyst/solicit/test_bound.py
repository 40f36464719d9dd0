"""No choice of as many items is better than the bound says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midpoint.analyst.solicit.bound import _filled, certified_bound, lower_bound
from midpoint.analyst.solicit.selection import select
from tests.support.models.design_problems import Problem, best_of_all, problems, vectors_of


@settings(max_examples=min(60, settings().max_examples))
@given(problems(), st.integers(0, 2**32 - 1))
def test_any_symmetric_matrix_proves_a_bound(problem: Problem, seed: int) -> None:
    vectors, budget, prior, weights = problem
    d = vectors.shape[1]
    U = vectors if weights is None else vectors * np.sqrt(weights)[:, None]
    Y = np.random.default_rng(seed).normal(size=(d, d))
    base = np.zeros((d, d)) if prior is None else prior
    bound, influence = certified_bound(U, base, min(budget, len(U)), Y + Y.T)
    assert 0 <= bound <= best_of_all(problem) * (1 + 1e-6)
    assert influence == pytest.approx(np.square(U @ (Y + Y.T)).sum(axis=1))


def test_a_bound_that_counts_too_few_items_is_no_bound() -> None:
    vectors = vectors_of(8, 3, seed=1)
    honest = select(vectors, 5)
    assert lower_bound(vectors, np.zeros((3, 3)), 3) > honest.loss


def test_the_bound_reaches_the_optimum_of_the_relaxation() -> None:
    # e1 and e2 twice each, budget 3: w = 3/4 on every item is optimal by symmetry, loss 4/3
    vectors = np.repeat(np.eye(2), 2, axis=0)
    assert lower_bound(vectors, np.zeros((2, 2)), 3) == pytest.approx(4 / 3, rel=1e-3)
    assert select(vectors, 3).loss == pytest.approx(3 / 2)  # and whole items cannot reach it


def test_the_bound_is_tight_where_the_best_weights_are_not_even() -> None:
    # minimize 1 / 4a + 1 / b, a + b = 6: a = 2, b = 4 by Lagrange, loss 3/8; even weights give 5/12
    vectors = np.repeat([[2.0, 0.0], [0.0, 1.0]], 10, axis=0)
    assert lower_bound(vectors, np.zeros((2, 2)), 6) == pytest.approx(3 / 8, rel=1e-3)
    unsolved = lower_bound(vectors, np.zeros((2, 2)), 6, rounds=1)
    assert unsolved < 0.99 * 3 / 8


def test_the_bound_sees_the_cap_on_an_items_weight() -> None:
    # one long vector: without w <= 1 the relaxation would put nearly all the weight on it
    vectors = np.array([[10.0], [1.0], [1.0]])
    assert lower_bound(vectors, np.zeros((1, 1)), 2) == pytest.approx(1 / 101, rel=1e-3)


@pytest.mark.parametrize("spread", [0, 3, 150])
def test_weights_fill_the_budget_however_their_sizes_differ(spread: int) -> None:
    level = 10.0 ** np.linspace(-spread, spread, 30)
    filled = _filled(level, 12)
    assert filled.sum() == pytest.approx(12)
    assert filled.max() <= 1
    assert (np.diff(filled) >= 0).all()
    free = filled < 1
    assert filled[free] / level[free] == pytest.approx(filled[free][0] / level[free][0])


def test_weights_of_items_that_say_nothing_stay_zero() -> None:
    level = np.array([3.0, 0.0, 1.0, 0.0, 1e-300, 0.0])
    assert _filled(level, 4).tolist() == [1, 0, 1, 0, 0, 0]
    assert _filled(np.array([1.0, 1e-310, 1e-310, 2e-310]), 2).tolist() == [1, 0, 0, 0]
    assert _filled(np.zeros(3), 2).tolist() == [0, 0, 0]
    assert _filled(np.ones(3), 5).tolist() == [1, 1, 1]


def test_the_bound_holds_with_vectors_of_zero_and_of_very_different_lengths() -> None:
    some_zero = np.vstack([np.eye(3), np.zeros((47, 3))])
    found = select(some_zero, 5)
    assert found.loss == pytest.approx(3)
    assert found.bound == pytest.approx(3)
    nothing = select(np.zeros((5, 2)), 2, prior=np.eye(2))
    assert nothing.loss == pytest.approx(nothing.bound) == 2
    rng = np.random.default_rng(0)
    for _ in range(20):
        vectors = rng.normal(size=(8, 2)) * 10 ** rng.uniform(-2.5, 2.5, size=(8, 1))
        found = select(vectors, 4)
        best = best_of_all(Problem(vectors, 4, None, None))
        assert found.bound <= best * (1 + 1e-6)
        assert best <= found.loss * (1 + 1e-6)
        assert found.loss <= best * (1 + found.gap) * (1 + 1e-6)
