"""Training from tables as `midpoint train --engine` does it: fit, and choose a scheme."""

from collections.abc import Callable
from dataclasses import replace

from midpoint.analyst.disclose.choice import MOST_COST, choose_scheme
from midpoint.analyst.engines.engine import ReadRatings
from midpoint.analyst.engines.local import LocalRatings
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.training import train

SAMPLE = 10_000
"""People in memory that a scheme is chosen on, at most."""


def train_on(
    ratings: ReadRatings,
    factorizer: Factorizer | None = None,
    progress: Callable[[Progress], None] | None = None,
    *,
    cost: float = MOST_COST,
) -> ItemProfiles:
    """Learn item profiles from what an engine read, and the scheme that protects them.

    In memory that is `analyst.train`. The other engines learn no positions, which take everyone at
    once, so their scheme protects item by item; it is chosen on a sample of people in memory, as
    its `choice` says. `cost` is what it may cost: a share of the error of predictions.
    """
    factorizer = factorizer or Factorizer()
    if isinstance(ratings, LocalRatings):
        return train(
            ratings.ratings,
            ratings.features,
            factorizer=factorizer,
            cost=cost,
            progress=progress,
        )
    profiles = ratings.fit(factorizer, progress)
    if not profiles.features:
        return profiles
    statistics = profiles.statistics
    everyone = 0 if statistics is None else int(statistics.users.sum())
    choice = choose_scheme(
        ratings.sample(SAMPLE, factorizer.seed),
        *(name for name, _ in profiles.features),
        factorizer=factorizer,
        most_cost=cost,
        positions=False,
        seed=factorizer.seed,
    )
    choice = replace(choice, panel=everyone)
    return replace(profiles, scheme=choice.scheme, choice=choice)
