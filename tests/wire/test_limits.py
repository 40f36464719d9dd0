import numpy as np

from midpoint.wire import ONE
from midpoint.wire.limits import (
    LEAST_REVEAL,
    are_strata_alike,
    most_spread,
    spread,
    spread_of_means,
)


def test_limits_are_three_quarters_of_the_scale_and_one_in_sixty_four() -> None:
    assert most_spread(4 * ONE) == 3 * ONE
    assert LEAST_REVEAL * 64 == ONE


def test_the_spread_of_means_is_that_of_the_distributions() -> None:
    points = np.array([1, 2, 3, 4, 5]) * ONE
    levels = np.random.default_rng(0).multinomial(ONE, np.full(5, 0.2), size=(20, 3))
    means = levels @ points
    assert np.array_equal(spread_of_means(levels, points), means.max(axis=1) - means.min(axis=1))
    assert np.array_equal(spread(np.array([[3, -1, 2], [0, 0, 0]])), [4, 0])


def test_strata_are_alike_where_they_begin_within_a_factor_of_two() -> None:
    assert are_strata_alike(np.zeros((1, 3), np.int64))
    assert are_strata_alike(np.array([[0, 0], [5, 10], [12, 24]]))
    assert not are_strata_alike(np.array([[0, 0], [5, 10], [12, 25]]))
