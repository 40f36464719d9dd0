"""Several rounds of questions between an analyst and many devices (Sec. 6.3).

Each round the analyst asks everyone about more items, chosen by what she answered so far, and once
more about what was left open; in between it learns again and discloses other numbers. Meanwhile
people rate more items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles
from midpoint.analyst.solicit.questions import Questions, rated_share
from midpoint.data import Ratings
from midpoint.protocol import obfuscate_population
from midpoint.user import PURPOSES, Parameters
from midpoint.wire import Disclosure, from_fixed, to_fixed

Float = NDArray[np.float64]
Single = NDArray[np.float32]
Mask = NDArray[np.bool_]
Coins = np.random.Generator | Float


class DeviceKind(StrEnum):
    """What a device does when it is asked again."""

    FINAL = "final"
    """The product's: the first decision on an item stands, whatever comes later."""
    FORGETFUL = "forgetful"
    """Keeps its coins but no ledger: it decides again in every round, by the numbers of the day."""
    TOSSING = "tossing"
    """Keeps neither: it tosses again in every round."""


class Version(NamedTuple):
    """What the analyst knew and said at one time."""

    profiles: ItemProfiles
    """The item profiles; all versions number items alike."""
    disclosure: Disclosure
    """What devices obfuscate by."""


class Round(NamedTuple):
    """What happens to N people in one round, on C items."""

    asked: Mask
    """What was asked up to now, as far as devices remember it. Shape (N, C)."""
    ready: Mask
    """What of it they have rated. Shape (N, C)."""
    fresh: Mask
    """What of that is decided now. Shape (N, C)."""


@dataclass(frozen=True, eq=False)
class People:
    """What N people will ever rate of the C items that may be asked about."""

    items: NDArray[np.intp]
    """The items, as indices of the item profiles. Shape (C,)."""
    value: Single
    """Ratings, NaN for what is never rated. Shape (N, C)."""
    arrival: NDArray[np.int16]
    """First round in which she can answer. Shape (N, C)."""
    category: NDArray[np.intp]
    """What they hide. Shape (N,)."""

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        items: NDArray[np.intp],
        category: NDArray[np.intp],
        rounds: int,
        seed: int,
    ) -> "People":
        """Have each person's ratings arrive in order, as many before each round as before another.

        The order is that of their times; a random one where no times are known.
        """
        column = np.full(ratings.n_items, -1, dtype=np.intp)
        column[items] = np.arange(len(items))
        known = column[ratings.item] >= 0
        user, asked = ratings.user[known], column[ratings.item[known]]
        value = np.full((ratings.n_users, len(items)), np.nan, dtype=np.float32)
        arrival = np.zeros(value.shape, dtype=np.int16)
        value[user, asked] = ratings.value[known]
        arrival[user, asked] = _round_of_each(ratings, rounds, seed)[known]
        return cls(items, value, arrival, category)


@dataclass(frozen=True, eq=False)
class Transcript:
    """All that the analyst saw of N people in R rounds, on C items."""

    items: NDArray[np.intp]
    """The items that were ever asked about, as indices of the item profiles. Shape (C,)."""
    asked: Mask
    """What was asked in each round. Shape (R, N, C)."""
    value: Single
    """What was answered, NaN where nothing was. Shape (R, N, C)."""

    @cached_property
    def answered(self) -> Mask:
        """Where there was an answer. Shape (R, N, C)."""
        return ~np.isnan(self.value)

    @cached_property
    def ever_asked(self) -> Mask:
        """What was asked in any round. Shape (N, C)."""
        return np.asarray(self.asked.any(axis=0))

    @cached_property
    def ever_answered(self) -> Mask:
        """What was answered in any round. Shape (N, C)."""
        return np.asarray(self.answered.any(axis=0))

    @classmethod
    def joined(cls, parts: Sequence["Transcript"]) -> "Transcript":
        """Put people beside one another who were asked about the same catalogue of items."""
        asked, value = ([getattr(one, key) for one in parts] for key in ("asked", "value"))
        return cls(parts[0].items, np.concatenate(asked, axis=1), np.concatenate(value, axis=1))


def converse(
    people: People,
    versions: Sequence[Version],
    *,
    budget: int,
    device: DeviceKind = DeviceKind.FINAL,
    coins: Coins,
) -> Transcript:
    """Hold all rounds with everyone; a version for each round.

    Of the product's devices the analyst asks again only what was not answered: an answered item
    under other numbers is refused. The others answer whatever is asked, so it asks everything.

    Args:
        people: Who can answer what, and when.
        versions: What the analyst knows and says in each round.
        budget: Items in each round that were not asked before.
        device: How devices decide.
        coins: Uniforms of shape (N, C, purposes), or what draws them.
    """
    shape = people.value.shape
    asked, answered, shown, given = np.zeros((4, *shape), dtype=np.bool_)
    decided, transcript, uniform = np.zeros(shape, dtype=np.bool_), [], _toss(coins, shape)
    for number, version in enumerate(versions):
        again = asked if device is not DeviceKind.FINAL else asked & ~answered
        now = again | _chosen(people, version, asked, answered, budget)
        asked = asked | now
        ready = now & ~np.isnan(people.value) & (people.arrival <= number)
        fresh = ready & ~decided if device is DeviceKind.FINAL else ready
        if device is DeviceKind.TOSSING and number:
            uniform = _toss(coins, shape)
        if device is DeviceKind.FINAL:  # its ledger remembers what was asked and rated before
            shown, given = shown | now, given | ready
        else:
            shown, given = now, ready
        sent = _sent(people, version, Round(shown, given, fresh), uniform)
        decided, answered = decided | fresh, answered | ~np.isnan(sent)
        transcript.append((now, sent))
    return Transcript(
        people.items,
        np.stack([now for now, _ in transcript]),
        np.stack([sent for _, sent in transcript]),
    )


def catalogue(profiles: ItemProfiles, size: int) -> NDArray[np.intp]:
    """Return the items that people can most likely rate, of those that say something of taste."""
    likely = np.where(profiles.informative, rated_share(profiles), -1.0)
    return np.sort(np.argsort(-likely, kind="stable")[: min(size, int(profiles.informative.sum()))])


def _chosen(people: People, version: Version, asked: Mask, answered: Mask, budget: int) -> Mask:
    """Choose what else to ask, by what was answered."""
    questions = Questions(version.profiles, version.disclosure)
    # Before anybody answered, everybody is asked the same: choose once.
    some = slice(None) if answered.any() or asked.any() else slice(1)
    chosen = questions.choose_for_many(people.items, asked[some], answered[some], budget)
    return np.broadcast_to(chosen, asked.shape)


def _sent(people: People, version: Version, round_: Round, uniform: Float) -> Single:
    """Obfuscate what is decided now; NaN where nothing is sent. Shape (N, C)."""
    sent = np.full(round_.fresh.shape, np.nan, dtype=np.float32)
    index = version.profiles.message_index[people.items]
    person, column = np.nonzero(round_.ready)
    done = obfuscate_population(
        np.append(0, np.cumsum(round_.ready.sum(axis=1))),
        index[column],
        to_fixed(people.value[person, column]),
        people.category,
        Parameters.of(version.disclosure),
        uniform[person, column],
        asked=[index[now] for now in round_.asked],
    )
    now = done.keep & round_.fresh[person, column]
    sent[person[now], column[now]] = from_fixed(done.value[now]).astype(np.float32)
    return sent


def _toss(coins: Coins, shape: tuple[int, ...]) -> Float:
    return coins if isinstance(coins, np.ndarray) else coins.random((*shape, len(PURPOSES)))


def _round_of_each(ratings: Ratings, rounds: int, seed: int) -> NDArray[np.int16]:
    """Return the round before which each rating arrives. Shape (ratings,)."""
    at_random = np.random.default_rng(seed).random(len(ratings))
    when = at_random if ratings.time is None else ratings.time
    order = np.lexsort((when, ratings.user))
    count = np.diff(ratings.user_offsets)
    rank = np.arange(len(ratings)) - np.repeat(ratings.user_offsets[:-1], count)
    arrived = np.empty(len(ratings), dtype=np.int16)
    arrived[order] = rank * rounds // np.repeat(np.maximum(count, 1), count)
    return arrived
