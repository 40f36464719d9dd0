"""The people whom positions are learned from, category by category."""

from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.data import Feature, Ratings

BLOCK: Final = 512
"""Rows that are worked on together, however many threads there are: sums do not depend on them."""


class Block(NamedTuple):
    """Some people of one category."""

    category: int
    """Their category."""
    begin: int
    """The first of them."""
    end: int
    """The one after the last."""


@dataclass(frozen=True, eq=False)
class People:
    """Ratings of N people of known category, who stand in the order of their categories."""

    offsets: NDArray[np.int64]
    """Ratings of person i are `offsets[i]:offsets[i + 1]`. Shape (N + 1,)."""
    item: NDArray[np.int32]
    """Which item each rating is of. Shape (ratings,)."""
    value: NDArray[np.float64]
    """The rating. Shape (ratings,)."""
    bounds: NDArray[np.int64]
    """People of category k are `bounds[k]:bounds[k + 1]`. Shape (K + 1,)."""

    @classmethod
    def of(cls, ratings: Ratings, feature: Feature) -> Self:
        """Take all who rated something and whose category is known."""
        codes, K = feature.codes, len(feature.categories)
        return cls.gather(ratings.user_offsets, ratings.item, ratings.value, codes, K)

    @classmethod
    def gather(
        cls,
        offsets: NDArray[np.int64],
        item: NDArray[np.int32],
        value: NDArray[np.floating],
        codes: NDArray[np.integer],
        K: int,
    ) -> Self:
        """Take those who rated something and whose code is that of one of K categories.

        Args:
            offsets: Ratings of user i are `offsets[i]:offsets[i + 1]`.
            item: Which item each rating is of, in memory or mapped from disk.
            value: The rating, likewise.
            codes: Everyone's category; -1 leaves her out.
            K: How many categories there are.
        """
        count = np.diff(offsets)
        here = np.flatnonzero((codes >= 0) & (count > 0))
        here = here[np.argsort(codes[here], kind="stable")]
        bounds = np.searchsorted(codes[here], np.arange(K + 1))
        starts, at = _rows(offsets, here)
        return cls(starts, item[at], value[at].astype(np.float64), bounds)

    def __len__(self) -> int:
        """Count the people."""
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Count the people of each category. Shape (K,)."""
        return np.diff(self.bounds)

    @property
    def category(self) -> NDArray[np.int64]:
        """Category of each person. Shape (N,)."""
        return np.repeat(np.arange(len(self.bounds) - 1), self.sizes)

    @property
    def person(self) -> NDArray[np.int64]:
        """Whose each rating is. Shape (ratings,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def counts(self, items: int) -> NDArray[np.float64]:
        """Count how often each category rated each item. Shape (M, K)."""
        K = len(self.sizes)
        cell = self.item.astype(np.int64) * K + self.category[self.person]
        return np.bincount(cell, minlength=items * K).reshape(-1, K).astype(np.float64)

    def blocks(self) -> list[Block]:
        """Cut the people into blocks of one category each."""
        return [
            Block(k, begin, min(begin + BLOCK, int(self.bounds[k + 1])))
            for k in range(len(self.bounds) - 1)
            for begin in range(int(self.bounds[k]), int(self.bounds[k + 1]), BLOCK)
        ]

    def thinned(self, low: float, high: float, draws: np.random.Generator) -> Self:
        """Keep a share of each person's ratings, drawn from low to high, and at least one."""
        share = draws.uniform(low, high, len(self))
        kept = draws.random(len(self.item)) < share[self.person]
        left = np.bincount(self.person[kept], minlength=len(self))
        kept[self.offsets[:-1][(left == 0) & (np.diff(self.offsets) > 0)]] = True
        return self.select(kept)

    def select(self, kept: NDArray[np.bool_]) -> Self:
        """Keep some of their ratings."""
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return type(self)(offsets, self.item[kept], self.value[kept], self.bounds)

    def in_order(self, people: NDArray[np.int64], bounds: NDArray[np.int64]) -> Self:
        """Gather these people's ratings, in their order."""
        offsets, at = _rows(self.offsets, people)
        return type(self)(offsets, self.item[at], self.value[at], bounds)


def _rows(
    offsets: NDArray[np.int64], people: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of these people's ratings when gathered, and where those are now."""
    count = np.diff(offsets)[people]
    gathered = np.concatenate([[0], np.cumsum(count)])
    return gathered, np.arange(gathered[-1]) + np.repeat(offsets[people] - gathered[:-1], count)
