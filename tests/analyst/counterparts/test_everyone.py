import pickle
from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst.counterparts import panel
from midpoint.analyst.counterparts.checkpoint import Checkpoint
from midpoint.analyst.counterparts.everyone import Expectation, draw_items, finish_on_everyone
from midpoint.analyst.counterparts.panel import ByUser
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Drawn, Finder, Prior, fit_prior, prior_of
from midpoint.analyst.counterparts.strata import Strata
from tests.support.people.position_world import World, nothing

WHOLE = (1.0, 1.0)


def everyone(world: World) -> tuple[ByUser, People]:
    people = ByUser.of(world.ratings, world.ratings.feature("kind"))
    return people, people.take(np.ones(2))


def one_stratum(prior: Prior) -> Strata:
    return Strata(np.zeros((1, 2)), prior.mean[None], prior.covariance[None])


def finish(world: World, prior: Prior) -> Strata:
    last = Expectation(world.model, one_stratum(prior), WHOLE, None)
    return finish_on_everyone(everyone(world)[0], last, Checkpoint(), lambda _share: None)


@pytest.mark.parametrize("size", [8192, 700])
def test_a_round_over_groups_is_a_round_in_memory(
    world: World, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "PEOPLE_AT_ONCE", size)
    _, people = everyone(world)
    start = world.prior.mean[people.category]
    located = Finder(people, world.model, None).locate(world.model.rate, world.prior, start, 3)
    expected, found = prior_of(people, located), finish(world, world.prior)
    np.testing.assert_allclose(found.mean[0], expected.mean, rtol=1e-10)
    np.testing.assert_allclose(found.covariance[0], expected.covariance, rtol=1e-10, atol=1e-12)


def test_strata_are_apart(world: World) -> None:
    people, in_memory = everyone(world)
    two = Strata(
        np.array([[0.0, 0.0], [1.0, 1.0]]),
        np.repeat(world.prior.mean[None], 2, axis=0),
        np.repeat(world.prior.covariance[None], 2, axis=0),
    )
    last = Expectation(world.model, two, WHOLE, None)
    total = people.add_up(last, Checkpoint(), lambda _share: None)
    assert total.size.sum() == len(in_memory)
    assert (total.size > 300).all()
    found = finish_on_everyone(people, last, Checkpoint(), lambda _share: None)
    light, heavy = found.mean
    assert (heavy[:, 0] > light[:, 0] + 0.5).all()  # the first factor is activity


def test_it_is_nearer_to_what_everyone_says_than_the_sample_was(world: World) -> None:
    people, in_memory = everyone(world)
    whole = fit_prior(in_memory, world.model, world.prior, None, nothing)
    sample = people.take(np.array([0.1, 0.1]))
    assert 200 < len(sample) < 400
    some = fit_prior(sample, world.model, world.prior, None, nothing)
    found = finish(world, some)
    for before, after, true in zip(some, found[1:], whole, strict=True):
        far, near = np.abs(before - true).mean(), np.abs(after[0] - true).mean()
        assert near < 0.5 * far


def test_curvatures_over_a_sample_of_items_hardly_change_it(world: World) -> None:
    often = np.bincount(world.ratings.item, minlength=80).astype(np.float64)
    exact = finish(world, world.prior)
    drawn = world.model._replace(drawn=draw_items(np.sqrt(often), 40))
    found = finish(world._replace(model=drawn), world.prior)
    assert np.abs(found.mean - exact.mean).max() < 0.03
    assert np.abs(found.covariance - exact.covariance).max() < 0.08
    # The control: without their weights half of the items say half as much.
    assert drawn.drawn is not None
    item = drawn.drawn.item
    light = world.model._replace(drawn=Drawn(item, np.ones(len(item))))
    found = finish(world._replace(model=light), world.prior)
    assert np.abs(found.covariance - exact.covariance).max() > 0.1


def test_items_are_drawn_in_proportion() -> None:
    weight = np.random.default_rng(0).exponential(size=5000)
    weight[7] = 1e6
    drawn = draw_items(weight, 500)
    assert drawn is not None
    assert len(drawn.item) == pytest.approx(500, abs=1)
    assert 7 in drawn.item
    assert drawn.weight.min() == pytest.approx(1)
    # Sums of what is in proportion to the weights are exact, and of others near.
    others = weight.copy()
    others[7] = 0
    assert (others[drawn.item] * drawn.weight).sum() == pytest.approx(others.sum(), rel=0.01)
    assert drawn.weight.sum() == pytest.approx(5000, rel=0.2)
    assert draw_items(weight[:500], 500) is None


def test_an_expectation_can_be_sent(world: World) -> None:
    last = Expectation(world.model, one_stratum(world.prior), WHOLE, 2)
    sent = replace(pickle.loads(pickle.dumps(last)), threads=1)  # noqa: S301 - our own
    group = everyone(world)[0]._group(0, 500)
    assert sent(group).square.tolist() == last(group).square.tolist()
