"""One fold of the cross-validation: who is attacked, what the attacker learns from."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles
from midpoint.audit.plan import RAW, Plan
from midpoint.audit.view import View, pool
from midpoint.data import Feature, Ratings, hold_out, split_ratings, user_folds, with_known
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, Reports

Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FoldData:
    """Users of one fold held out, and the others cut into parts for cross-fitting."""

    plan: Plan
    """What the audit does."""
    number: int
    """Which fold is held out."""
    training: Ratings
    """The users who told their category."""
    given: Ratings
    """Of the held-out users, the ratings that are obfuscated and attacked."""
    hidden: Ratings
    """Of the held-out users, the ratings to predict."""
    part: NDArray[np.int64]
    """Part of each training user. Shape (training users,)."""

    @classmethod
    def of(cls, ratings: Ratings, plan: Plan, number: int) -> "FoldData":
        """Split; users whose category is not known must have been left out."""
        feature = ratings.feature(*plan.feature)
        folds = user_folds(ratings.n_users, plan.folds, seed=plan.seed_of("folds"), feature=feature)
        training, held_out = hold_out(ratings, folds, number)
        given, hidden = split_ratings(held_out, plan.share, seed=plan.seed_of("split"))
        part = user_folds(
            training.n_users,
            plan.parts,
            seed=plan.seed_of("parts", number),
            feature=training.feature(*plan.feature),
        )
        return cls(plan, number, training, given, hidden, part)

    @property
    def category(self) -> Labels:
        """Category of each held-out user. Shape (held-out users,)."""
        return _category(self.given, self.plan)

    @property
    def training_category(self) -> Labels:
        """Category of each training user. Shape (training users,)."""
        return _category(self.training, self.plan)

    @property
    def pooled_category(self) -> Labels:
        """Category of each training user, part after part, as `obfuscated_views` has them."""
        return self.training_category[np.argsort(self.part, kind="stable")]

    @cached_property
    def thinned(self) -> list[list[Population]]:
        """For each draw and part the training users' ratings, thinned as a held-out user's are."""
        plan = self.plan
        people = [self.training.select_users(self.part == p) for p in range(plan.parts)]
        seeds = [plan.seed_of("thin", self.number, draw) for draw in range(plan.draws)]
        return [
            [population(split_ratings(one, plan.share, seed=s).given, plan) for one in people]
            for s in seeds
        ]


@dataclass(frozen=True, eq=False)
class FoldProfiles:
    """What the analyst learned in one fold: from all training users, and without each part."""

    whole: ItemProfiles
    """From all training users."""
    without: tuple[ItemProfiles, ...]
    """From all but those of each part."""

    def save(self, directory: Path) -> None:
        """Write all of them below a directory."""
        for p, profiles in enumerate(self.without):
            profiles.save(directory / f"without-{p}")
        self.whole.save(directory / "whole")

    @classmethod
    def load(cls, directory: Path, parts: int) -> "FoldProfiles":
        """Read what `save` wrote."""
        without = tuple(ItemProfiles.load(directory / f"without-{p}") for p in range(parts))
        return cls(ItemProfiles.load(directory / "whole"), without)


def audited(ratings: Ratings, plan: Plan) -> tuple[Ratings, Feature]:
    """Keep the users whose category is known, and see that the folds can be filled."""
    known = with_known(ratings, *plan.feature)
    feature = known.feature(*plan.feature)
    feature.require_classes()
    fewest = int(feature.counts.min())
    if fewest < 2 * plan.folds:
        name = feature.categories[int(feature.counts.argmin())]
        raise MidpointError(
            f"only {fewest} users of {ratings.name} are {name!r} by {feature.name}: too few for"
            f" {plan.folds} folds of two each; ask for fewer folds or merge categories"
        )
    return known, feature


def learn(fold: FoldData) -> FoldProfiles:
    """Fit the item profiles of a fold, and those that cross-fitting needs."""
    fit, names = fold.plan.factorizer.fit, fold.plan.feature
    without = (fold.training.select_users(fold.part != p) for p in range(fold.plan.parts))
    return FoldProfiles(
        fit(fold.training, names), tuple(fit(training, names) for training in without)
    )


def held_out_view(fold: FoldData, profiles: FoldProfiles, name: str, how: LearningProtocol) -> View:
    """Return what the analyst sees of the held-out users under a protocol."""
    told = how.disclose(profiles.whole)
    coins = np.random.default_rng(fold.plan.seed_of("coins", fold.number, name))
    people = population(fold.given, fold.plan)
    sent = _ratings_only(how.report(told, profiles.whole, people, coins), name)
    return View(sent, profiles.whole, told, fold.given.scale)


def obfuscated_views(
    fold: FoldData, profiles: FoldProfiles, name: str, how: LearningProtocol
) -> list[View]:
    """Return several coin draws of the training users under a protocol, one view each.

    Each part of the users is obfuscated under a disclosure fitted without it, as the held-out
    users are; the views speak of the profiles and the disclosure that will be attacked.
    """
    told = how.disclose(profiles.whole)
    apart = [(how.disclose(one), one) for one in profiles.without]
    scale, views = fold.given.scale, []
    for draw, parts in enumerate(fold.thinned):
        coins = np.random.default_rng(fold.plan.seed_of("training", fold.number, name, draw))
        seen = [
            View(how.report(disclosure, learned, people, coins), learned, disclosure, scale)
            for (disclosure, learned), people in zip(apart, parts, strict=True)
        ]
        views.append(pool(seen, profiles.whole, told))
    return views


def clean_view(fold: FoldData, profiles: FoldProfiles) -> View:
    """Return the training users' ratings as they are: what the paper's attackers learn from."""
    users = fold.training
    as_they_are = Reports(
        np.arange(len(users)), users.user_offsets, users.item, users.value.astype(np.float64)
    )
    told = LearningProtocol(RAW).disclose(profiles.whole)
    return View(as_they_are, profiles.whole, told, users.scale)


def population(ratings: Ratings, plan: Plan) -> Population:
    """Put users' ratings and categories on flat arrays."""
    return Population(ratings.user, ratings.item, ratings.value, _category(ratings, plan))


def _category(ratings: Ratings, plan: Plan) -> Labels:
    return ratings.feature(*plan.feature).codes.astype(np.intp)


def _ratings_only(sent: Reports, name: str) -> Reports:
    if sent.profile is not None:
        raise MidpointError(f"protocol {name!r} sends no ratings; attack one that does")
    return sent


def one_against_rest(category: Labels, categories: int) -> Iterator[NDArray[np.int64]]:
    """Go through the questions that attackers answer: the second of two, or each of several."""
    for k in [1] if categories == 2 else range(categories):
        yield (category == k).astype(np.int64)
