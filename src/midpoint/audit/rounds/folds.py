"""One fold of the rounds: whom the attacker learns from, whom it attacks, what it knew when."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, prepare
from midpoint.audit.attackers.view import FEW, NestedFold
from midpoint.audit.rounds.conversation import Device, People, Version, catalogue, converse
from midpoint.audit.rounds.view import TranscriptView
from midpoint.audit.run.plan import Plan
from midpoint.data import Ratings, hold_out, user_folds
from midpoint.protocol import LearningProtocol

Parts = frozenset[int]
NOBODY: Parts = frozenset()
REHEARSED = 2
"""Draws of the coins that a nested fold learns from: enough to choose a setting by."""


class Case(NamedTuple):
    """Devices of one kind."""

    how: LearningProtocol
    """The protocol."""
    device: Device
    """What they do when they are asked again."""


@dataclass(frozen=True, eq=False)
class Setup:
    """What is run, and on whom."""

    ratings: Ratings
    """The ratings of people whose category is known."""
    plan: Plan
    """Folds, parts, draws and seeds."""
    cases: Mapping[str, Case]
    """Devices by name."""
    rounds: int
    """How often everyone is asked."""
    budget: int
    """New items in each round."""
    items: int
    """Items that may be asked about, at most."""

    def people(self, ratings: Ratings, items: NDArray[np.intp]) -> People:
        """Say who can answer what, and from which round on."""
        category = ratings.feature(*self.plan.feature).codes.astype(np.intp)
        return People.of(ratings, items, category, self.rounds, self.plan.seed_of("arrival"))


@dataclass(frozen=True, eq=False)
class RoundsFold:
    """The people of one fold, and what an analyst knows that learned from some of them."""

    setup: Setup
    """What is run."""
    number: int
    """Which fold is held out."""
    training: Ratings
    """The others."""
    part: NDArray[np.int64]
    """Part of each of the others, for cross-fitting. Shape (training people,)."""
    early: NDArray[np.bool_]
    """Which of the others came before the first round. Shape (training people,)."""
    held_out: People
    """The people attacked."""
    parts: tuple[People, ...]
    """The others, part by part."""
    _learned: dict[Parts, list[ItemProfiles]] = field(default_factory=dict)
    """Profiles early and late, by the parts they were learned without."""
    _told: dict[tuple[LearningProtocol, Parts], list[Version]] = field(default_factory=dict)
    """The same with what was disclosed, by protocol: devices of all kinds are told alike."""

    @classmethod
    def of(cls, setup: Setup, number: int) -> "RoundsFold":
        """Split people, and choose the items that may be asked about."""
        plan, ratings = setup.plan, setup.ratings
        feature = ratings.feature(*plan.feature)
        folds = user_folds(ratings.n_users, plan.folds, seed=plan.seed_of("folds"), feature=feature)
        training, held_out = hold_out(ratings, folds, number)
        own, seed = training.feature(*plan.feature), plan.seed_of("parts", number)
        part = user_folds(training.n_users, plan.parts, seed=seed, feature=own)
        items = catalogue(plan.factorizer.fit(training, plan.feature), setup.items)
        return cls(
            setup,
            number,
            training,
            part,
            first_comers(training, plan.seed_of("early", number)),
            setup.people(held_out, items),
            tuple(setup.people(training.select_users(part == p), items) for p in range(plan.parts)),
        )

    @property
    def training_category(self) -> NDArray[np.intp]:
        """Category of each training person, part after part."""
        return np.concatenate([one.category for one in self.parts])

    def tried(self, name: str) -> TranscriptView:
        """Return what the analyst sees of the held-out in all rounds."""
        return self._seen(name, self.held_out, NOBODY, "tried")

    def learned(self, name: str) -> list[TranscriptView]:
        """Return several draws of the coins of the training people, one view each.

        Each part is asked, and told, by an analyst that never saw it, as the held-out are.
        """
        last, draws = self._versions(name, NOBODY)[-1], range(self.setup.plan.draws)
        views = [
            TranscriptView.pooled(
                [self._of_part(name, p, frozenset({p}), draw) for p in range(len(self.parts))], last
            )
            for draw in draws
        ]
        judged = range(len(self.parts) if self.training.n_users < FEW else 1)
        nested_folds = tuple(self._nested_fold(name, part) for part in judged)
        return [replace(views[0], nested_folds=nested_folds), *views[1:]]

    def _nested_fold(self, name: str, judged: int) -> NestedFold:
        """Set one part against the others, who were told nothing that was learned from it."""
        others = [p for p in range(len(self.parts)) if p != judged]
        last = self._versions(name, frozenset({judged}))[-1]
        ends = np.cumsum([len(one.category) for one in self.parts])
        members = np.split(np.arange(ends[-1], dtype=np.intp), ends[:-1])
        learn = tuple(
            TranscriptView.pooled(
                [self._of_part(name, p, frozenset({p, judged}), draw) for p in others], last
            )
            for draw in range(REHEARSED)
        )
        judge = self._of_part(name, judged, frozenset({judged}), 0)
        learners = np.concatenate([members[p] for p in others])
        return NestedFold(learn, learners, judge, members[judged])

    def _of_part(self, name: str, part: int, without: Parts, draw: int) -> TranscriptView:
        return self._seen(name, self.parts[part], without, "training", part, draw)

    def _seen(self, name: str, people: People, without: Parts, *coins: object) -> TranscriptView:
        """Hold the rounds with an analyst that learned without some parts."""
        versions, setup = self._versions(name, without), self.setup
        seed = setup.plan.seed_of("rounds", self.number, name, *coins)
        said = converse(
            people,
            versions,
            budget=setup.budget,
            device=setup.cases[name].device,
            coins=np.random.default_rng(seed),
        )
        return TranscriptView.of(said, versions[-1], setup.ratings.scale)

    def _versions(self, name: str, without: Parts) -> list[Version]:
        """Return what the analyst knows in each round: it learns anew half way."""
        how, rounds = self.setup.cases[name].how, self.setup.rounds
        times = [self._there(without, came) for came in (self.early, np.ones_like(self.early))]
        if without not in self._learned:
            plan = self.setup.plan
            self._learned[without] = [plan.factorizer.fit(one, plan.feature) for one in times]
        if (how, without) not in self._told:
            both = zip(self._learned[without], times, strict=True)
            ready = [prepare(one, there, how.scheme, threads=1) for one, there in both]
            self._told[how, without] = [Version(one, how.disclose(one)) for one in ready]
        early, late = self._told[how, without]
        return [late if 2 * number >= rounds else early for number in range(rounds)]

    def _there(self, without: Parts, came: NDArray[np.bool_]) -> Ratings:
        """Return the ratings of those who came, but for some parts."""
        return self.training.select_users(came & ~np.isin(self.part, list(without)))


def first_comers(ratings: Ratings, seed: int) -> NDArray[np.bool_]:
    """Tell the half of the people who came first; a random half where no times are known."""
    if ratings.time is None:
        came = np.random.default_rng(seed).random(ratings.n_users)
    else:
        came = np.full(ratings.n_users, np.inf)
        np.minimum.at(came, ratings.user, ratings.time)
    return np.argsort(np.argsort(came, kind="stable")) < (ratings.n_users + 1) // 2
