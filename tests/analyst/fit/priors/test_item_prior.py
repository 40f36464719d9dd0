"""Items that the same people rate are alike: what that teaches, and where it teaches nothing."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import Factorizer, ItemProfiles
from midpoint.analyst.categories.item_factors import rated_sets
from midpoint.analyst.fit.priors.item_prior import (
    RIDGE,
    item_predictors,
    predicted,
    sampled_predictors,
    set_factors,
)
from midpoint.analyst.fit.tuning import new_user_errors
from midpoint.data import Ratings, Scale
from tests.support.tables.people_who_choose import TASTES, people_who_choose


def fits(strength: float) -> tuple[float, float]:
    """Return new people's error with the item prior and without; an item has about 30 ratings."""
    ratings = people_who_choose(strength, items=900, logit=-4.0)
    new = np.arange(ratings.n_users) % 5 == 0
    some, hidden = ratings.select_users(~new), ratings.select_users(new)

    def error(*, sets: bool) -> float:
        profiles: ItemProfiles = Factorizer(dimension=TASTES, sets=sets).fit(some)
        errors = new_user_errors(replace(profiles, set_prior=None), hidden, seed=0)
        return float(np.sqrt(np.square(errors).mean()))

    return error(sets=True), error(sets=False)


def test_few_ratings_teach_more_where_taste_decides_what_is_rated() -> None:
    with_prior, without = fits(strength=1.5)
    assert with_prior < 0.98 * without
    # The control: where people rate at random, who rated what says nothing, and does no harm.
    with_prior, without = fits(strength=0.0)
    assert with_prior == pytest.approx(without, rel=0.01)


def test_items_that_nobody_rated_are_like_the_average_item() -> None:
    ratings = people_who_choose(1.5)
    some = ratings.select_ratings(ratings.item >= 7)
    predictors = item_predictors(
        set_factors(rated_sets(some)), np.bincount(some.item, minlength=120)
    )
    assert predictors is not None
    assert not predictors[:7].any()
    assert predictors[7:].mean(axis=0) == pytest.approx(0.0, abs=1e-9)
    assert predictors[7:].std(axis=0) == pytest.approx(1.0)
    again = sampled_predictors(rated_sets(some))
    assert again == pytest.approx(predictors)


def test_prediction_is_a_ridge_regression() -> None:
    draws = np.random.default_rng(0)
    f, beyond = draws.standard_normal((60, 4)), draws.standard_normal((60, 3))
    rows, targets = np.vstack([f, RIDGE**0.5 * np.eye(4)]), np.vstack([beyond, np.zeros((4, 3))])
    weights = np.linalg.lstsq(rows, targets, rcond=None)[0]
    np.testing.assert_allclose(predicted(f, beyond), f @ weights)


def test_sets_say_nothing_where_everything_is_rated() -> None:
    names = [f"p{i:02}" for i in range(40) for _ in range(40)]
    items = [f"i{j:02}" for _ in range(40) for j in range(40)]
    complete = Ratings.from_columns(names, items, np.full(1600, 3.0), scale=Scale.stars(1, 5))
    assert set_factors(rated_sets(complete)) is None
    assert sampled_predictors(rated_sets(complete)) is None
    few = complete.select_users(np.arange(7)).select_ratings(np.arange(20))
    assert set_factors(rated_sets(few)) is None


def test_factors_that_are_known_are_not_made_again() -> None:
    sets = rated_sets(people_who_choose(1.0, items=300))
    alone = set_factors(sets)
    assert alone is not None
    more = np.hstack([alone + 1, alone])  # marked, so that it is seen where they come from
    known = set_factors(sets, more)
    assert known is not None
    assert np.array_equal(known, alone + 1)
    too_few = set_factors(sets, more[:, : alone.shape[1] - 1])
    assert too_few is not None
    assert np.array_equal(too_few, alone)
