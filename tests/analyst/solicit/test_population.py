import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.analyst.fit.information import a_criterion
from midpoint.analyst.solicit.population import choose_items, information_of
from midpoint.analyst.solicit.search import greedy


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_everyone_is_asked_what_the_greedy_search_would_ask_her(seed: int, budget: int) -> None:
    rng = np.random.default_rng(seed)
    V, weights = rng.normal(size=(25, 3)), rng.random(25)
    open_ = rng.random((4, 25)) < 0.8
    base = information_of(V, rng.random((4, 25)) < 0.2, 0.5 * np.eye(3))
    chosen = choose_items(V, weights, base, open_, budget)
    scaled = V * np.sqrt(weights)[:, None]
    for person in range(4):
        assert not (chosen[person] & ~open_[person]).any()
        allowed = np.flatnonzero(open_[person])
        alone = scaled[allowed[greedy(scaled[allowed], base[person], budget)]]
        here = scaled[chosen[person]]
        losses = [a_criterion(base[person] + rows.T @ rows) for rows in (here, alone)]
        assert len(here) == min(budget, len(allowed))
        assert losses[0] == pytest.approx(losses[1], rel=1e-9)


def test_information_adds_up_what_was_answered() -> None:
    V, prior = np.array([[1.0, 0.0], [1.0, 2.0]]), np.eye(2)
    found = information_of(V, np.array([[True, True], [False, False]]), prior)
    assert found.tolist() == [[[3.0, 2.0], [2.0, 5.0]], [[1.0, 0.0], [0.0, 1.0]]]


def test_where_little_is_left_all_of_it_is_asked() -> None:
    V, open_ = np.eye(3), np.array([[True, False, True], [False, False, False]])
    base = np.broadcast_to(np.eye(3), (2, 3, 3))
    assert (choose_items(V, np.array([0.5, 0.5, 0.5]), base, open_, 5) == open_).all()
