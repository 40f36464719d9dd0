"""Training from tables as `midpoint train --engine` does it: fit, and choose a scheme."""

from collections.abc import Callable
from dataclasses import replace

from midpoint.analyst.counterparts.panel import Panel
from midpoint.analyst.disclose.positions import prepare
from midpoint.analyst.engines.engine import ReadRatings
from midpoint.analyst.engines.local import LocalRatings
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.training import train
from midpoint.errors import MidpointError
from midpoint.wire import SCHEMES


def train_on(
    ratings: ReadRatings,
    factorizer: Factorizer | None = None,
    progress: Callable[[Progress], None] | None = None,
    *,
    scheme: str | None = None,
    unfinished: Unfinished | None = None,
) -> ItemProfiles:
    """Learn item profiles from what an engine read, and all that a scheme needs.

    In memory that is `analyst.train`; the other engines learn the same from ratings that stay where
    they are.

    Args:
        ratings: What an engine read.
        factorizer: How items are fitted; with its defaults unless given.
        progress: Is called with how far each stage has come.
        scheme: A scheme by name; chosen by what was counted unless given.
        unfinished: Keeps stages that are done, so that a killed run goes on from there; engine
            local does without. It is the caller's to remove when the result is safe.
    """
    factorizer, left = factorizer or Factorizer(), unfinished or Unfinished()
    if scheme is not None and scheme not in SCHEMES:
        raise MidpointError(f"there is no scheme {scheme!r}; choose one of {', '.join(SCHEMES)}")
    if isinstance(ratings, LocalRatings):
        known = ratings.ratings, ratings.features
        return train(*known, factorizer=factorizer, scheme=scheme, progress=progress)
    counts = ratings.counts()
    chosen = scheme or counts.choice().scheme

    def positions(profiles: ItemProfiles, panel: Panel) -> ItemProfiles:
        return prepare(
            profiles,
            panel,
            SCHEMES[chosen],
            threads=factorizer.threads,
            progress=progress,
            checkpoint=left.positions,
        )

    needed = positions if counts.private is not None and SCHEMES[chosen].counterparts else None
    profiles = ratings.fit(factorizer, progress, then=needed, unfinished=left)
    return replace(profiles, scheme=chosen if profiles.features else None)
