"""What is seen of the people of one fold: those attacked, and those whom attackers learn from."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from midpoint.analyst import ItemProfiles
from midpoint.audit.attackers.view import (
    NestedFold,
    Panel,
    View,
    nested_fold,
    pool_reports,
    report_scale,
)
from midpoint.audit.run.folds import FoldData, FoldProfiles, population
from midpoint.audit.run.plan import RAW, sends_profiles
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
    """What the protocol is called: all seeds follow from it."""
    _panels: dict[Parts, Panel] = field(default_factory=dict, kw_only=True)
    """The people whom disclosures were made of, by the parts these were learned without."""

    @property
    @abstractmethod
    def held_out(self) -> View:
        """The people who are attacked."""

    @property
    @abstractmethod
    def nested_draws(self) -> int:
        """Draws of the coins that a nested fold learns from."""

    @abstractmethod
    def of_part(self, part: int, without: Parts, draw: int, coins: np.random.Generator) -> View:
        """Return the training people of a part, by an analyst that learned without some parts."""

    @abstractmethod
    def coins(self, draw: int) -> Iterable[np.random.Generator]:
        """Return the coins of the parts, one after the other, in one draw."""

    @abstractmethod
    def nested_coins(self, part: int, without: Parts, draw: int) -> np.random.Generator:
        """Return the coins of a part in a nested fold."""

    @abstractmethod
    def attack_seed(self, attack: str, category: int) -> int:
        """Return the seed of an attacker that looks for a category."""

    @abstractmethod
    def in_panel(self, fold: FoldData, parts: list[int], without: Parts) -> list[View]:
        """Draw what the training people of some parts send under the disclosure made of them."""

    def left_out(self, parts: Parts) -> Parts:
        """Return the parts that a disclosure is made without whose people are not to be in it."""
        return parts

    @property
    def shows_sign(self) -> bool:
        """Whether training people took no part in the disclosures that they are seen under."""
        return True

    def panel(self, without: Parts) -> Panel | None:
        """Show the people whom a disclosure was made of: those of the other parts."""
        return self.panel_of(self.fold, without)

    def panel_of(self, fold: FoldData, without: Parts) -> Panel:
        """Show training people of a fold under the disclosure made of them."""
        if without not in self._panels:
            parts = [part for part in range(fold.plan.parts) if part not in without]
            category = fold.training_category
            who = np.concatenate([category[fold.part == part] for part in parts])
            self._panels[without] = Panel(lambda: self.in_panel(fold, parts, without), who)
        return self._panels[without]

    def training(self) -> list[View]:
        """Return several coin draws of the training people, one view each; too large to keep.

        Each part is obfuscated under a disclosure fitted without it, as the held-out people are;
        the views have the profiles and the disclosure that will be attacked.
        """
        first, *others = [self._draw(draw) for draw in range(self.fold.plan.draws)]
        return [replace(first, nested_folds=self.nested_folds()), *others]

    def nested_folds(self) -> tuple[NestedFold, ...]:
        """Set parts of the training people against one another.

        With few people all parts are judged in turn, with many the first one is.
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

    how: LearningProtocol
    """The protocol."""
    profiles: FoldProfiles
    """What the analyst learned, with all that the protocol needs."""
    _disclosures: dict[Parts, Disclosure] = field(default_factory=dict)
    """By the parts they were learned without."""

    @cached_property
    def held_out(self) -> View:
        """What the analyst sees of the held-out people."""
        return self._sent(self.fold.attacked)

    @cached_property
    def rated(self) -> View:
        """The same of the ratings that others are predicted from; where all are attacked, fewer."""
        whole = self.fold.attacked is self.fold.given
        return self.held_out if whole else self._sent(self.fold.given)

    def _sent(self, ratings: Ratings) -> View:
        """Show what the devices of the held-out people make of some ratings."""
        learned, disclosure = self.profiles.whole, self._disclosure(NOBODY)
        people = population(ratings, self.fold.plan)
        sent = self.how.report(disclosure, learned, people, held_out_coins(self.fold, self.name))
        if sent.profile is not None and not sends_profiles(self.how):
            raise MidpointError(f"protocol {self.name!r} sends no ratings; attack one that does")
        return self._view(sent, NOBODY)

    @property
    def nested_draws(self) -> int:
        """Fewer where people are many, since more rows would not be used."""
        draws = self.fold.plan.draws
        return min(FEWER_DRAWS, draws) if self.fold.many else draws

    def of_part(self, part: int, without: Parts, draw: int, coins: np.random.Generator) -> View:
        """Show the thinned ratings of a part under a disclosure made without some parts."""
        return self._view(self._reported(self.fold.thinned[draw][part], without, coins), without)

    def _reported(self, people: Population, without: Parts, coins: np.random.Generator) -> Reports:
        """Have people report under a disclosure made without some parts."""
        learned, disclosure = self.profiles.without_parts(without), self._disclosure(without)
        return self.how.report(disclosure, learned, people, coins)

    def _view(self, sent: Reports, without: Parts) -> View:
        learned, disclosure = self.profiles.without_parts(without), self._disclosure(without)
        scale = report_scale(disclosure, self.fold.given.scale)
        return View(sent, learned, disclosure, scale, panel=self.panel(without))

    def in_panel(self, fold: FoldData, parts: list[int], without: Parts) -> list[View]:
        """Have them report the ratings that they thinned, once for each draw."""
        views = []
        for draw, thinned in enumerate(fold.thinned):
            coins = self._generator("panel", fold.number, self.name, *sorted(without), draw)
            sent = [self._reported(thinned[part], without, coins) for part in parts]
            views.append(replace(self._view(pool_reports(sent), without), panel=None))
        return views

    def training(self) -> list[View]:
        """Return the training people, and keep no disclosures: of many schemes they are large."""
        views = super().training()
        self._disclosures.clear()
        return views

    def coins(self, draw: int) -> Iterable[np.random.Generator]:
        """Let all parts draw from the same generator."""
        return repeat(self._generator("training", self.fold.number, self.name, draw))

    def nested_coins(self, part: int, without: Parts, draw: int) -> np.random.Generator:
        """Draw other coins than in training."""
        names = "nested fold", self.fold.number, self.name, part, *sorted(without), draw
        return self._generator(*names)

    def attack_seed(self, attack: str, category: int) -> int:
        """Derive the seed from all names."""
        return self.fold.plan.seed_of("attack", self.fold.number, self.name, attack, category)

    def _disclosure(self, without: Parts) -> Disclosure:
        if without not in self._disclosures:
            self._disclosures[without] = self.how.disclose(self.profiles.without_parts(without))
        return self._disclosures[without]

    def _generator(self, *names: object) -> np.random.Generator:
        return np.random.default_rng(self.fold.plan.seed_of(*names))


def held_out_coins(fold: FoldData, name: str) -> np.random.Generator:
    """Return the coins of the held-out users under a protocol, the same ones every time."""
    return np.random.default_rng(fold.plan.seed_of("coins", fold.number, name))


def clean_view(fold: FoldData, profiles: FoldProfiles) -> View:
    """Return the training users' ratings as they are: what the paper's attackers learn from."""
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
