"""One fold of the cross-validation: who is attacked, what the attacker learns from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, prepare
from midpoint.audit.attackers.view import FEW, View, pool
from midpoint.audit.run.plan import RAW, Plan, sends_profiles
from midpoint.data import Feature, Ratings, hold_out, split_ratings, user_folds, with_known
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.wire import Scheme

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

    def others(self, *without: int) -> Ratings:
        """Return the ratings of the training users who are not in some parts."""
        return self.training.select_users(~np.isin(self.part, without))

    @property
    def judged_parts(self) -> range:
        """The parts by which attackers choose among models: all of them if people are few."""
        return range(self.plan.parts if self.training.n_users < FEW else 1)

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
    without_two: Mapping[frozenset[int], ItemProfiles] = field(default_factory=dict)
    """From all but those of two parts, where nested folds need them."""

    def without_parts(self, parts: frozenset[int]) -> ItemProfiles:
        """Return what was learned without one part or two."""
        return self.without[min(parts)] if len(parts) == 1 else self.without_two[parts]

    def save(self, directory: Path) -> None:
        """Write all of them below a directory."""
        for p, profiles in enumerate(self.without):
            profiles.save(directory / f"without-{p}")
        for two, profiles in self.without_two.items():
            profiles.save(directory / _place(two))
        self.whole.save(directory / "whole")

    @classmethod
    def load(cls, directory: Path, fold: FoldData) -> "FoldProfiles":
        """Read what `save` wrote for a fold."""
        parts = range(fold.plan.parts)
        without = tuple(ItemProfiles.load(directory / f"without-{p}") for p in parts)
        pairs = {two: ItemProfiles.load(directory / _place(two)) for two in _pairs(fold)}
        return cls(ItemProfiles.load(directory / "whole"), without, pairs)


def audited(ratings: Ratings, plan: Plan) -> tuple[Ratings, Feature]:
    """Keep the users whose category is known, and see that the folds can be filled."""
    known = with_known(ratings, *plan.feature)
    feature = known.feature(*plan.feature)
    feature.require_classes()
    fewest = int(feature.counts.min())
    # Two in every fold, and two in every part of the users outside of it.
    needed = max(2 * plan.folds, -(-2 * plan.parts * plan.folds // (plan.folds - 1)))
    if fewest < needed:
        name = feature.categories[int(feature.counts.argmin())]
        raise MidpointError(
            f"only {fewest} users of {ratings.name} are {name!r} by {feature.name}, and"
            f" {plan.folds} folds take {needed}; ask for fewer folds or merge categories"
        )
    return known, feature


def learn(fold: FoldData) -> FoldProfiles:
    """Fit the item profiles of a fold, and those that cross-fitting needs."""

    def fit(*without: int) -> ItemProfiles:
        return fold.plan.factorizer.fit(fold.others(*without), fold.plan.feature)

    apart = tuple(fit(part) for part in range(fold.plan.parts))
    return FoldProfiles(fit(), apart, {two: fit(*sorted(two)) for two in _pairs(fold)})


def prepared(fold: FoldData, profiles: FoldProfiles, scheme: Scheme) -> FoldProfiles:
    """Add to the profiles of a fold what a scheme needs of the ratings they came from."""

    def add(learned: ItemProfiles, *without: int) -> ItemProfiles:
        return prepare(learned, fold.others(*without), scheme, threads=1)

    apart = tuple(add(one, part) for part, one in enumerate(profiles.without))
    pairs = {two: add(one, *two) for two, one in profiles.without_two.items()}
    return FoldProfiles(add(profiles.whole), apart, pairs)


def held_out_view(fold: FoldData, profiles: FoldProfiles, name: str, how: LearningProtocol) -> View:
    """Return what the analyst sees of the held-out users under a protocol."""
    told = how.disclose(profiles.whole)
    people = population(fold.given, fold.plan)
    sent = how.report(told, profiles.whole, people, held_out_coins(fold, name))
    if sent.profile is not None and not sends_profiles(how):
        raise MidpointError(f"protocol {name!r} sends no ratings; attack one that does")
    return View(sent, profiles.whole, told, fold.given.scale)


def held_out_coins(fold: FoldData, name: str) -> np.random.Generator:
    """Return the coins of the held-out users under a protocol, the same ones every time."""
    return np.random.default_rng(fold.plan.seed_of("coins", fold.number, name))


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


def _pairs(fold: FoldData) -> list[frozenset[int]]:
    """Return the pairs of a part that is judged and one that is learned from."""
    pairs = (frozenset({a, b}) for a in fold.judged_parts for b in range(fold.plan.parts) if a != b)
    return list(dict.fromkeys(pairs))


def _place(parts: frozenset[int]) -> str:
    return "without-" + "-".join(map(str, sorted(parts)))


def _category(ratings: Ratings, plan: Plan) -> Labels:
    return ratings.feature(*plan.feature).codes.astype(np.intp)


def questions(n_categories: int) -> list[int]:
    """Return the categories that attackers look for: the second of two, or each of several."""
    return [1] if n_categories == 2 else list(range(n_categories))


def one_against_rest(
    category: Labels, n_categories: int
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Go through the questions that attackers answer: a category, and who has it."""
    for k in questions(n_categories):
        yield k, (category == k).astype(np.int64)
