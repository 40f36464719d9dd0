"""The panel in three parts. Each part is protected by a model of the others, and attacked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, prepare
from midpoint.analyst.counterparts.fit import with_spreads
from midpoint.audit.attackers.attacker import targets
from midpoint.audit.attackers.view import FEW, NestedFold, View, nested_fold, report_scale
from midpoint.data import Feature, Ratings, split_ratings, user_folds
from midpoint.data.split import Split
from midpoint.protocol import LearningProtocol, Population
from midpoint.wire import Disclosure

PARTS = 3
"""Parts of the panel. Attackers of one part learn from the others, each of which is protected under
a disclosure of its own."""
FEWEST = 4 * PARTS
"""The fewest people that a category needs to be attacked, and that all others need together."""
DRAWS = 2
"""Draws of every device's coins, where people are few."""
SHARE = 0.7
"""Share of a person's ratings that is protected and attacked; the rest is predicted."""
MOST_PEOPLE = 6_000
"""The most people that are measured; a larger panel is sampled."""
MOST_RATINGS = 600_000
"""The most ratings that are measured; fewer people are sampled where each rates many items."""

Float = NDArray[np.float64]
Labels = NDArray[np.intp]
Parts = frozenset[int]


@dataclass(frozen=True, eq=False)
class Panel:
    """People who shared their category, in parts, with the models that all candidates share."""

    ratings: Ratings
    """All of their ratings; everybody's category is known."""
    features: tuple[str, ...]
    """The private feature; several make a joint one."""
    factorizer: Factorizer
    """How item profiles are learned."""
    seed: int
    """Decides parts, splits and coins."""
    _fitted: dict[tuple[Parts, str, bool], ItemProfiles] = field(default_factory=dict)
    """Models, by the parts they were learned without and the scheme whose positions they have."""

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
            # Every category in proportion, but enough people of a rare one.
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
        """Draws of every device's coins; one is enough where people are many."""
        return 1 if self.ratings.n_users >= FEW else DRAWS

    @cached_property
    def members(self) -> list[Labels]:
        """The people of each part, by index."""
        return [np.flatnonzero(self.part == part) for part in range(PARTS)]

    @cached_property
    def split(self) -> Split:
        """The ratings that people give to their devices, and the hidden ones to predict."""
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

    def learned(self, without: Parts, protocol: LearningProtocol) -> ItemProfiles:
        """Return the model of all parts but some, with all that a protocol needs."""
        key = (
            without,
            protocol.scheme.name if protocol.scheme.counterparts else "",
            protocol.spread,
        )
        if key not in self._fitted:
            others = self.ratings.select_users(~np.isin(self.part, list(without)))
            threads = self.factorizer.threads
            if protocol.spread:
                known = self.learned(without, LearningProtocol(protocol.scheme.name))
                self._fitted[key] = with_spreads(known, others, threads=threads)
            elif protocol.scheme.counterparts:
                plain = self.learned(without, LearningProtocol("no"))
                self._fitted[key] = prepare(
                    plain, others, protocol.scheme, spread=False, threads=threads
                )
            else:
                self._fitted[key] = self.factorizer.fit(others, self.features)
        return self._fitted[key]


@dataclass(frozen=True, eq=False)
class PanelViews:
    """What an analyst sees of a panel's people under one protocol."""

    panel: Panel
    """The people."""
    protocol: LearningProtocol
    """The protocol."""
    _disclosures: dict[Parts, Disclosure] = field(default_factory=dict)
    """Disclosures, by the parts they were made without."""

    def view(self, part: int, without: Parts, draw: int) -> View:
        """Show a part under a disclosure made without some parts, in one draw of the coins."""
        learned = self.panel.learned(without, self.protocol)
        if without not in self._disclosures:
            self._disclosures[without] = self.protocol.disclose(learned)
        disclosure = self._disclosures[without]
        sent = self.protocol.report(
            disclosure, learned, self.panel.given[part], self.coins(part, draw)
        )
        return View(sent, learned, disclosure, report_scale(disclosure, self.panel.ratings.scale))

    def coins(self, part: int, draw: int) -> np.random.Generator:
        """Return the coins of a part in one draw, the same for every protocol."""
        return np.random.default_rng([self.panel.seed, part, draw])

    def trials(self) -> Iterator[NestedFold]:
        """Return a trial for each part: who is attacked, and from whom attackers learn.

        Nobody who is attacked took part in the disclosures of those learned from.
        """
        for part in range(PARTS):
            yield nested_fold(self.view, self.panel.members, part, self.panel.draws)


def measurable(feature: Feature) -> list[int]:
    """Return the categories that can be looked for: enough people have them, and enough do not.

    Those of too few people are protected and learned from like all others.
    """
    counts = feature.counts.tolist()
    most = sum(counts) - FEWEST
    return [k for k in targets(len(counts)) if FEWEST <= counts[k] <= most]


def _spread(order: Labels, codes: NDArray[np.integer], most: int) -> NDArray[np.bool_]:
    """Sample `most` people: each category in proportion, but at least half of an equal share."""
    chosen = np.zeros(len(order), dtype=np.bool_)
    names, counts = np.unique(codes, return_counts=True)
    for k, count in zip(names.tolist(), counts.tolist(), strict=True):
        wanted = max(round(most * count / len(order)), most // (2 * len(names)))
        chosen[order[codes[order] == k][:wanted]] = True
    return chosen
