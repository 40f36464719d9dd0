"""Training from tables as `midpoint train --engine` does it: fit, choose a scheme, learn sets."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from midpoint.analyst.categories.item_factors import rated_sets
from midpoint.analyst.counterparts.panel import Panel
from midpoint.analyst.disclose.positions import prepare
from midpoint.analyst.disclose.scheme_choice import choose_scheme
from midpoint.analyst.disclose.specification import SchemeSpec, reported_levels, require_suited
from midpoint.analyst.engines.engine import ReadRatings
from midpoint.analyst.engines.local import LocalRatings
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.choice import ALLOWED, Allowance
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.fold_in import estimate_profiles
from midpoint.analyst.fit.priors.item_prior import set_factors
from midpoint.analyst.fit.priors.set_prior import SetPrior, learn_set_prior
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.training import LEAST_PEOPLE, train
from midpoint.data import Ratings
from midpoint.data.feature import require_people

SAMPLE = 10_000
"""People in memory that a scheme is chosen on, and what sets say is learned from, at most."""


def train_on(
    ratings: ReadRatings,
    factorizer: Factorizer | None = None,
    progress: Callable[[Progress], None] | None = None,
    *,
    scheme: str | None = None,
    allow: Allowance = ALLOWED,
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
        allow: What the scheme that is chosen may cost.
        least_people: People that every category needs, as for `analyst.train`.
        unfinished: Keeps stages that are done, so that a killed run goes on from there; engine
            local does without. It is the caller's to remove when the result is safe.
    """
    factorizer, left = factorizer or Factorizer(), unfinished or Unfinished()
    if scheme is not None:  # what cannot be disclosed is refused at once
        asked_for = SchemeSpec.read(scheme)
        require_suited(asked_for.name, ratings.scale)
        reported_levels(ratings.scale, asked_for.levels)
    if isinstance(ratings, LocalRatings):
        known = ratings.ratings, ratings.features
        return train(
            *known,
            factorizer=factorizer,
            scheme=scheme,
            allow=allow,
            least_people=least_people,
            progress=progress,
            reports=ratings.reports,
        )
    if not ratings.features:
        return ratings.fit(factorizer, progress, unfinished=left)
    choice, sample = None, ratings.sample(SAMPLE, factorizer.seed)
    if scheme is None:
        choice = choose_scheme(
            sample,
            *ratings.features,
            factorizer=factorizer,
            allow=allow,
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
    if factorizer.sets and factorizer.method == "als" and not ratings.scale.is_unary:
        profiles = replace(profiles, set_prior=sampled_set_prior(profiles, sample, factorizer.seed))
    named = replace(specification, leak=None)
    return replace(profiles, scheme=str(named), choice=choice, leak=specification.leak)


def sampled_set_prior(profiles: ItemProfiles, sample: Ratings, seed: int) -> SetPrior | None:
    """Learn what sets say of taste from people in memory, whose profiles are estimated again.

    An item that none of them rated says nothing.
    """
    item = profiles.index_of(sample.item_ids.tolist())[sample.item]
    order = np.lexsort((item, sample.user))
    people = replace(
        sample,
        item=item[order].astype(np.int32),
        value=sample.value[order],
        item_ids=profiles.item_ids,
        item_names=profiles.item_names,
        time=None,
    )
    code = people.feature(*(name for name, _ in profiles.features)).codes[people.user]
    value = people.value - profiles.offset[people.item, code]
    taste = estimate_profiles(profiles, people.user_offsets, people.item, value, sets=False)
    known = profiles.profile_mean, profiles.vectors
    prior = learn_set_prior(people, set_factors(rated_sets(people)), taste, *known, seed=seed)
    if prior is None:
        return None
    rated = np.bincount(people.item, minlength=people.n_items) > 0
    return replace(prior, factors=prior.factors * rated[:, None])
