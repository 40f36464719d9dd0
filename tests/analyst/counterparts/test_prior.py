from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import (
    FIRST_STEPS,
    WIDEST,
    Finder,
    Located,
    Model,
    Prior,
    fit_prior,
    prior_of,
    shortened,
)
from midpoint.data import Ratings
from midpoint.wire.positions import MOST_CHANGE
from tests.support.people.position_world import Float, World, nothing


def test_no_prior_is_wider_than_devices_accept(few: Ratings) -> None:
    people = People.of(few, few.feature("kind"))
    far = np.random.default_rng(0).normal(0, 100, (len(people), 3))
    found = prior_of(people, Located(far, np.zeros((2, 3, 3)), np.zeros_like(far)))
    assert np.linalg.eigvalsh(found.covariance).max() == pytest.approx(WIDEST)
    near = prior_of(people, Located(far / 100, np.zeros((2, 3, 3)), np.zeros_like(far)))
    assert np.linalg.eigvalsh(near.covariance).max() < 10


def slope_at(z: Float, k: int, rated: Any, value: Float, model: Model, prior: Prior) -> Float:
    """Return the slope of the log posterior, item by item."""
    d = model.selection.shape[1]
    p = expit(model.rate[:, k] + model.selection @ z[:d])
    rest = value - model.base[rated, k] - model.taste[rated] @ z[d:]
    of_sets = model.selection[rated].sum(axis=0) - p @ model.selection
    of_values = rest @ model.taste[rated] / model.noise
    pull = np.linalg.solve(prior.covariance[k], prior.mean[k] - z)
    return np.asarray(pull + np.concatenate([of_sets, of_values]))


@pytest.mark.parametrize("selection_factors", [0, 2])
def test_people_are_where_the_posterior_is_highest(world: World, selection_factors: int) -> None:
    model, prior = world.model, world.prior
    cut = 2 - selection_factors
    model = model._replace(selection=model.selection[:, cut:])
    prior = Prior(prior.mean[:, cut:], prior.covariance[:, cut:, cut:])
    people = People.of(world.ratings, world.ratings.feature("kind"))
    start = prior.mean[people.category]
    found = Finder(people, model, None).locate(model.rate, prior, start, 8).position
    for i in (0, 1, 1000, len(people) - 1):
        mine = slice(people.offsets[i], people.offsets[i + 1])
        k = int(people.category[i])
        slope = partial(slope_at, k=k, rated=people.item[mine], value=people.value[mine])
        assert np.abs(slope(found[i], model=model, prior=prior)).max() < 2e-3
        assert np.abs(slope(start[i], model=model, prior=prior)).max() > 0.1
    once = Finder(people, model, 1).locate(model.rate, prior, start, 1).position
    d = model.selection.shape[1]
    change = np.abs((once - start)[:, :d] @ model.selection.T)
    assert change.max(initial=0.0) <= MOST_CHANGE + 1e-9


def test_long_steps_are_shortened_and_keep_their_direction() -> None:
    selection, step = np.array([[1.0, -2.0], [0.5, 0.0]]), np.array([[2.0, -4.0, 5.0], [1, 1, 1]])
    short = shortened(step, selection)
    np.testing.assert_allclose(short[0], step[0] / 2)  # the first item's log odds changed by 10
    np.testing.assert_array_equal(short[1], step[1])
    np.testing.assert_array_equal(shortened(step, np.zeros((2, 0))), step)


def test_steps_by_a_kept_curvature_reach_the_same_positions(world: World) -> None:
    people = People.of(world.ratings, world.ratings.feature("kind"))
    rate, prior, start = world.model.rate, world.prior, world.prior.mean[people.category]
    finder = Finder(people, world.model, None)
    fresh = finder.locate(rate, prior, start, 8).position
    near = finder.locate(rate, prior, start, FIRST_STEPS).position
    kept = finder.locate(rate, prior, near, 8, fresh=False).position
    np.testing.assert_allclose(kept, fresh, atol=2e-3)
    other = finder.locate(rate + 0.2, prior, near, 8, fresh=False).position  # slopes are exact
    assert np.abs(other - fresh).max() > 0.05


def test_people_at_one_point_need_one_sum(world: World) -> None:
    people = People.of(world.ratings, world.ratings.feature("kind"))
    start = world.prior.mean[people.category]
    finder = Finder(people, world.model, None)
    together = finder.locate(world.model.rate, world.prior, start, 1)
    start[::2, 0] = np.nextafter(start[::2, 0], 9)  # not at one point, though all but there
    apart = finder.locate(world.model.rate, world.prior, start, 1)
    np.testing.assert_allclose(together.position, apart.position, atol=1e-5)


def test_the_doubt_is_the_inverse_curvature(few: Ratings, world: World) -> None:
    people = People.of(few, few.feature("kind"))
    start = world.prior.mean[people.category]
    finder = Finder(people, world.model, None)
    doubt = finder.locate(world.model.rate, world.prior, start, 1).doubt
    total = np.zeros_like(doubt)
    for i, k in enumerate(people.category):
        rated = people.item[people.offsets[i] : people.offsets[i + 1]]
        t = start[i, :2]
        p = expit(world.model.rate[:, k] + world.model.selection @ t)
        curve = np.linalg.inv(world.prior.covariance[k])
        curve[:2, :2] += (world.model.selection.T * p * (1 - p)) @ world.model.selection
        curve[2:, 2:] += world.model.taste[rated].T @ world.model.taste[rated] / world.model.noise
        total[k] += np.linalg.inv(curve)
    np.testing.assert_allclose(doubt, total, rtol=1e-3, atol=1e-3)


def test_a_prior_is_learned_from_a_far_start(world: World) -> None:
    people = People.of(world.ratings, world.ratings.feature("kind"))
    start = Prior(np.zeros((2, 4)), np.tile(np.eye(4), (2, 1, 1)))
    found = fit_prior(people, world.model, start, None, nothing)
    np.testing.assert_allclose(found.mean, world.prior.mean, atol=0.12)
    np.testing.assert_allclose(found.covariance, world.prior.covariance, atol=0.25)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(found.covariance, world.prior.covariance[::-1], atol=0.25)
