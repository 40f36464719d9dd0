"""Greedy steps beside recomputed inverses, and sums that keep their digits."""

import numpy as np
import pytest

from midpoint.analyst.solicit import search as design_search
from midpoint.analyst.solicit.search import _Design, greedy, independent_start, search
from tests.support.models.design_problems import loss_of, vectors_of

SLACK = 1 + 1e-9


def test_greedy_steps_are_those_of_recomputed_inverses() -> None:
    vectors, base = vectors_of(60, 5, seed=4), np.eye(5)
    expected: list[int] = []
    for _ in range(20):
        left = [j for j in range(60) if j not in expected]
        losses = [loss_of(vectors, base, None, [*expected, j]) for j in left]
        expected.append(left[int(np.argmin(losses))])
    assert greedy(vectors, base, 20) == expected
    alone = loss_of(vectors, base, None, expected)
    assert loss_of(vectors, base, None, search(vectors, base, 20)) <= alone * SLACK


@pytest.mark.parametrize("weak", [1.0, 1e-4, 1e-8])
def test_running_sums_keep_their_digits_where_the_prior_is_weak(weak: float) -> None:
    vectors = vectors_of(60, 5, seed=4)
    design = _Design(vectors, weak * np.eye(5), [])
    design.add_best(20)
    assert design._growth > 1  # sums that were updated, not just computed afresh
    fresh = _Design(vectors, weak * np.eye(5), list(design.chosen))
    assert design._variance == pytest.approx(fresh._variance, rel=1e-8)
    assert design._influence == pytest.approx(fresh._influence, rel=1e-6)


def test_running_sums_that_are_never_refreshed_lose_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design_search, "REFRESH", np.inf)
    with pytest.raises(AssertionError):
        test_running_sums_keep_their_digits_where_the_prior_is_weak(1e-8)


def test_the_independent_start_has_full_rank_where_the_first_items_have_not() -> None:
    vectors = np.repeat(vectors_of(6, 4, seed=7), 5, axis=0)
    chosen = independent_start(vectors, np.zeros((4, 4)), 4)
    assert np.linalg.matrix_rank(vectors[chosen]) == 4
    assert np.linalg.matrix_rank(vectors[:4]) == 1
