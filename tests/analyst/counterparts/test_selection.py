import numpy as np
import pytest
from scipy.special import expit

from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.selection import FARTHEST, apart, fit_selection, pull_of
from tests.support.people.position_world import World, nothing


def test_what_people_rate_is_found_out(world: World) -> None:
    """Up to the coordinates of t: as the logits of being rated, and how they vary."""
    people = People.of(world.ratings, world.ratings.feature("kind"))
    rounds: list[int] = []
    model = fit_selection(
        people,
        len(world.model.rate),
        2,
        draws=np.random.default_rng(0),
        threads=None,
        done=lambda: rounds.append(1),
    )
    assert len(rounds) == 10
    d = model.selection.shape[1]
    true = world.model.rate + world.model.selection @ world.prior.mean[:, :d].T
    found = model.rate + model.selection @ model.mean.T
    assert np.corrcoef(true.reshape(-1), found.reshape(-1))[0, 1] > 0.98
    assert np.abs(model.rate).max() <= FARTHEST
    together = world.prior.covariance[:, :d, :d].mean(axis=0)
    spread = world.model.selection @ together @ world.model.selection.T
    assert np.corrcoef(spread.reshape(-1), (model.selection @ model.selection.T).reshape(-1))[
        0, 1
    ] > 0.9  # fmt: skip
    # The control: selection factors of items that are dealt out anyhow explain nothing.
    dealt = np.random.default_rng(1).permutation(model.selection)
    assert abs(np.corrcoef(spread.reshape(-1), (dealt @ dealt.T).reshape(-1))[0, 1]) < 0.3


def test_an_item_that_nobody_rated_is_rare_and_has_no_selection_factors(world: World) -> None:
    some = world.ratings.select_users(np.arange(200))
    people = People.of(some, some.feature("kind"))
    draws = np.random.default_rng(0)
    more = len(world.model.rate) + 3
    model = fit_selection(people, more, 1, draws=draws, threads=1, done=nothing)
    assert not model.selection[-3:].any()
    assert expit(model.rate[-3:]) == pytest.approx(np.full((3, 2), 0.5 / len(people)), rel=1e-9)


def test_rates_are_drawn_together_as_closely_as_those_of_all_items_are() -> None:
    assert apart(3) @ np.array([1.0, 2.0, 6.0]) == pytest.approx([-2, -1, 3])
    near = np.array([[0.0, 0.1], [1.0, 1.1], [2.0, 1.9]])
    count, doubt = np.full(3, 100.0), np.zeros((3, 2, 2))
    assert pull_of(near, doubt, count) == pytest.approx(1 / 0.005)
    assert pull_of(3 * near, doubt, count) == pytest.approx(1 / 0.045)
    assert pull_of(near, doubt + np.eye(2), count) < pull_of(near, doubt, count)
