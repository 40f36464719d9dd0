from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from midpoint.user.core.discrete import discrete_midpoint
from midpoint.wire import ONE
from tests.support.made_up import STARS, distributions
from tests.support.output_distribution import output_distribution

UNEVEN = (0, ONE, 3 * ONE, 4 * ONE)
Integers = NDArray[np.int64]


def all_answers(levels: Integers, points: Integers, category: int, splits: int) -> Integers:
    """Count answers of one category over every quantile and every split coin."""
    cumulative = levels.cumsum(axis=1)[None]
    level = np.repeat(np.arange(levels.shape[1]), levels[category])
    width = levels[category][level]
    start = (cumulative[0, category] - levels[category])[level]
    u_value = (np.arange(ONE) - start + 0.5) / width
    zero = np.zeros(ONE, dtype=np.intp)
    counts = np.zeros(levels.shape[1], dtype=np.int64)
    for s in range(splits):
        sent = discrete_midpoint(
            cumulative,
            points,
            zero,
            level,
            zero + category,
            u_value,
            np.full(ONE, (s + 0.5) / splits),
        )
        counts += np.bincount(np.searchsorted(points, sent), minlength=levels.shape[1])
    return counts


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("scale", [STARS, UNEVEN])
def test_answers_are_distributed_alike_in_all_categories_exactly(
    K: int, scale: tuple[int, ...]
) -> None:
    points = np.asarray(scale)
    levels = distributions(np.random.default_rng(K), (K,), len(points))
    masses, whole = output_distribution(levels, points)
    splits = whole // ONE
    for category in range(K):
        assert np.array_equal(masses[category], masses[0])
        assert np.array_equal(all_answers(levels, points, category, splits), masses[category])
    assert masses[0].sum() == whole
    assert not np.array_equal(levels[0], levels[1])  # the control: as they are, they differ


def test_a_category_that_lies_about_its_distribution_is_seen() -> None:
    """The control: answers of ratings that do not follow the disclosed distribution differ."""
    points = np.asarray(STARS)
    levels = distributions(np.random.default_rng(1), (2,), 5)
    cumulative = levels.cumsum(axis=1)[None]
    uniform = (np.arange(ONE) + 0.5) / ONE
    zero = np.zeros(ONE, dtype=np.intp)
    sent = discrete_midpoint(cumulative, points, zero, zero, zero, uniform, uniform)
    masses, whole = output_distribution(levels, points)
    found = np.bincount(np.searchsorted(points, sent), minlength=5) / ONE
    assert np.abs(found - masses[0] / whole).max() > 0.1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]), st.sampled_from([STARS, UNEVEN]))
def test_any_distributions_meet_in_one(seed: int, K: int, scale: tuple[int, ...]) -> None:
    points = np.asarray(scale)
    levels = distributions(np.random.default_rng(seed), (K,), len(points))
    masses, whole = output_distribution(levels, points)
    assert (masses == masses[0]).all()
    assert (masses >= 0).all()
    assert masses[0].sum() == whole
    # Splitting is unbiased: the mean is the mean of the categories' means.
    mean = Fraction(int(masses[0] @ points), whole)
    assert mean == Fraction(int((levels @ points).sum()), ONE * K)


def test_a_pure_shift_is_the_midpoint_protocol() -> None:
    """Where classes differ by a shift, each rating's expected answer is r - offset."""
    points = np.asarray(STARS)
    base = np.array([10_000, 20_000, 30_000, 5_536])
    levels = np.array([[*base, 0], [0, *base]])
    cumulative = levels.cumsum(axis=1)[None]
    for category, offset in ((0, -ONE // 2), (1, ONE // 2)):
        for level in np.flatnonzero(levels[category]):
            u = (np.arange(512) + 0.5) / 512
            value, coin = (grid.reshape(-1) for grid in np.meshgrid(u, u))
            zero = np.zeros(len(value), dtype=np.intp)
            sent = discrete_midpoint(
                cumulative, points, zero, zero + level, zero + category, value, coin
            )
            assert sent.mean() == points[level] - offset


def test_a_fair_coin_would_bias_three_categories() -> None:
    points = np.asarray(STARS)
    levels = np.array([[ONE, 0, 0, 0, 0], [0, ONE, 0, 0, 0], [0, ONE, 0, 0, 0]])
    masses, whole = output_distribution(levels, points)
    assert masses[0].tolist() == [ONE, 2 * ONE, 0, 0, 0]
    assert whole == 3 * ONE


def test_a_level_without_mass_takes_its_boundary() -> None:
    points = np.asarray(STARS)
    levels = np.array([[0, 0, ONE, 0, 0], [0, ONE // 2, ONE // 2, 0, 0]])
    cumulative = levels.cumsum(axis=1)[None]
    one, zero = np.ones(1), np.zeros(1, dtype=np.intp)
    low = discrete_midpoint(cumulative, points, zero, zero, zero, 0.3 * one, 0.4 * one)
    high = discrete_midpoint(cumulative, points, zero, zero + 4, zero, 0.3 * one, 0.4 * one)
    assert low.tolist() == [3 * ONE]  # z = 0: mean of 3 and 2, the coin goes up
    assert high.tolist() == [3 * ONE]  # z = 65535: both have 3


def test_equal_categories_change_nothing() -> None:
    points = np.asarray(STARS)
    levels = np.repeat(distributions(np.random.default_rng(2), (1,), 5), 3, axis=0)
    masses, whole = output_distribution(levels, points)
    assert np.array_equal(masses * ONE, levels * whole)


@pytest.mark.parametrize("K", [2, 3])
def test_answers_on_fewer_levels_are_alike_too_and_keep_the_mean(K: int) -> None:
    """Every quantile once in each category: the same answers, with the same coin, one by one."""
    levels = distributions(np.random.default_rng(K), (K,), 11)
    points = np.arange(11) * ONE
    few, cumulative = points[::5], levels.cumsum(axis=1)[None]
    coin, zero = np.random.default_rng(9).random(ONE), np.zeros(ONE, dtype=np.intp)

    def answers(category: int, reported: Integers | None) -> Integers:
        level = np.repeat(np.arange(11), levels[category])
        start = (cumulative[0, category] - levels[category])[level]
        u_value = (np.arange(ONE) - start + 0.5) / levels[category][level]
        return discrete_midpoint(
            cumulative, points, zero, level, zero + category, u_value, coin, reported
        )

    first = answers(0, few)
    assert set(np.unique(first)) <= set(few)
    assert all(np.array_equal(answers(k, few), first) for k in range(1, K))
    assert first.mean() / ONE == pytest.approx(answers(0, None).mean() / ONE, abs=0.04)
    assert len(np.unique(answers(0, None))) > 3  # the control
