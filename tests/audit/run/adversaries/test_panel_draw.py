"""Who volunteers: like everyone, heavy raters, or people of a category."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.audit.run.adversaries.panel_draw import HEAVY, draw_panel
from midpoint.audit.run.folds import FoldData
from midpoint.audit.run.plan import Plan
from midpoint.data import Simulation
from midpoint.errors import MidpointError
from tests.support.audits.small_audit import QUICKLY

PLAN = Plan(("gender",), folds=2, seed=3, factorizer=QUICKLY, outsiders=40, panel=60)


def test_heavy_raters_volunteer_and_outsiders_stay_like_everyone(tiny: Simulation) -> None:
    rated = np.diff(tiny.ratings.user_offsets)
    mean = {"": list[float](), HEAVY: list[float]()}
    for fold in range(20):
        alike, heavy = (
            draw_panel(tiny.ratings, replace(PLAN, volunteers=who), fold) for who in mean
        )
        for drawn, means in zip((alike, heavy), mean.values(), strict=True):
            assert (int(drawn.panel.sum()), int(drawn.outsiders.sum())) == (60, 40)
            assert not (drawn.panel & drawn.outsiders).any()
            means.append(rated[drawn.panel].mean())
        assert np.array_equal(alike.outsiders, heavy.outsiders)
    assert np.mean(mean[""]) == pytest.approx(rated.mean(), rel=0.03)
    assert np.mean(mean[HEAVY]) > 1.06 * rated.mean()


def test_people_of_a_category_volunteer(tiny: Simulation) -> None:
    feature = tiny.ratings.feature("gender")
    first = feature.categories[0]
    plan = replace(PLAN, volunteers=f"gender={first}")
    share = (feature.codes[draw_panel(tiny.ratings, plan, 0).panel] == 0).mean()
    assert share > (feature.codes == 0).mean() + 0.15
    with pytest.raises(MidpointError, match="write heavy, or one of gender="):
        draw_panel(tiny.ratings, replace(PLAN, volunteers="gender=old"), 0)


def test_a_planned_panel_is_all_that_anybody_shared(tiny: Simulation) -> None:
    everyone = FoldData.of(tiny.ratings, replace(PLAN, panel=None), 0)
    fold = FoldData.of(tiny.ratings, PLAN, 0)
    assert everyone.training.n_users == everyone.outside.n_users == fold.outside.n_users
    assert fold.training.n_users == 60
