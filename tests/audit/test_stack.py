"""A stack of attackers: it reads more than each, and where nothing is to be read, nothing."""

import numpy as np
import pytest

from midpoint.audit.attackers.auc import auc, chance_deviation
from midpoint.audit.stack import Stack
from tests.support.audits.stacks import people, scores_of


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


def test_a_stack_of_one_attacker_keeps_its_order_on_any_scale() -> None:
    """An attacker that learned from more people is surer; the stack learned from a milder one."""
    known, ones = people(0), people(7)
    scores = scores_of(known, (0.7, 0.0), 1)[:, :1]
    stack = Stack.fit(scores, np.zeros(scores.shape, dtype=np.intp), known)
    scores = scores_of(ones, (0.7, 0.0), 8)[:, :1]
    for surer in (scores, 20 * scores, scores**3, scores + 1e6):
        assert auc(stack(surer), ones) == pytest.approx(auc(surer[:, 0], ones), abs=1e-12)


def test_people_are_scored_one_by_one() -> None:
    stack, scores = learned((0.5, 0.5, 0.0)), scores_of(people(7), (0.5, 0.5, 0.0), 8)
    assert np.array_equal(stack(scores)[:5], stack(scores[:5]))


def test_one_outlier_does_not_outweigh_everyone() -> None:
    stack, ones = learned((0.5, 0.5, 0.0)), people(7)
    scores = scores_of(ones, (0.5, 0.5, 0.0), 8)
    scores[0] = 1e9
    assert np.ptp(stack(scores)) < 60
    assert auc(stack(scores), ones) > 0.65
