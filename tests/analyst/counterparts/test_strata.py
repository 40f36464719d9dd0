import numpy as np
import pytest
from scipy.special import expit

from midpoint.analyst import PositionModel, fit_positions
from midpoint.analyst.counterparts import dimensions, fit
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Model, Prior
from midpoint.analyst.counterparts.strata import fit_strata
from midpoint.data import Ratings
from midpoint.wire import GRAIN
from tests.support.people.position_world import (
    QUICK,
    Float,
    World,
    as_devices_do,
    draw_people,
    made_ratings,
    make_truth,
    nothing,
    the_positions,
)


def two_kinds_of_raters() -> Ratings:
    """Draw light raters, of whom `a` spread widely in a selection factor, and heavy ones (`b` do).

    On the whole the categories have one prior: means and covariances are the same.
    """
    model, _ = make_truth()
    category = np.random.default_rng(6).integers(0, 2, 2000)
    parts = []
    for kind, activity in enumerate((-1.0, 1.0)):
        spread = np.tile(np.eye(4) * 0.2, (2, 1, 1))
        spread[kind, 1, 1], spread[1 - kind, 1, 1] = 1.4, 0.05
        rate = np.full_like(model.rate, activity - 1.0)
        prior = Prior(np.zeros((2, 4)), spread)
        parts.append(draw_people(model._replace(rate=rate), prior, category, seed=kind))
    light, heavy = parts
    return made_ratings(
        np.concatenate([light.user, heavy.user + light.n_users]),
        np.concatenate([light.item, heavy.item]),
        np.concatenate([light.value, heavy.value]),
        np.tile(category, 2),
        len(model.rate),
    )


@pytest.mark.slow
def test_light_and_heavy_raters_are_carried_each_by_their_own_prior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Among heavy raters one category spreads wider, which one prior for all cannot say."""
    ratings, (model, _) = two_kinds_of_raters(), make_truth()
    profiles = QUICK.fit(ratings, "kind")
    people = People.of(ratings, ratings.feature("kind"))
    heavy = np.diff(people.offsets) > np.median(np.diff(people.offsets))

    def wider(weight: Float) -> float:
        """Return by how much, as a log, mean selection factors spread wider in a category."""
        sums = np.bincount(people.person, weight * model.selection[people.item, 1], len(people))
        mean = sums / np.bincount(people.person, weight, len(people))
        a, b = (mean[heavy & (people.category == k)].std() for k in (0, 1))
        return float(np.log(b / a))

    left = {}
    for strata in (1, 2):
        monkeypatch.setattr(dimensions, "STRATA", strata)
        fitted = fit_positions(profiles, ratings, selection_factors=2, taste_factors=3)
        assert len(the_positions(fitted).least) == strata
        left[strata] = wider(as_devices_do(fitted, people).reveal.astype(np.float64))
    raw = wider(np.ones(len(people.item)))
    assert raw > 0.5
    assert abs(left[2]) < 0.6 * raw
    assert left[1] > 0.9 * raw


def test_every_stratum_holds_the_same_share_of_every_category(
    world: World, fitted: PositionModel
) -> None:
    people = People.of(world.ratings, world.ratings.feature("kind"))
    people = people.thinned(*fit.SHARES, np.random.default_rng(2))
    expected = expit(fitted.rate).sum(axis=0)[people.category]
    activity = (np.diff(people.offsets) + 8) / (expected + 8)
    heavy = activity >= fitted.least[1, people.category]
    shares = [heavy[people.category == k].mean() for k in (0, 1)]
    assert shares == pytest.approx([0.5, 0.5], abs=0.06)
    assert (fitted.least[0] == 0).all()
    assert (fitted.least * GRAIN == np.rint(fitted.least * GRAIN)).all()


def test_there_are_strata_of_many_people_only(few: Ratings, world: World) -> None:
    assert (
        len(the_positions(fit_positions(QUICK.fit(few, "kind"), few, selection_factors=1)).least)
        == 1
    )
    some = world.ratings.select_users(np.arange(800))
    profiles = QUICK.fit(some, "kind")
    assert len(the_positions(fit_positions(profiles, some, selection_factors=1)).least) == 2
    assert len(the_positions(fit_positions(profiles, some, selection_factors=0)).least) == 1


def test_people_who_all_rated_equally_many_are_one_stratum() -> None:
    draws = np.random.default_rng(0)
    user = np.repeat(np.arange(700), 12)
    item = np.concatenate([np.sort(draws.permutation(40)[:12]) for _ in range(700)])
    ratings = made_ratings(
        user, item, draws.integers(1, 10, len(user)).astype(float), np.arange(700) % 2, 40
    )
    people = People.of(ratings, ratings.feature("kind"))
    model = Model(np.zeros((40, 2)), np.ones((40, 1)), np.full((40, 2), 5.0), np.ones((40, 1)), 6.0)
    prior = Prior(np.zeros((2, 2)), np.tile(np.eye(2), (2, 1, 1)))
    assert len(fit_strata(people, model, prior, 2, 1, nothing).least) == 1
    some = people.thinned(0.3, 1.0, draws)
    assert len(fit_strata(some, model, prior, 2, 1, nothing).least) == 2
