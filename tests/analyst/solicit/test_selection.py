"""Item selection beside exhaustive search, and the bound that certifies it."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from midpoint.analyst.fit.information import SINGULAR, a_criterion
from midpoint.analyst.score.evidence import Evidence, expected_loss, least_squares
from midpoint.analyst.solicit.selection import Method, select
from midpoint.errors import MidpointError
from tests.support.models.design_problems import Problem, best_of_all, loss_of, problems, vectors_of

Float = NDArray[np.float64]
SLACK = 1 + 1e-9


@settings(max_examples=min(60, settings().max_examples))
@given(problems())
def test_the_choice_is_within_its_gap_of_the_exhaustive_optimum(problem: Problem) -> None:
    vectors, budget, prior, weights = problem
    found = select(vectors, budget, prior=prior, weights=weights)
    best = best_of_all(problem)
    assert len(set(found.items.tolist())) == min(budget, len(vectors))
    assert found.loss == pytest.approx(loss_of(vectors, prior, weights, found.items), rel=1e-6)
    assert found.bound <= best * (1 + 1e-6)
    assert best <= found.loss * (1 + 1e-6)
    assert found.loss <= best * (1 + found.gap) * (1 + 1e-6)


@pytest.mark.parametrize("budget", [6, 12, 40])
def test_no_single_exchange_improves_the_choice(budget: int) -> None:
    vectors = vectors_of(80, 6, seed=budget)
    found = select(vectors, budget, certified=False)
    others = np.setdiff1d(np.arange(80), found.items)

    def exchanged(items: NDArray[np.intp]) -> float:
        swaps = (
            np.r_[np.delete(items, index), other]
            for index in range(budget)
            for other in np.setdiff1d(np.arange(80), items)
        )
        return min(loss_of(vectors, None, None, swap) for swap in swaps)

    assert len(others) == 80 - budget
    assert exchanged(found.items) >= found.loss / SLACK
    random = select(vectors, budget, method="random", certified=False)
    assert exchanged(random.items) < random.loss / SLACK


def test_answers_already_given_count_like_a_prior() -> None:
    vectors, prior = vectors_of(50, 4, seed=5), 0.3 * np.eye(4)
    answered = vectors[:7].T @ vectors[:7]
    left = np.arange(50) >= 7
    given_both = select(vectors, 6, start=answered, prior=prior, candidates=left)
    on_the_sum = select(vectors, 6, prior=answered + prior, candidates=left)
    assert given_both.items.tolist() == on_the_sum.items.tolist()
    assert (given_both.loss, given_both.bound) == (on_the_sum.loss, on_the_sum.bound)
    together = np.r_[np.arange(7), given_both.items]
    assert given_both.loss == pytest.approx(loss_of(vectors, prior, None, together))
    blind = select(vectors, 6, prior=prior, candidates=left)
    assert given_both.loss < loss_of(vectors, prior, None, np.r_[np.arange(7), blind.items])


def test_a_singular_start_is_completed() -> None:
    vectors = vectors_of(40, 5, seed=6)
    answered = vectors[:2].T @ vectors[:2]  # rank 2 of 5
    left = np.arange(40) >= 2
    found = select(vectors, 3, start=answered, candidates=left)
    assert found.loss == pytest.approx(loss_of(vectors, None, None, np.r_[0, 1, found.items]))
    with pytest.raises(MidpointError, match="2 items cannot determine 3 directions"):
        select(vectors, 2, start=answered, candidates=left)


def test_fewer_items_than_dimensions_need_a_prior() -> None:
    vectors = vectors_of(30, 6, seed=8)
    methods: tuple[Method, ...] = ("greedy", "random", "most-rated")
    for method in methods:
        with pytest.raises(MidpointError, match="ask for at least 6 items, or give a prior"):
            select(vectors, 4, method=method, weights=np.full(30, 0.5))
    with pytest.raises(MidpointError, match="a stronger one"):
        select(vectors, 4, prior=1e-13 * np.eye(6))
    found = select(vectors, 4, prior=np.eye(6))
    assert len(found.items) == 4
    assert 0 <= found.gap < 1


def test_items_that_do_not_span_the_space_are_refused_without_a_prior() -> None:
    vectors = vectors_of(30, 4, seed=9)
    vectors[:, 3] = vectors[:, 1]
    with pytest.raises(MidpointError, match="determine only 3 of 4 directions"):
        select(vectors, 10)
    with pytest.raises(MidpointError, match="determine only 3 of 4 directions"):
        select(vectors, 30)
    assert np.isfinite(select(vectors, 10, prior=np.eye(4)).loss)


def test_a_budget_for_all_takes_all_and_is_optimal() -> None:
    vectors = vectors_of(12, 3, seed=10)
    candidates = np.arange(12) % 2 == 0
    for budget in (6, 7, 100):
        found = select(vectors, budget, candidates=candidates)
        assert found.items.tolist() == [0, 2, 4, 6, 8, 10]
        assert found.gap == pytest.approx(0, abs=1e-9)


def test_only_candidates_that_can_be_rated_are_asked() -> None:
    vectors = vectors_of(40, 4, seed=11)
    free = select(vectors, 8)
    weights = np.ones(40)
    weights[free.items[:4]] = 0
    candidates = np.ones(40, dtype=bool)
    candidates[free.items[4:]] = False
    found = select(vectors, 8, weights=weights, candidates=candidates)
    assert np.intersect1d(found.items, free.items).size == 0
    assert found.loss > free.loss
    everything = select(vectors, 40, weights=weights, candidates=candidates)
    assert everything.items.tolist() == np.setdiff1d(np.arange(40), free.items).tolist()


def test_weights_turn_the_choice_to_items_people_know() -> None:
    vectors = np.repeat(vectors_of(20, 4, seed=12), 2, axis=0)  # twins, one known, one hardly
    weights = np.tile([0.9, 0.1], 20)
    found = select(vectors, 10, weights=weights)
    assert (found.items % 2 == 0).all()
    assert (select(vectors, 10, weights=weights[::-1]).items % 2 == 1).all()


def test_the_expected_loss_is_not_below_the_loss_of_the_expected_information() -> None:
    vectors, prior = vectors_of(30, 3, seed=13), 0.5 * np.eye(3)
    weights = np.full(30, 0.5)
    found = select(vectors, 8, prior=prior, weights=weights)
    rng = np.random.default_rng(0)
    draws = [found.items[rng.random(8) < 0.5] for _ in range(2000)]
    expected = np.mean([loss_of(vectors, prior, None, items) for items in draws])
    assert expected > found.loss
    assert loss_of(vectors, prior, None, found.items) < found.loss  # were all of them rated


@pytest.mark.slow
def test_greedy_beats_random_and_most_rated() -> None:
    ratios = []
    for seed in range(8):
        vectors = vectors_of(120, 6, seed=100 + seed)
        weights = np.random.default_rng(seed).uniform(0.1, 1, 120)
        ours = select(vectors, 15, weights=weights)
        random = select(vectors, 15, weights=weights, method="random", seed=seed)
        popular = select(vectors, 15, weights=weights, method="most-rated")
        assert random.bound == popular.bound == ours.bound
        ratios.append((random.loss / ours.loss, popular.loss / ours.loss))
    assert np.min(ratios) > 1
    assert (np.mean(ratios, axis=0) > [3, 1.5]).all()


def test_baselines_choose_as_they_say() -> None:
    vectors = vectors_of(50, 3, seed=14)
    weights = np.linspace(0.1, 0.9, 50)
    popular = select(vectors, 5, weights=weights, method="most-rated")
    assert popular.items.tolist() == [45, 46, 47, 48, 49]
    draws = [select(vectors, 5, method="random", seed=s).items.tolist() for s in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    with pytest.raises(MidpointError, match="without weights"):
        select(vectors, 5, method="most-rated")


def test_a_singular_baseline_has_an_infinite_loss() -> None:
    vectors = np.vstack([np.ones((5, 2)), np.eye(2)])
    found = select(vectors, 2, weights=[0.9] * 5 + [0.1] * 2, method="most-rated")
    assert found.loss == found.gap == float("inf")
    assert np.isfinite(select(vectors, 2).loss)


def test_without_a_certificate_nothing_is_promised() -> None:
    vectors = vectors_of(50, 3, seed=15)
    plain = select(vectors, 5, certified=False)
    assert plain.items.tolist() == select(vectors, 5).items.tolist()
    assert (plain.bound, plain.gap) == (0.0, float("inf"))


def test_float32_profiles_are_worked_on_in_float64() -> None:
    single = vectors_of(100, 5, seed=16).astype(np.float32)
    assert select(single, 10).loss == select(single.astype(np.float64), 10).loss


def test_the_criterion_is_infinite_exactly_where_it_should_be() -> None:
    assert a_criterion(np.diag([1.0, 4.0])) == pytest.approx(1.25)
    assert a_criterion(np.diag([1.0, 0.0])) == float("inf")
    assert a_criterion(np.zeros((2, 2))) == float("inf")
    for share, finite in ((2 * SINGULAR, True), (SINGULAR / 2, False)):
        information = np.diag([1.0, share])
        assert np.isfinite(a_criterion(information)) == finite
        assert expected_loss(information, 0.5) == 0.5 * a_criterion(information)
        open_direction = least_squares(Evidence(information, np.array([0.0, share]), 2), 1.0)
        assert open_direction.mean[1] == pytest.approx(1.0 if finite else 0.0)


BAD: list[tuple[dict[str, object], str]] = [
    ({"budget": 0}, "budget of 0"),
    ({"vectors": np.ones(3)}, "vectors has shape"),
    ({"vectors": np.full((4, 2), np.nan)}, "vectors must be finite"),
    ({"start": np.eye(3)}, "start has shape"),
    ({"prior": np.array([[1.0, 2.0], [0.0, 1.0]])}, "prior is not symmetric"),
    ({"prior": np.diag([1.0, -1.0])}, "prior has a negative eigenvalue"),
    ({"weights": [0.5, 1.5, 0.5, 0.5]}, "weight 1.5 of item 1"),
    ({"weights": [0.5]}, "weights has shape"),
    ({"candidates": [0, 1, 2]}, "candidates must be 4 values"),
    ({"candidates": [False] * 4}, "no item may be asked"),
    ({"method": "best"}, "use one of greedy, random, most-rated"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_refused(change: dict[str, object], message: str) -> None:
    good: dict[str, object] = {"vectors": vectors_of(4, 2, seed=0), "budget": 2}
    select(**good)  # type: ignore[arg-type]
    with pytest.raises(MidpointError, match=message):
        select(**(good | change))  # type: ignore[arg-type]
