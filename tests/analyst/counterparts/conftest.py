"""People whose positions are learned; once for all tests of a run."""

import numpy as np
import pytest

from midpoint.analyst import ItemProfiles, PositionModel, fit_positions
from midpoint.data import Ratings
from tests.support.people.position_world import QUICK, World, draw_people, make_truth, the_positions


@pytest.fixture(scope="session")
def world() -> World:
    model, prior = make_truth()
    category = np.random.default_rng(4).integers(0, 2, 3000)
    return World(draw_people(model, prior, category), model, prior)


@pytest.fixture(scope="session")
def profiles(world: World) -> ItemProfiles:
    return QUICK.fit(world.ratings, "kind")


@pytest.fixture(scope="session")
def fitted(world: World, profiles: ItemProfiles) -> PositionModel:
    return the_positions(
        fit_positions(profiles, world.ratings, selection_factors=2, taste_factors=3)
    )


@pytest.fixture(scope="session")
def few(world: World) -> Ratings:
    """Return a moment's worth of people."""
    return world.ratings.select_users(np.arange(150))
