"""Ratings that another tool has changed, instead of a protocol of ours: attacked as they are."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.data import Ratings, Scale
from midpoint.data.origin import counted
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.protocol.learning import Coins
from midpoint.wire import SCHEMES, Disclosure, Scheme

PROTECTED = "protected"
"""What such a protocol is called in reports."""
ANYTHING = Scale.continuous(-1e6, 1e6)
"""The scale to load a table with that a tool made. It may hold what no person can say, and digits
stay as they are: a guessed scale rounds numbers in no levels, and hides what their digits leak."""

logger = logging.getLogger(__name__)


class Draw(NamedTuple):
    """One table that the tool made, beside the raw ratings; n entries, N raw users."""

    offsets: NDArray[np.int64]
    """Entries of raw user i are `offsets[i]:offsets[i + 1]`. Shape (N + 1,)."""
    item: NDArray[np.int32]
    """Their items, by index among the raw ones. Shape (n,)."""
    value: NDArray[np.float64]
    """What they say. Shape (n,)."""
    added: NDArray[np.bool_]
    """Whether the person never rated the item: the tool made it up. Shape (n,)."""


@dataclass(frozen=True, eq=False)
class Copies:
    """Draws of the tool, known by their digests."""

    user_ids: NDArray[np.str_]
    """The raw users. Shape (N,)."""
    draws: tuple[Draw, ...]
    """One for each table."""
    digests: tuple[str, ...]
    """The digest of the raw ratings, and of each table."""

    def __eq__(self, other: object) -> bool:
        """Compare by digests."""
        return isinstance(other, Copies) and self.digests == other.digests

    def __hash__(self) -> int:
        """Follow the digests."""
        return hash(self.digests)


@dataclass(frozen=True)
class ProtectedCopies(LearningProtocol):
    """A protocol of which only the outcome is known: tables, one for each draw of its coins.

    Nothing is disclosed, and nobody's device corrects anything. Of a person who gives some of her
    ratings, the entries of those items are sent, and all entries that the tool made up.
    """

    name: str = PROTECTED
    copies: Copies | None = None
    """The tables."""

    def __post_init__(self) -> None:
        """Leave the name as it is: it is no scheme of ours."""
        if self.copies is None:
            raise MidpointError("there is no table to attack; use ProtectedCopies.of")

    @classmethod
    def of(cls, raw: Ratings, tables: Sequence[Ratings]) -> "ProtectedCopies":
        """Match tables with the raw ratings by the ids of users and items.

        Args:
            raw: The ratings as people gave them, with their features.
            tables: What the tool made of them, loaded with the scale `ANYTHING`; several if it
                tosses coins. People who are not in a table sent nothing.
        """
        if not tables:
            raise MidpointError("name at least one table of protected ratings")
        digests = tuple(part.digest for part in (raw, *tables))
        return cls(copies=Copies(raw.user_ids, tuple(_draw(raw, t) for t in tables), digests))

    @property
    def scheme(self) -> Scheme:
        """What is disclosed: nothing that a device would need."""
        return SCHEMES["no"]

    def report(
        self, disclosure: Disclosure, profiles: Any, people: Population, coins: Coins
    ) -> Reports:
        """Send what a table has of these people; of several tables the coins choose one."""
        del disclosure, profiles
        if self.copies is None or people.ids is None or isinstance(coins, np.ndarray):
            raise MidpointError("protected ratings need people with ids, and coins to be drawn")
        draws = self.copies.draws
        draw = draws[int(coins.integers(len(draws)))]
        known = {user: index for index, user in enumerate(self.copies.user_ids.tolist())}
        index = np.array([known[user] for user in people.ids.tolist()], dtype=np.intp)
        entries, owner = _entries(draw.offsets, index)
        given = _given_indices(people, owner, draw.item[entries])
        sent = (given >= 0) | draw.added[entries]
        offsets = np.zeros(len(index) + 1, dtype=np.int64)
        np.cumsum(np.bincount(owner[sent], minlength=len(index)), out=offsets[1:])
        return Reports(given[sent], offsets, draw.item[entries][sent], draw.value[entries][sent])


def _draw(raw: Ratings, table: Ratings) -> Draw:
    """Match one table, and refuse one that has nothing to do with the raw ratings."""
    users, items = (
        _indices(ours.tolist(), theirs.tolist())
        for ours, theirs in ((raw.user_ids, table.user_ids), (raw.item_ids, table.item_ids))
    )
    for kind, known, ids in (("user", users, table.user_ids), ("item", items, table.item_ids)):
        strangers = int((known < 0).sum())
        if strangers:
            logger.warning(
                "%s has %s that %s does not have, such as %r: left out",
                *(table.name, counted(strangers, kind), raw.name, str(ids[np.argmin(known)])),
            )
    table = table.select_ratings((users[table.user] >= 0) & (items[table.item] >= 0))
    user, item = users[table.user], items[table.item]
    order = np.lexsort((item, user))
    user, item = user[order], item[order]
    rated = np.isin(user * raw.n_items + item, raw.user.astype(np.int64) * raw.n_items + raw.item)
    if not rated.any():
        raise MidpointError(
            f"no rating of {table.name} is of an item that the same person rates in {raw.name};"
            " check that both call users and items the same"
        )
    offsets = np.zeros(raw.n_users + 1, dtype=np.int64)
    np.cumsum(np.bincount(user, minlength=raw.n_users), out=offsets[1:])
    return Draw(offsets, item.astype(np.int32), table.value[order].astype(np.float64), ~rated)


def _indices(ours: list[str], theirs: list[str]) -> NDArray[np.int64]:
    """Return for each of their ids its index among ours, -1 if there is none."""
    index = {name: number for number, name in enumerate(ours)}
    return np.array([index.get(name, -1) for name in theirs], dtype=np.int64)


def _entries(
    offsets: NDArray[np.int64], users: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of some users, one after the other, and whose each is."""
    counts = offsets[users + 1] - offsets[users]
    owner = np.repeat(np.arange(len(users)), counts)
    before = np.cumsum(counts) - counts
    return np.arange(counts.sum()) - before[owner] + offsets[users][owner], owner


def _given_indices(
    people: Population, owner: NDArray[np.int64], item: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return for each entry where its rating stands among those that were given, or -1."""
    width = 1 + int(max(people.item.max(initial=0), item.max(initial=0)))
    keys = people.user.astype(np.int64) * width + people.item
    wanted = owner * width + item
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    index = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[index] == wanted, index, -1)
