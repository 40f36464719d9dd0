"""How far people use the scale is learned as it is."""

import numpy as np
import pytest

from midpoint.analyst.counterparts import spread
from midpoint.wire.positions import MOST_LOG_SPREAD
from tests.support.position_world import the_positions
from tests.support.scale_use import learned_from, spread_people


def test_log_spreads_are_found_again() -> None:
    found = the_positions(learned_from(spread_people(3000, 0, (0.1, 0.4)), "cmp")).spread
    assert found is not None
    (few, narrow), (many, wide) = found[0]
    # Rounding to levels adds the same noise to everyone, so that spreads differ less.
    assert (narrow, wide) == pytest.approx((0.1, 0.36), abs=0.06)
    assert few - many == pytest.approx(0.4**2 - 0.1**2, abs=0.06)


def test_people_who_are_alike_have_alike_spreads() -> None:
    found = the_positions(learned_from(spread_people(3000, 0, (0.3, 0.3)), "cmp")).spread
    assert found is not None
    assert found[0, 0] == pytest.approx(found[0, 1], abs=0.04)


def test_means_are_brought_to_what_devices_accept() -> None:
    far = np.array([[[0.5, 0.2], [-0.5, 0.3]], [[0.1, 0.2], [0.0, 0.2]]])
    near = spread._within_limits(far)
    assert np.ptp(near[0, :, 0]) < MOST_LOG_SPREAD
    assert near[0, :, 0].mean() == pytest.approx(0.0)
    assert near[1] == pytest.approx(far[1])
    assert (near[..., 1] == far[..., 1]).all()


def test_a_group_of_nobody_takes_what_all_have() -> None:
    group, count = np.array([0, 0, 2, 2]), np.full(4, 50)
    normal, w = spread._fit(group, count, np.array([50.0, 60.0, 45.0, 55.0]), 3)
    assert np.isfinite(normal).all()
    assert normal[1, 0] == pytest.approx(w.mean())
