"""Rates where an attack must be sure, beside what is known of them."""

from statistics import NormalDist

import numpy as np
import pytest

from midpoint.audit.attackers.auc import auc
from midpoint.audit.measure.roc import balanced_accuracy, curve, named, true_positives

ONES = np.arange(6000) % 3 == 0
NOISE = np.random.default_rng(1).normal(size=len(ONES))


def test_a_curve_is_as_large_as_its_auc() -> None:
    scores = NOISE + ONES
    drawn = curve(scores, ONES)
    assert (drawn.false[0], drawn.false[-1], drawn.true[0], drawn.true[-1]) == (0, 1, 0, 1)
    assert list(drawn.false) == sorted(drawn.false)
    assert list(drawn.true) == sorted(drawn.true)
    assert np.trapezoid(drawn.true, drawn.false) == pytest.approx(auc(scores, ONES), abs=0.002)


def test_rates_are_those_of_normal_scores() -> None:
    """Scores N(0, 1) and N(d, 1): TPR = 1 - Phi(Phi^-1(1 - FPR) - d)."""
    normal = NormalDist()
    found = true_positives(NOISE + 2 * ONES, ONES)
    for rate, measured in zip((0.01, 0.001), found, strict=True):
        wanted = 1 - normal.cdf(normal.inv_cdf(1 - rate) - 2)
        assert measured.low <= wanted <= measured.high
        assert measured.low < measured.value < measured.high


def test_blind_guessing_finds_as_many_as_it_mistakes() -> None:
    one, tenth = true_positives(NOISE, ONES)
    assert one.low <= 0.01 <= one.high < 0.03
    assert tenth.value < 0.005
    assert balanced_accuracy(NOISE, ONES).low < 0.5 < balanced_accuracy(NOISE, ONES).high
    assert named(0.1 * NOISE, ONES) == ((0, 0, 0), None)


def test_the_category_that_is_found_more_often_counts() -> None:
    """A few people of either category give themselves away entirely."""
    for whose in (ONES, ~ONES):
        scores = NOISE.copy()
        scores[np.flatnonzero(whose)[:200]] = 99 if whose is ONES else -99
        assert true_positives(scores, ONES)[1].value > 200 / whose.sum() - 1e-9


def test_equal_scores_are_taken_together() -> None:
    flat = np.zeros(len(ONES))
    assert [one.value for one in true_positives(flat, ONES)] == pytest.approx([0.01, 0.001])
    assert balanced_accuracy(flat, ONES).value == 0.5
    assert curve(flat, ONES).true == (0, 1)


def test_the_named_are_counted_and_checked() -> None:
    log_odds = np.where(np.arange(len(ONES)) < 600, np.where(ONES, 3.0, -3.0), 0.5)
    log_odds[:60] *= -1
    share, right = named(log_odds, ONES)
    assert share.value == pytest.approx(0.1)
    assert right == pytest.approx(0.9)
    rare = np.arange(1000) < 50  # guessing the common one is no achievement
    assert balanced_accuracy(np.full(1000, -1.0), rare).value == 0.5
