"""Views of the people of one fold: the attacked, and those that attackers learn from."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from midpoint.analyst import ItemProfiles
from midpoint.analyst.fit.choice import RAW
from midpoint.audit.attackers.view import (
    NestedFold,
    Panel,
    View,
    nested_fold,
    pool_reports,
    report_scale,
)
from midpoint.audit.run.folds import FoldData, FoldProfiles, population
from midpoint.audit.run.plan import sends_profiles
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.wire import Disclosure

Parts = frozenset[int]
NOBODY: Parts = frozenset()
FEWER_DRAWS = 2
"""Draws that a nested fold learns from where more would not be used."""


@dataclass(frozen=True, eq=False)
class FoldViews(ABC):
    """What the analyst sees of one fold under one protocol."""

    fold: FoldData
    """The people."""
    name: str
    """Name of the protocol; all seeds follow from it."""
    _panels: dict[Parts, Panel] = field(default_factory=dict, kw_only=True)
    """The people that disclosures were made of, by the parts left out of them."""

    @property
    @abstractmethod
    def held_out(self) -> View:
        """The view of the people who are attacked."""

    @property
    @abstractmethod
    def nested_draws(self) -> int:
        """Draws of the coins that a nested fold learns from."""

    @abstractmethod
    def of_part(self, part: int, without: Parts, draw: int, coins: np.random.Generator) -> View:
        """Return the view of a part, by an analyst that learned without some parts."""

    @abstractmethod
    def coins(self, draw: int) -> Iterable[np.random.Generator]:
        """Return the coins of the parts, one after the other, in one draw."""

    @abstractmethod
    def nested_coins(self, part: int, without: Parts, draw: int) -> np.random.Generator:
        """Return the coins of a part in a nested fold."""

    @abstractmethod
    def attack_seed(self, attack: str, category: int) -> int:
        """Return the seed of an attacker for one target category."""

    @abstractmethod
    def in_panel(self, fold: FoldData, parts: list[int], without: Parts) -> list[View]:
        """Return views of some parts under the disclosure made of them, one for each draw."""

    def left_out(self, parts: Parts) -> Parts:
        """Return the parts to leave out of a disclosure, so that these people are not in it."""
        return parts

    @property
    def shows_sign(self) -> bool:
        """Whether the views of training people are under disclosures made without them."""
        return True

    def panel(self, without: Parts) -> Panel | None:
        """Return the people that a disclosure was made of: those of the other parts."""
        return self.panel_of(self.fold, without)

    def panel_of(self, fold: FoldData, without: Parts) -> Panel:
        """Return training people of a fold under the disclosure made of them."""
        if without not in self._panels:
            parts = [part for part in range(fold.plan.parts) if part not in without]
            category = fold.training_category
            who = np.concatenate([category[fold.part == part] for part in parts])
            self._panels[without] = Panel(lambda: self.in_panel(fold, parts, without), who)
        return self._panels[without]

    def training(self) -> list[View]:
        """Return views of the training people, one for each coin draw; they are too large to keep.

        Each part is obfuscated under a disclosure fitted without it, as the held-out people are.
        The views have the profiles and the disclosure of the held-out people.
        """
        first, *others = [self._draw(draw) for draw in range(self.fold.plan.draws)]
        return [replace(first, nested_folds=self.nested_folds()), *others]

    def nested_folds(self) -> tuple[NestedFold, ...]:
        """Return the nested folds of the training people.

        With few people each part is judged in turn, with many only the first one.
        """

        def show(part: int, without: Parts, draw: int) -> View:
            coins = self.nested_coins(part, without, draw)
            return self.of_part(part, self.left_out(without), draw, coins)

        members, draws = self.fold.members, self.nested_draws
        each = [nested_fold(show, members, part, draws) for part in self.fold.judged_parts]
        return tuple(replace(one, shows_sign=self.shows_sign) for one in each)

    def _draw(self, draw: int) -> View:
        parts = [
            self.of_part(part, self.left_out(frozenset({part})), draw, coins)
            for part, coins in zip(range(self.fold.plan.parts), self.coins(draw), strict=False)
        ]
        target = self.held_out
        return target.pooled(parts, target.profiles, target.disclosure)


@dataclass(frozen=True, eq=False)
class ReportViews(FoldViews):
    """One report of each person."""

    protocol: LearningProtocol
    """The protocol."""
    profiles: FoldProfiles
    """What the analyst learned, with all that the protocol needs."""
    _disclosures: dict[Parts, Disclosure] = field(default_factory=dict)
    """By the parts they were learned without."""

    @cached_property
    def held_out(self) -> View:
        """The view of the held-out people."""
        return self._sent(self.fold.attacked)

    @cached_property
    def rated(self) -> View:
        """The view from which hidden ratings are predicted: fewer ratings, if all are attacked."""
        whole = self.fold.attacked is self.fold.given
        return self.held_out if whole else self._sent(self.fold.given)

    def _sent(self, ratings: Ratings) -> View:
        """Return the view of held-out people whose devices get these ratings."""
        learned, disclosure = self.profiles.whole, self._disclosure(NOBODY)
        people = population(ratings, self.fold.plan)
        sent = self.protocol.report(
            disclosure, learned, people, held_out_coins(self.fold, self.name)
        )
        if sent.profile is not None and not sends_profiles(self.protocol):
            raise MidpointError(f"protocol {self.name!r} sends no ratings; attack one that does")
        return self._view(sent, NOBODY)

    @property
    def nested_draws(self) -> int:
        """Draws of nested folds: fewer if people are many, since more rows would not be used."""
        draws = self.fold.plan.draws
        return min(FEWER_DRAWS, draws) if self.fold.many else draws

    def of_part(self, part: int, without: Parts, draw: int, coins: np.random.Generator) -> View:
        """Return the view of a part under a disclosure made without some parts."""
        return self._view(self._reported(self.fold.thinned[draw][part], without, coins), without)

    def _reported(self, people: Population, without: Parts, coins: np.random.Generator) -> Reports:
        """Have people report under a disclosure made without some parts."""
        learned, disclosure = self.profiles.without_parts(without), self._disclosure(without)
        return self.protocol.report(disclosure, learned, people, coins)

    def _view(self, sent: Reports, without: Parts) -> View:
        learned, disclosure = self.profiles.without_parts(without), self._disclosure(without)
        scale = report_scale(disclosure, self.fold.given.scale)
        return View(sent, learned, disclosure, scale, panel=self.panel(without))

    def in_panel(self, fold: FoldData, parts: list[int], without: Parts) -> list[View]:
        """Return views of some parts under the disclosure made of them."""
        views = []
        for draw, thinned in enumerate(fold.thinned):
            coins = self._generator("panel", fold.number, self.name, *sorted(without), draw)
            sent = [self._reported(thinned[part], without, coins) for part in parts]
            views.append(replace(self._view(pool_reports(sent), without), panel=None))
        return views

    def training(self) -> list[View]:
        """Return views of the training people; forget the disclosures, which are large."""
        views = super().training()
        self._disclosures.clear()
        return views

    def coins(self, draw: int) -> Iterable[np.random.Generator]:
        """Return the same generator for all parts."""
        return repeat(self._generator("training", self.fold.number, self.name, draw))

    def nested_coins(self, part: int, without: Parts, draw: int) -> np.random.Generator:
        """Return other coins than those of training."""
        names = "nested fold", self.fold.number, self.name, part, *sorted(without), draw
        return self._generator(*names)

    def attack_seed(self, attack: str, category: int) -> int:
        """Derive the seed from all names."""
        return self.fold.plan.seed_of("attack", self.fold.number, self.name, attack, category)

    def _disclosure(self, without: Parts) -> Disclosure:
        if without not in self._disclosures:
            self._disclosures[without] = self.protocol.disclose(
                self.profiles.without_parts(without)
            )
        return self._disclosures[without]

    def _generator(self, *names: object) -> np.random.Generator:
        return np.random.default_rng(self.fold.plan.seed_of(*names))


def held_out_coins(fold: FoldData, name: str) -> np.random.Generator:
    """Return the coins of the held-out users under a protocol, the same ones every time."""
    return np.random.default_rng(fold.plan.seed_of("coins", fold.number, name))


def clean_view(fold: FoldData, profiles: FoldProfiles) -> View:
    """Return the view of training users' raw ratings, which the paper's attackers learn from."""
    disclosure = LearningProtocol(RAW).disclose(profiles.whole)

    def view(users: Ratings, learned: ItemProfiles, **more: Any) -> View:
        value = users.value.astype(np.float64)
        sent = Reports(np.arange(len(users)), users.user_offsets, users.item, value)
        return View(sent, learned, disclosure, users.scale, **more)

    apart = tuple(
        (np.flatnonzero(fold.part == part), view(fold.of_part(part), learned))
        for part, learned in enumerate(profiles.without)
    )
    return view(fold.training, profiles.whole, apart=apart)
