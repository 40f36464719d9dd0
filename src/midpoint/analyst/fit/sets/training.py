"""Item profiles from sets: choose the settings, factorize, and freeze the result.

Item profiles with

    centre = 0,   noise variance 1/w,   prior mean 0,   prior covariance (G + l I)^-1

fold new people in wherever graded ratings are known, as the factorization does.

A report does not say what the device withheld, and a withheld item is not a disliked one. If a
known share r of an item's entries is revealed (`learn.admission.revealed_share`), each reported
entry stands for 1/r and could count w/r; all pairs count 1 in the second sum, revealed or not. The
mean of the whole sum over coins is then that of raw sets, but its variance is larger. So half of
the correction, w/sqrt(r), makes better lists than all of it or none.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from midpoint.analyst.categories.estimates import CategoryEstimates, Estimation
from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.fit.assembly import Catalogue, provenance
from midpoint.analyst.fit.profiles import ItemProfiles, Provenance
from midpoint.analyst.fit.sets.factorization import (
    Float,
    Floats,
    Incidence,
    Setting,
    factorize,
    prior_precision,
)
from midpoint.analyst.fit.sets.tuning import choose_setting, log_odds
from midpoint.data import Feature, Ratings

if TYPE_CHECKING:
    from midpoint.analyst.fit.factorizer import Factorizer

TEMPERED: Final = 0.5
"""Power of 1/r that a reported entry counts by: 1 has no bias, 0 no correction. On MovieLens 1M as
sets (600 people in the panel, 4,400 reports under `dmpss`, two splits) NDCG@10 of new people is
0.397 and 0.390 by 0.5, 0.393 and 0.385 by 1, 0.396 and 0.389 by 0."""
TINY: Final = 1e-6
"""Variance of the level, which sets do not have, beside that of a latent coordinate."""


def train_sets(
    factorizer: "Factorizer",
    ratings: Ratings,
    private: Feature | None,
    statistics: CategoryStatistics | None,
    progress: Callable[[int, int], None] | None = None,
    presence: Float | None = None,
) -> tuple[ItemProfiles, Float]:
    """Learn item profiles from sets, and return the training people's as well. Shape (users, D).

    `presence` says for how many entries each stands, where some are reports.
    """
    rated = np.diff(ratings.by_item.offsets) > 0
    catalogue = Catalogue(ratings.item_ids, ratings.item_names, rated, ratings.scale)
    made = provenance(factorizer, ratings.name, ratings.digest, factorizer.iterations)
    known = statistics if private is not None else None
    chosen = choose_setting(factorizer, ratings, private)
    sets = Incidence.of(ratings, None if presence is None else presence**TEMPERED)
    return fit_sets(factorizer, sets, chosen, catalogue, private, known, made, progress)


def fit_sets(
    factorizer: "Factorizer",
    sets: Incidence,
    chosen: tuple[Setting, float],
    catalogue: Catalogue,
    private: Feature | None,
    statistics: CategoryStatistics | None,
    made: Provenance,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ItemProfiles, Float]:
    """Learn item profiles from sets in memory or on disk, by settings that were chosen."""
    setting, _ = chosen
    fitted = factorize(
        sets, setting, factorizer.iterations, factorizer.seed, factorizer.threads, progress
    )
    level = np.zeros((len(fitted.users), 1))
    profiles = freeze_sets(
        factorizer, fitted.items, chosen, fitted.ridge, catalogue, private, statistics, made
    )
    return profiles, np.hstack([level, fitted.users.astype(np.float64)])


def freeze_sets(
    factorizer: "Factorizer",
    items: Floats,
    chosen: tuple[Setting, float],
    ridge: float,
    catalogue: Catalogue,
    private: Feature | None,
    statistics: CategoryStatistics | None,
    made: Provenance,
) -> ItemProfiles:
    """Write the fit as item profiles, whose first coordinate is the level that sets lack."""
    (setting, beta), (M, d) = chosen, items.shape
    offset = np.zeros((M, 0))
    if statistics is not None:
        offset = beta * log_odds(CategoryEstimates(statistics, _estimation(factorizer)))
    vectors = np.ones((M, 1 + d), np.float32)
    vectors[:, 1:] = items * catalogue.rated[:, None]
    covariance = np.zeros((1 + d, 1 + d))
    covariance[1:, 1:] = np.linalg.inv(prior_precision(vectors[:, 1:], ridge))
    covariance[0, 0] = TINY * float(np.trace(covariance)) / d
    kept = {**made.configuration, "sets": {**setting._asdict(), "beta": beta}}
    return ItemProfiles(
        item_ids=catalogue.item_ids,
        item_names=catalogue.item_names,
        scale=catalogue.scale,
        vectors=vectors,
        centre=np.zeros(M),
        offset=offset,
        features=private.parts if private else (),
        statistics=statistics,
        noise_variance=1 / setting.weight,
        profile_mean=np.zeros(1 + d),
        profile_covariance=covariance,
        provenance=replace(made, configuration=kept),
    )


def _estimation(factorizer: "Factorizer") -> Estimation:
    return "plain" if factorizer.biases == "plain" else "shrunken"
