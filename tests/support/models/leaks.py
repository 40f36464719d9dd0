"""A world whose truth is known: what categories rate how often, and a panel's model of it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles
from midpoint.analyst.categories.estimates import mean_effects
from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.fit.profiles import Provenance
from midpoint.data import Scale

Float = NDArray[np.float64]
ITEMS, NOISE = 400, 0.9
"""Items; deviation of a rating."""


class World(NamedTuple):
    """What is true of two categories."""

    probability: Float
    """How often each rates every item. Shape (M, 2)."""
    mean: Float
    """What each rates it on average. Shape (M, 2)."""

    @classmethod
    def draw(cls, rng: np.random.Generator) -> "World":
        """Draw items, some of which are rated a hundred times as often as others."""
        usual = rng.normal(-3.2, 1.1, (ITEMS, 1))
        apart = np.array([1.0, -1.0])
        return cls(
            np.exp(np.minimum(usual + 0.2 * rng.normal(size=(ITEMS, 1)) * apart, -0.5)),
            rng.normal(3.4, 0.4, (ITEMS, 1)) + 0.1 * rng.normal(size=(ITEMS, 1)) * apart,
        )


def counted(world: World, size: int, rng: np.random.Generator) -> CategoryStatistics:
    """Count the ratings of a panel of this size."""
    users = np.array([size // 2, size - size // 2])
    count = rng.binomial(users, world.probability)
    error = NOISE * rng.normal(size=count.shape) / np.sqrt(np.maximum(count, 1))
    total = count * (world.mean + np.where(count > 0, error, 0.0))
    square = total**2 / np.maximum(count, 1) + NOISE**2 * np.maximum(count - 1, 0)
    return CategoryStatistics(users, count, total, square, None, None, ((0, 1),))


def profiles_of(world: World, size: int, rng: np.random.Generator) -> ItemProfiles:
    """Return a model of a panel; its items tell of three tastes, which do not go by category."""
    statistics = counted(world, size, rng)
    effects = mean_effects(statistics)
    names = np.array([f"item-{j:04d}" for j in range(ITEMS)])
    vectors = np.hstack([np.ones((ITEMS, 1)), rng.normal(size=(ITEMS, 3))]).astype(np.float32)
    return ItemProfiles(
        item_ids=names,
        item_names=names,
        scale=Scale(1.0, 5.0, (1.0, 2.0, 3.0, 4.0, 5.0)),
        vectors=vectors,
        centre=effects.centre,
        offset=effects.effect,
        features=(("gender", ("F", "M")),),
        statistics=statistics,
        noise_variance=NOISE**2,
        profile_mean=np.zeros(4),
        profile_covariance=0.16 * np.eye(4),
        provenance=Provenance("made up", "0" * 64, {"biases": "plain"}, 1, {}),
    )
