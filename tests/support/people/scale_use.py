"""People who differ in how far they use the scale, or in how they use a fine one."""

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, prepare
from midpoint.data import Feature, Ratings, Scale
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.wire import SCHEMES
from tests.support.people.position_world import made_ratings

Float = NDArray[np.float64]
QUICK = Factorizer(dimension=2, iterations=6)


def spread_people(people: int, seed: int, deviation: tuple[float, float]) -> Ratings:
    """Draw people who rate 40 items from one to nine; log spreads vary so much by category.

    Items, tastes and the variance of ratings are the same in both: a wider spread of log spreads
    comes with a lower mean. Half of the people of the one category use the ends, half hardly do.
    """
    rng, items = np.random.default_rng(seed), 40
    liked, taste = np.random.default_rng(1).normal(size=(2, items))
    category = np.arange(people) % 2
    width = np.array(deviation)[category]
    w = rng.normal(-(width**2), width)
    x = rng.normal(size=people)
    exact = 5 + 0.5 * liked + 0.5 * x[:, None] * taste
    exact += 1.1 * np.exp(w)[:, None] * rng.normal(size=exact.shape)
    user, item = np.indices(exact.shape).reshape(2, -1)
    return made_ratings(user, item, np.clip(np.rint(exact), 1, 9).ravel(), category, items)


def round_people(people: int, seed: int) -> Ratings:
    """Draw people who rate from 0 to 100; those of `b` keep to round numbers, nine of ten.

    Of `a` one of ten does. What they think of the items is the same.
    """
    rng, items = np.random.default_rng(seed), 30
    liked = np.random.default_rng(2).normal(size=items)
    category = np.arange(people) % 2
    exact = (
        55 + 12 * liked + 8 * rng.normal(size=(people, 1)) + 15 * rng.normal(size=(people, items))
    )
    rounds = rng.random(people) < np.where(category == 1, 0.9, 0.1)
    value = np.where(rounds[:, None], np.rint(exact / 10) * 10, np.rint(exact))
    user, item = np.indices(value.shape).reshape(2, -1)
    made = made_ratings(user, item, np.clip(value, 0, 100).ravel(), category, items)
    return Ratings(
        user=made.user,
        item=made.item,
        value=made.value,
        scale=Scale.stars(0, 100),
        user_ids=made.user_ids,
        item_ids=made.item_ids,
        item_names=made.item_names,
        features=dict(made.features),
    )


def learned_from(ratings: Ratings, scheme: str) -> ItemProfiles:
    """Fit profiles and positions."""
    return prepare(QUICK.fit(ratings, "kind"), ratings, SCHEMES[scheme])


def population(ratings: Ratings) -> Population:
    """Put people on flat arrays."""
    kind: Feature = ratings.feature("kind")
    return Population(ratings.user, ratings.item, ratings.value, kind.codes.astype(np.intp))


def reported(protocol: LearningProtocol, profiles: ItemProfiles, people: Population) -> Reports:
    """Let everyone's device report, with the same coins each time."""
    return protocol.report(protocol.disclose(profiles), profiles, people, np.random.default_rng(5))


def spread_of(reports: Reports, profiles: ItemProfiles) -> Float:
    """Return the logarithm of how far each person's values deviate from the items' centres."""
    user = np.repeat(np.arange(len(reports.user_offsets) - 1), np.diff(reports.user_offsets))
    away = reports.value - profiles.centre[reports.item]
    count = np.maximum(np.bincount(user), 1)
    mean = np.bincount(user, away) / count
    return np.asarray(np.log(np.bincount(user, (away - mean[user]) ** 2) / count) / 2)
