"""The people whom positions are learned from, wherever their ratings are.

What is drawn of a person depends on her name and the seed alone. So the same people are in a
sample, with the same ratings, whichever engine reads them and in whatever order.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Final, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts.checkpoint import Checkpoint
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.fit.positions import Float
from midpoint.data import Feature, Ratings

PEOPLE_AT_ONCE: Final = 2**13
"""People who are in memory at a time, at most, while everyone is passed over."""
RATINGS_AT_ONCE: Final = 2**21
"""Ratings that are, about; nobody's are cut in two."""
PART: Final = "everyone"
"""What a checkpoint calls the sums so far."""
GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: the step of SplitMix64."""

Keys = NDArray[np.uint64]


class Totals(NamedTuple):
    """What is left of people when their positions are gone; C cells, D dimensions.

    A cell is a stratum of a category.
    """

    size: NDArray[np.int64]
    """How many people there are. Shape (C,)."""
    away: Float
    """Sum of their positions, less the prior's mean. Shape (C, D)."""
    square: Float
    """Sum of the squares of that, as matrices, uncertainty included. Shape (C, D, D)."""

    def plus(self, other: "Totals") -> "Totals":
        """Add those of other people."""
        size, away, square = other
        return Totals(self.size + size, self.away + away, self.square + square)


class Group(NamedTuple):
    """Ratings of n people of known category, in any order."""

    key: Keys
    """`keys_of` their names. Shape (n,)."""
    category: NDArray[np.int64]
    """Their categories. Shape (n,)."""
    offsets: NDArray[np.int64]
    """Ratings of person i are `offsets[i]:offsets[i + 1]`. Shape (n + 1,)."""
    item: NDArray[np.int32]
    """Which item each rating is of. Shape (ratings,)."""
    value: NDArray[np.float32]
    """The rating. Shape (ratings,)."""

    def thinned(self, low: float, high: float) -> Self:
        """Keep a share of each person's ratings, from low to high, and at least one."""
        count = np.diff(self.offsets)
        share = low + (high - low) * uniform(self.key)
        of_rating = uniform(np.repeat(self.key, count), self.item.astype(np.uint64) + np.uint64(1))
        kept = of_rating < np.repeat(share, count)
        left = np.add.reduceat(kept, self.offsets[:-1]) if len(kept) else np.zeros(0, np.int64)
        kept[self.offsets[:-1][left == 0]] = True
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return self._replace(offsets=offsets, item=self.item[kept], value=self.value[kept])


class Panel(Protocol):
    """People of known category who rated something."""

    def take(self, shares: Float) -> People:
        """Bring a share of each category to memory; `is_taken` says whom. Shape (K,)."""
        ...

    def add_up(
        self,
        work: Callable[[Group], Totals],
        checkpoint: Checkpoint,
        progress: Callable[[float], None],
    ) -> Totals:
        """Do work on everyone, some at a time, and add up what comes of it.

        Args:
            work: Can be sent to another machine.
            checkpoint: Keeps the sums so far.
            progress: Hears which share of the work is done.
        """
        ...


@dataclass(frozen=True, eq=False)
class ByUser:
    """A panel whose ratings are columns in the order of users, in memory or mapped; N users."""

    offsets: NDArray[np.int64]
    """Ratings of user i are `offsets[i]:offsets[i + 1]`. Shape (N + 1,)."""
    item: NDArray[np.int32]
    """Which item each rating is of. Shape (ratings,)."""
    value: NDArray[np.float32]
    """The rating. Shape (ratings,)."""
    feature: Feature
    """Everyone's category."""
    names: NDArray[np.str_]
    """What keys are made of. Shape (N,)."""
    seed: int = 0
    """Part of the keys."""

    @classmethod
    def of(cls, ratings: Ratings, feature: Feature, seed: int = 0) -> Self:
        """Take ratings in memory."""
        columns = (ratings.user_offsets, ratings.item, ratings.value)
        return cls(*columns, feature, ratings.user_ids, seed)

    @cached_property
    def _keys(self) -> Keys:
        return keys_of(self.names.tolist(), self.seed)

    def take(self, shares: Float) -> People:
        """Gather the ratings of a share of each category."""
        codes = self.feature.codes
        if (shares < 1).any():
            codes = np.where(is_taken(self._keys, codes, shares), codes, -1)
        return People.gather(self.offsets, self.item, self.value, codes, len(shares))

    def add_up(
        self,
        work: Callable[[Group], Totals],
        checkpoint: Checkpoint,
        progress: Callable[[float], None],
    ) -> Totals:
        """Do work on one group after the other; the checkpoint knows how far it came."""
        groups = list(pairwise(self._bounds()))
        before = checkpoint.load(PART)
        done = 0 if before is None else int(before.pop("done"))
        total = None if before is None else Totals(**before)
        for k, (begin, end) in enumerate(groups[done:], done + 1):
            result = work(self._group(begin, end))
            total = result if total is None else total.plus(result)
            checkpoint.save(PART, done=np.array(k), **total._asdict())
            progress(k / len(groups))
        if total is None:
            raise ValueError("there are no people to add up")
        return total

    def _bounds(self) -> list[int]:
        """Cut the users into groups that memory holds; return where they begin, and the end."""
        bounds, size = [0], len(self.offsets) - 1
        while (begin := bounds[-1]) < size:
            most = self.offsets[begin] + RATINGS_AT_ONCE
            end = int(np.searchsorted(self.offsets, most, side="right")) - 1
            bounds.append(min(max(end, begin + 1), begin + PEOPLE_AT_ONCE, size))
        return bounds

    def _group(self, begin: int, end: int) -> Group:
        offsets, codes = self.offsets[begin : end + 1], self.feature.codes[begin:end]
        count = np.diff(offsets)
        here = (codes >= 0) & (count > 0)
        rows, kept = slice(offsets[0], offsets[-1]), np.repeat(here, count)
        return Group(
            self._keys[begin:end][here],
            codes[here].astype(np.int64),
            np.concatenate([[0], np.cumsum(count[here])]),
            self.item[rows][kept],
            self.value[rows][kept],
        )


def keys_of(names: Iterable[object], seed: int) -> Keys:
    """Return what draws depend on: 64 bits of BLAKE2b of the seed, a zero byte and the name."""
    begin = f"{seed}\0"
    digests = [blake2b(f"{begin}{name}".encode(), digest_size=8).digest() for name in names]
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)


def is_taken(key: Keys, category: NDArray[np.integer], shares: Float) -> NDArray[np.bool_]:
    """Tell who is in a sample of so large a share of each category."""
    return np.asarray((category >= 0) & (key * 2.0**-64 < shares[category]))


def uniform(key: Keys, more: Keys | None = None) -> Float:
    """Return uniform numbers from 0 to 1: SplitMix64 of a key, and of something more if given."""
    x = _mixed(key + GOLDEN)
    if more is not None:
        x = _mixed(x ^ _mixed(more * GOLDEN))
    return np.asarray((x >> np.uint64(11)) * 2.0**-53)


def _mixed(x: Keys) -> Keys:
    """Return the output of SplitMix64 in a state (Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
