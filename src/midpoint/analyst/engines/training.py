"""Training from tables as `midpoint train --engine` does it: fit, and choose a scheme."""

from collections.abc import Callable
from dataclasses import replace

from midpoint.analyst.disclose.choice import itemwise_scheme
from midpoint.analyst.engines.engine import ReadRatings
from midpoint.analyst.engines.local import LocalRatings
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.training import train


def train_on(
    ratings: ReadRatings,
    factorizer: Factorizer | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ItemProfiles:
    """Learn item profiles from what an engine read, and the scheme that protects them.

    In memory that is `analyst.train`. The other engines learn no positions, which take everyone at
    once, so their scheme protects item by item.
    """
    factorizer = factorizer or Factorizer()
    if isinstance(ratings, LocalRatings):
        return train(ratings.ratings, ratings.features, factorizer=factorizer, progress=progress)
    profiles = ratings.fit(factorizer, progress)
    if not profiles.features:
        return profiles
    return replace(profiles, scheme=itemwise_scheme(profiles.scale))
