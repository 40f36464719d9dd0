"""A panel cut into parts: each is protected by a model learned from the others, and attacked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, prepare
from midpoint.analyst.counterparts.fit import with_spreads
from midpoint.audit.attackers.attacker import questions
from midpoint.audit.attackers.view import FEW, NestedFold, View, nested_fold, report_scale
from midpoint.data import Feature, Ratings, split_ratings, user_folds
from midpoint.data.split import Split
from midpoint.protocol import LearningProtocol, Population
from midpoint.wire import Disclosure

PARTS = 3
"""Parts of the panel: one is attacked, each of the others learned from under another disclosure."""
FEWEST = 4 * PARTS
"""People that a category needs to be looked for, and that all others need together."""
DRAWS = 2
"""Draws of the coins, of those attacked and of those learned from, where people are few."""
SHARE = 0.7
"""Share of a person's ratings that is protected and attacked; the rest is predicted."""
MOST_PEOPLE = 6_000
"""People that are measured on, at most."""
MOST_RATINGS = 600_000
"""Ratings that are measured on, at most; fewer people are taken where each rates much."""

Float = NDArray[np.float64]
Labels = NDArray[np.intp]
Parts = frozenset[int]


@dataclass(frozen=True, eq=False)
class Panel:
    """People who shared their category, in parts; what is fitted is shared by all candidates."""

    ratings: Ratings
    """All of their ratings; everybody's category is known."""
    features: tuple[str, ...]
    """The private feature; several make a joint one."""
    factorizer: Factorizer
    """How item profiles are learned."""
    seed: int
    """Decides parts, splits and coins."""
    _fitted: dict[tuple[Parts, str, bool], ItemProfiles] = field(default_factory=dict)
    """What was learned without some parts, by the scheme whose positions it has."""

    @classmethod
    def of(
        cls, ratings: Ratings, features: Sequence[str], factorizer: Factorizer, seed: int
    ) -> "Panel":
        """Take the people of a panel, or a sample of them where they are many."""
        feature = ratings.feature(*features)
        most = int(min(MOST_PEOPLE, MOST_RATINGS * ratings.n_users / max(len(ratings), 1)))
        if ratings.n_users > most:
            order = np.random.default_rng(seed).permutation(ratings.n_users)
            order = order[np.argsort(feature.codes[order], kind="stable")]
            # Every category in proportion, yet of a rare one all that it takes to be seen.
            ratings = ratings.select_users(_spread(order, feature.codes, most))
        return cls(ratings, tuple(features), factorizer, seed)

    @cached_property
    def category(self) -> Labels:
        """Category of each person. Shape (N,)."""
        return self.ratings.feature(*self.features).codes.astype(np.intp)

    @cached_property
    def looked_for(self) -> list[int]:
        """Categories that attacks look for."""
        return measurable(self.ratings.feature(*self.features))

    @cached_property
    def part(self) -> NDArray[np.int64]:
        """Part of each person. Shape (N,)."""
        feature = self.ratings.feature(*self.features)
        return user_folds(self.ratings.n_users, PARTS, seed=self.seed, feature=feature)

    @property
    def draws(self) -> int:
        """Draws of the coins; where people are many, one of each says enough."""
        return 1 if self.ratings.n_users >= FEW else DRAWS

    @cached_property
    def members(self) -> list[Labels]:
        """The people of each part, by index."""
        return [np.flatnonzero(self.part == part) for part in range(PARTS)]

    @cached_property
    def split(self) -> Split:
        """What everybody gives to her device, and what is predicted."""
        return split_ratings(self.ratings, SHARE, seed=self.seed)

    @cached_property
    def given(self) -> list[Population]:
        """What the people of each part give to their devices."""
        every = [self.split.given.select_users(self.part == part) for part in range(PARTS)]
        return [
            Population(
                part.user, part.item, part.value, self.category[self.members[k]], repeated=True
            )
            for k, part in enumerate(every)
        ]

    def learned(self, without: Parts, how: LearningProtocol) -> ItemProfiles:
        """Return what is learned from all but some parts, with what a protocol needs."""
        key = (without, how.scheme.name if how.scheme.counterparts else "", how.spread)
        if key not in self._fitted:
            others = self.ratings.select_users(~np.isin(self.part, list(without)))
            threads = self.factorizer.threads
            if how.spread:
                known = self.learned(without, LearningProtocol(how.scheme.name))
                self._fitted[key] = with_spreads(known, others, threads=threads)
            elif how.scheme.counterparts:
                plain = self.learned(without, LearningProtocol("no"))
                self._fitted[key] = prepare(
                    plain, others, how.scheme, spread=False, threads=threads
                )
            else:
                self._fitted[key] = self.factorizer.fit(others, self.features)
        return self._fitted[key]


@dataclass(frozen=True, eq=False)
class Shown:
    """What an analyst sees of a panel under one protocol."""

    panel: Panel
    """The people."""
    how: LearningProtocol
    """The protocol."""
    _disclosures: dict[Parts, Disclosure] = field(default_factory=dict)
    """By the parts they were made without."""

    def view(self, part: int, without: Parts, draw: int) -> View:
        """Show a part under a disclosure made without some parts, in one draw of the coins."""
        learned = self.panel.learned(without, self.how)
        if without not in self._disclosures:
            self._disclosures[without] = self.how.disclose(learned)
        disclosure = self._disclosures[without]
        sent = self.how.report(disclosure, learned, self.panel.given[part], self.coins(part, draw))
        return View(sent, learned, disclosure, report_scale(disclosure, self.panel.ratings.scale))

    def coins(self, part: int, draw: int) -> np.random.Generator:
        """Return the coins of a part in one draw, the same for every protocol."""
        return np.random.default_rng([self.panel.seed, part, draw])

    def trials(self) -> Iterator[NestedFold]:
        """Attack each part in turn; nobody attacked took part in a disclosure of the learners."""
        for part in range(PARTS):
            yield nested_fold(self.view, self.panel.members, part, self.panel.draws)


def measurable(feature: Feature) -> list[int]:
    """Return the categories that can be looked for: enough people have them, and enough do not.

    Those of too few people are protected and learned from like all others.
    """
    counts = feature.counts.tolist()
    most = sum(counts) - FEWEST
    return [k for k in questions(len(counts)) if FEWEST <= counts[k] <= most]


def _spread(order: Labels, codes: NDArray[np.integer], most: int) -> NDArray[np.bool_]:
    """Choose people: of each category its share, yet at least as many as an equal one of half."""
    chosen = np.zeros(len(order), dtype=np.bool_)
    names, counts = np.unique(codes, return_counts=True)
    for k, count in zip(names.tolist(), counts.tolist(), strict=True):
        wanted = max(round(most * count / len(order)), most // (2 * len(names)))
        chosen[order[codes[order] == k][:wanted]] = True
    return chosen
