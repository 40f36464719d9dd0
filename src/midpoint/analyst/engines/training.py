"""Training from tables as `midpoint train --engine` does it: fit, and choose a scheme."""

from collections.abc import Callable
from dataclasses import replace

from midpoint.analyst.counterparts.panel import Panel
from midpoint.analyst.disclose.positions import prepare
from midpoint.analyst.disclose.scheme_choice import MOST_COST, choose_scheme
from midpoint.analyst.disclose.specification import SchemeSpec, reported_levels
from midpoint.analyst.engines.engine import ReadRatings
from midpoint.analyst.engines.local import LocalRatings
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.training import LEAST_PEOPLE, train
from midpoint.data.feature import require_people
from midpoint.errors import MidpointError

SAMPLE = 10_000
"""People in memory that a scheme is chosen on, at most."""


def train_on(
    ratings: ReadRatings,
    factorizer: Factorizer | None = None,
    progress: Callable[[Progress], None] | None = None,
    *,
    scheme: str | None = None,
    cost: float = MOST_COST,
    least_people: int = LEAST_PEOPLE,
    unfinished: Unfinished | None = None,
) -> ItemProfiles:
    """Learn item profiles from what an engine read, and all that a scheme needs.

    In memory that is `analyst.train`; the other engines learn the same from ratings that stay where
    they are. Their scheme is chosen on a sample of people in memory, as its `choice` says.

    Args:
        ratings: What an engine read.
        factorizer: How items are fitted; with its defaults unless given.
        progress: Is called with how far each stage has come.
        scheme: A scheme by name; `choose_scheme` measures and decides unless given.
        cost: What the scheme that is chosen may cost: a share of the error of predictions.
        least_people: People that every category needs, as for `analyst.train`.
        unfinished: Keeps stages that are done, so that a killed run goes on from there; engine
            local does without. It is the caller's to remove when the result is safe.
    """
    factorizer, left = factorizer or Factorizer(), unfinished or Unfinished()
    if scheme is not None:  # what cannot be disclosed is refused at once
        reported_levels(ratings.scale, SchemeSpec.read(scheme).levels)
    if isinstance(ratings, LocalRatings):
        known = ratings.ratings, ratings.features
        return train(
            *known,
            factorizer=factorizer,
            scheme=scheme,
            cost=cost,
            least_people=least_people,
            progress=progress,
        )
    if ratings.scale.is_unary:
        raise MidpointError("unary data is trained in memory; ask for engine local")
    if not ratings.features:
        return ratings.fit(factorizer, progress, unfinished=left)
    choice = None
    if scheme is None:
        choice = choose_scheme(
            ratings.sample(SAMPLE, factorizer.seed),
            *ratings.features,
            factorizer=factorizer,
            most_cost=cost,
            seed=factorizer.seed,
            progress=progress,
        )
    specification = SchemeSpec.read(choice.scheme if choice else str(scheme))
    kind = specification.scheme

    def positions(profiles: ItemProfiles, panel: Panel) -> ItemProfiles:
        return prepare(
            profiles,
            panel,
            kind,
            spread=specification.spread,
            threads=factorizer.threads,
            progress=progress,
            checkpoint=left.positions,
        )

    needed = positions if kind.counterparts else None
    profiles = ratings.fit(factorizer, progress, then=needed, unfinished=left)
    if profiles.statistics is not None:
        require_people(profiles.features, profiles.statistics.users, least_people)
    if choice is not None and profiles.statistics is not None:
        choice = replace(choice, panel=int(profiles.statistics.users.sum()))
    return replace(profiles, scheme=str(specification), choice=choice)
