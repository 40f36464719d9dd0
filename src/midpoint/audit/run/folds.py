"""One fold of the cross-validation: its people, and what the analyst learned without them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import CollectedReports, ItemProfiles, itemwise_scheme, prepare
from midpoint.analyst.learn.training_set import training_set
from midpoint.audit.attackers.attacker import targets
from midpoint.audit.attackers.view import FEW
from midpoint.audit.run.adversaries.panel_draw import draw_panel
from midpoint.audit.run.adversaries.reporters import collected
from midpoint.audit.run.plan import GIVEN, Plan
from midpoint.data import (
    Feature,
    Ratings,
    hold_out,
    split_by_time,
    split_ratings,
    user_folds,
    with_known,
)
from midpoint.data.origin import counted
from midpoint.data.split import day
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population
from midpoint.wire import Scheme

Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FoldData:
    """One fold: held-out users, and training users in parts for cross-fitting."""

    plan: Plan
    """What the audit does."""
    number: int
    """Which fold is held out."""
    outside: Ratings
    """All users who are not held out."""
    training: Ratings
    """Those of them who shared their category: all, or a panel of the planned size."""
    held_out: Ratings
    """The held-out users, who are attacked, with all ratings; split by time, the earlier ones."""
    given: Ratings
    """Ratings of held-out users from which the hidden ones are predicted."""
    hidden: Ratings
    """Ratings of held-out users that are predicted."""
    part: NDArray[np.int64]
    """Part of each training user. Shape (training users,)."""

    @classmethod
    def of(cls, ratings: Ratings, plan: Plan, number: int) -> "FoldData":
        """Split the users, whose categories must all be known."""
        feature = ratings.feature(*plan.feature)
        folds = user_folds(ratings.n_users, plan.folds, seed=plan.seed_of("folds"), feature=feature)
        outside, held_out = hold_out(ratings, folds, number)
        if plan.until is None:
            share = GIVEN if plan.share == 1 else plan.share
            given, hidden = split_ratings(held_out, share, seed=plan.seed_of("split"))
        else:  # nothing that came later is trained on, or attacked
            outside = split_by_time(outside, plan.until).given
            given, hidden = split_by_time(held_out, plan.until)
            held_out = given
        training = outside
        if plan.panel is not None:
            training = outside.select_users(draw_panel(outside, plan, number).panel)
        part = user_folds(
            training.n_users,
            plan.parts,
            seed=plan.seed_of("parts", number),
            feature=training.feature(*plan.feature),
        )
        return cls(plan, number, outside, training, held_out, given, hidden, part)

    @property
    def attacked(self) -> Ratings:
        """Ratings of held-out users that are obfuscated and attacked."""
        return self.held_out if self.plan.share == 1 else self.given

    @property
    def category(self) -> Labels:
        """Category of each held-out user. Shape (held-out users,)."""
        return categories_of(self.given, self.plan)

    @property
    def training_category(self) -> Labels:
        """Category of each training user. Shape (training users,)."""
        return categories_of(self.training, self.plan)

    @cached_property
    def first_half(self) -> NDArray[np.bool_]:
        """Whether each training user came before the first of several rounds. (training users,)."""
        return first_comers(self.training, self.plan.seed_of("early", self.number))

    def others(self, *without: int, early: bool = False) -> Ratings:
        """Return the ratings of training users outside some parts; if `early`, of early ones."""
        chosen = ~np.isin(self.part, without)
        return self.training.select_users(chosen & self.first_half if early else chosen)

    def fit(self, people: Ratings) -> ItemProfiles:
        """Fit item profiles to people's ratings, and to everyone else's reports if planned."""
        factorizer, feature = self.plan.factorizer, self.plan.feature
        if self.reports is None:
            return factorizer.fit(people, feature)
        both = training_set(people, feature, self.reports, seed=factorizer.seed)
        return factorizer.fit(both.ratings, feature, report_noise=both.report_noise)

    @cached_property
    def reports(self) -> CollectedReports | None:
        """Reports of everyone outside the panel, under its item-wise disclosure; if planned."""
        if not self.plan.reports:
            return None
        panel = draw_panel(self.outside, self.plan, self.number).panel
        learned = self.plan.factorizer.fit(self.outside.select_users(panel), self.plan.feature)
        protocol = LearningProtocol(itemwise_scheme(self.outside.scale))
        coins = np.random.default_rng(self.plan.seed_of("reporters", self.number))
        return collected(
            self.outside.select_users(~panel), self.plan.feature, learned, protocol, coins
        )

    @property
    def many(self) -> bool:
        """Whether there are enough training users to choose settings by one nested fold."""
        return self.training.n_users >= FEW

    @property
    def judged_parts(self) -> range:
        """The parts that nested folds judge: the first one, or all if people are few."""
        return range(1 if self.many else self.plan.parts)

    @property
    def pooled_category(self) -> Labels:
        """Category of each training user, in the order of pooled views: part after part."""
        return self.training_category[np.argsort(self.part, kind="stable")]

    @property
    def members(self) -> list[NDArray[np.intp]]:
        """Indices of each part's users in pooled views."""
        sizes = np.bincount(self.part, minlength=self.plan.parts)
        return np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])

    def of_part(self, part: int) -> Ratings:
        """Return the ratings of the training users of one part."""
        return self.training.select_users(self.part == part)

    @cached_property
    def thinned(self) -> list[list[Population]]:
        """Training users' ratings for each draw and part: the share that a held-out user gives."""
        plan = self.plan
        parts = [self.of_part(part) for part in range(plan.parts)]
        seeds = [plan.seed_of("thin", self.number, draw) for draw in range(plan.draws)]

        def thin(ratings: Ratings, seed: int) -> Ratings:
            whole = plan.share == 1 or plan.until is not None
            return ratings if whole else split_ratings(ratings, plan.share, seed=seed)[0]

        return [[population(thin(part, seed), plan) for part in parts] for seed in seeds]


@dataclass(frozen=True, eq=False)
class FoldProfiles:
    """Item profiles of one fold, for cross-fitting."""

    whole: ItemProfiles
    """Learned from all training users."""
    without: tuple[ItemProfiles, ...]
    """Learned from all but one part, for each part."""
    without_two: Mapping[frozenset[int], ItemProfiles] = field(default_factory=dict)
    """Learned from all but two parts, for the pairs that nested folds need."""

    def without_parts(self, parts: frozenset[int]) -> ItemProfiles:
        """Return the profiles learned without none, one or two of the parts."""
        if not parts:
            return self.whole
        return self.without[min(parts)] if len(parts) == 1 else self.without_two[parts]

    def save(self, directory: Path) -> None:
        """Write all of them below a directory."""
        for p, profiles in enumerate(self.without):
            profiles.save(directory / f"without-{p}")
        for two, profiles in self.without_two.items():
            profiles.save(directory / _directory(two))
        self.whole.save(directory / "whole")

    @classmethod
    def load(cls, directory: Path, fold: FoldData) -> "FoldProfiles":
        """Read what `save` wrote for a fold."""
        parts = range(0 if fold.plan.paper else fold.plan.parts)
        without = tuple(ItemProfiles.load(directory / f"without-{p}") for p in parts)
        pairs = {two: ItemProfiles.load(directory / _directory(two)) for two in _pairs(fold)}
        return cls(ItemProfiles.load(directory / "whole"), without, pairs)


def audited_people(ratings: Ratings, plan: Plan) -> tuple[Ratings, Feature]:
    """Return the users whose category is known, and the feature; refuse too few for the folds."""
    known = with_known(ratings, *plan.feature)
    if plan.until is not None:
        known = _before(known, plan.until)
    feature = known.feature(*plan.feature)
    feature.require_classes()
    fewest = int(feature.counts.min())
    # Two in every fold, and two in every part of the users outside of it.
    needed = max(2 * plan.folds, -(-2 * plan.parts * plan.folds // (plan.folds - 1)))
    if fewest < needed:
        name = feature.categories[int(feature.counts.argmin())]
        raise MidpointError(
            f"{ratings.name} has {fewest} people of {feature.name} {name!r}, and {plan.folds} folds"
            f" need {needed}; use fewer folds, get more people, or merge categories"
        )
    return known, feature


def _before(ratings: Ratings, moment: int) -> Ratings:
    """Return the people who rated something before a time; nobody else can be attacked then."""
    there = np.diff(split_by_time(ratings, moment).given.user_offsets) > 0
    if there.all():
        return ratings
    note = f"{counted(int((~there).sum()), 'person')} who rated nothing before {day(moment)}"
    return ratings.select_users(there).leaving_out(f"{note} (--split time)")


def learn(fold: FoldData, *, early: bool = False) -> FoldProfiles:
    """Fit the item profiles of a fold; if `early`, to the first half of the training users."""

    def fit(*without: int) -> ItemProfiles:
        return fold.fit(fold.others(*without, early=early))

    if fold.plan.paper:  # its attackers learn from ratings as they are: no parts are needed
        return FoldProfiles(fit(), ())
    apart = tuple(fit(part) for part in range(fold.plan.parts))
    return FoldProfiles(fit(), apart, {two: fit(*sorted(two)) for two in _pairs(fold)})


def prepared(
    fold: FoldData,
    profiles: FoldProfiles,
    scheme: Scheme,
    *,
    spread: bool = True,
    early: bool = False,
) -> FoldProfiles:
    """Add what a scheme needs, such as positions, to the profiles of a fold."""

    def add(learned: ItemProfiles, *without: int) -> ItemProfiles:
        people = fold.others(*without, early=early)
        return prepare(learned, people, scheme, spread=spread, threads=1)

    apart = tuple(add(learned, part) for part, learned in enumerate(profiles.without))
    pairs = {two: add(learned, *two) for two, learned in profiles.without_two.items()}
    return FoldProfiles(add(profiles.whole), apart, pairs)


def population(ratings: Ratings, plan: Plan) -> Population:
    """Return users' ratings and categories as flat arrays."""
    rated = ratings.user, ratings.item, ratings.value
    return Population(*rated, categories_of(ratings, plan), ratings.user_ids)


def _pairs(fold: FoldData) -> list[frozenset[int]]:
    """Return the pairs of a judged part and one that is learned from."""
    if fold.plan.paper:
        return []
    pairs = (frozenset({a, b}) for a in fold.judged_parts for b in range(fold.plan.parts) if a != b)
    return list(dict.fromkeys(pairs))


def _directory(parts: frozenset[int]) -> str:
    return "without-" + "-".join(map(str, sorted(parts)))


def categories_of(ratings: Ratings, plan: Plan) -> Labels:
    """Return each user's category. Shape (users,)."""
    return ratings.feature(*plan.feature).codes.astype(np.intp)


def first_comers(ratings: Ratings, seed: int) -> NDArray[np.bool_]:
    """Tell which half of the people came first; a random half if times are not known."""
    if ratings.time is None:
        came = np.random.default_rng(seed).random(ratings.n_users)
    else:
        came = np.full(ratings.n_users, np.inf)
        np.minimum.at(came, ratings.user, ratings.time)
    return np.argsort(np.argsort(came, kind="stable")) < (ratings.n_users + 1) // 2


def one_against_rest(
    category: Labels, n_categories: int
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each target category, with a label for each person: 1 if she has it, else 0."""
    for k in targets(n_categories):
        yield k, (category == k).astype(np.int64)
