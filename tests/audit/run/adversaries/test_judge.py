"""A stack of attackers: it reads more than each, and where nothing is to be read, nothing."""

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.attackers.attacker import NestedScores
from midpoint.audit.attackers.auc import auc, chance_deviation
from midpoint.audit.run.adversaries.judge import (
    Gauge,
    Nested,
    Stack,
    Stacked,
    nested_arrays,
    nested_of,
    nested_scores,
    stacked,
)
from midpoint.errors import MidpointError
from tests.support.audits.seen import Seen, codes
from tests.support.audits.small_audit import AdaptiveByItems

Float = NDArray[np.float64]
SIZE = 3000


def scores_of(ones: NDArray[np.bool_], shift: tuple[float, ...], seed: int) -> Float:
    """Let attackers know a little each, and independently; the second one on a wild scale."""
    noise = np.random.default_rng(seed).normal(size=(len(ones), len(shift)))
    found = noise + np.outer(ones, shift)
    found[:, 1] = np.sinh(3 * found[:, 1])
    return found


def people(seed: int, size: int = SIZE) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random(size) < 0.3


def learned(shift: tuple[float, ...], seed: int = 0) -> Stack:
    ones = people(seed)
    scores = scores_of(ones, shift, seed + 1)
    return Stack.fit(scores, np.zeros(scores.shape, dtype=np.intp), ones)


def test_a_stack_reads_more_than_each_and_ignores_noise() -> None:
    stack, ones = learned((0.5, 0.5, 0.0)), people(7)
    scores = scores_of(ones, (0.5, 0.5, 0.0), 8)
    each = [auc(column, ones) for column in scores.T]
    assert auc(stack(scores), ones) > max(each) + 0.03
    assert stack.weights[2] < 0.2 * stack.weights[:2].min()
    assert (stack.weights >= 0).all()


def test_where_nothing_is_to_be_read_it_reads_nothing() -> None:
    stack, ones = learned((0.0, 0.0, 0.0)), people(7)
    found = stack(scores_of(ones, (0.0, 0.0, 0.0), 8))
    assert abs(auc(found, ones) - 0.5) < 3.5 * chance_deviation(ones)
    assert np.ptp(found) < 1.0  # and knows it
    sure = learned((2.0, 2.0, 2.0))(scores_of(ones, (2.0, 2.0, 2.0), 8))
    assert np.ptp(sure) > 5.0


@pytest.mark.parametrize("shift", [0.4, 1.0, 2.0])
def test_of_those_it_is_sure_of_as_many_are_right_as_it_says(shift: float) -> None:
    """Both categories weigh the same, however rare one of them is."""
    stack, ones = learned((shift,) * 3), people(7, 20_000)
    log_odds = stack(scores_of(ones, (shift,) * 3, 8))
    weight = np.where(ones, 0.5 / ones.mean(), 0.5 / (~ones).mean())
    for low, high in ((0.6, 0.7), (0.7, 0.8), (0.85, 0.95)):
        sure = 1 / (1 + np.exp(-np.abs(log_odds)))
        inside = (sure >= low) & (sure < high)
        if inside.sum() > 300:
            right = ((log_odds > 0) == ones)[inside]
            assert (weight[inside] @ right) / weight[inside].sum() == pytest.approx(
                np.average(sure[inside], weights=weight[inside]), abs=0.08
            )


def test_people_are_scored_one_by_one() -> None:
    stack, scores = learned((0.5, 0.5, 0.0)), scores_of(people(7), (0.5, 0.5, 0.0), 8)
    assert np.array_equal(stack(scores)[:5], stack(scores[:5]))


def test_a_gauge_keeps_the_order_and_knows_no_outliers() -> None:
    gauge = Gauge.of(np.array([0.0, 1.0, 1.0, 2.0, 1e9]))
    found = gauge(np.array([-1e12, 0.0, 0.5, 1.0, 1.5, 2.0, 1e9, 1e12]))
    assert (np.diff(found) >= 0).all()
    assert found[0] == found[1]
    assert found[-1] == found[-2] < 2


def test_it_learns_from_those_whom_all_attackers_judged() -> None:
    category = people(3, 400).astype(np.int64)
    scores = scores_of(category == 1, (1.0, 1.0), 4)
    first = NestedScores.of([(np.arange(0, 400, 2), scores[::2, 0]), (np.arange(1, 400, 2),
                             scores[1::2, 0])])  # fmt: skip
    second = NestedScores.of([(np.arange(100, 400), scores[100:, 1])])
    assert first.scores.tolist() == scores[:, 0].tolist()
    kept = [nested_of(nested_arrays([one], category)) for one in (first, second)]
    stored = [one for one in kept if one is not None]
    log_odds, weights = stacked(stored, [scores[:, :1], scores[:, 1:]], [1])
    assert log_odds.shape == (400, 1)
    assert weights.sum() == pytest.approx(1.0)
    assert auc(log_odds[:, 0], category) > max(auc(one, category) for one in scores.T)
    assert nested_of({"scores": scores}) is None
    assert nested_arrays([], category) == {}
    # What is said of those who are attacked has no part in it.
    again = stacked(stored, [-scores[:, :1], scores[:, 1:] ** 2], [1])[1]
    assert np.array_equal(again, weights)


def test_several_questions_are_stacked_one_by_one() -> None:
    category = np.random.default_rng(1).integers(3, size=600)
    scores = np.random.default_rng(2).normal(size=(2, 600, 3)) + (category[:, None] == np.arange(3))
    nested = [Nested(np.arange(600), np.zeros((600, 3), np.intp), category, one) for one in scores]
    log_odds, weights = stacked(nested, list(scores), [0, 1, 2])
    assert weights.shape == (3, 2)
    for k in range(3):
        assert auc(log_odds[:, k], category == k) > auc(scores[0][:, k], category == k)


@pytest.mark.parametrize("name", ["adaptive-lr-items", "likelihood", "own"])
def test_what_is_said_of_training_people_is_said_without_their_labels(name: str) -> None:
    """Where labels are dealt out at random nothing is read of people who were left out."""
    seen, make = Seen(), ATTACKERS.get(name, AdaptiveByItems)
    views, labels = (
        [seen.view(seen.training, "no", draw) for draw in range(2)],
        codes(seen.training),
    )
    dealt = np.random.default_rng(5).permutation(labels)
    for given, reads in ((labels, True), (dealt, False)):
        attacker = make()
        attacker.fit(views, given, seed=1)
        found = nested_scores(attacker, make, views, given, seed=1, wanted=1)
        area = auc(found.scores, given[found.people])
        assert (area > 0.7) == reads
        if name != "likelihood":  # what it was fitted to it knows by heart
            assert auc(attacker.score(views[0]), given) > 0.7


def test_a_stack_has_to_be_fitted() -> None:
    seen = Seen()
    with pytest.raises(MidpointError, match="'judge' has to be fitted before it scores"):
        Stacked({"items": AdaptiveByItems}).score(seen.view(seen.training, "no"))
