"""A scheme run on a whole population at once: what audit, benchmarks and the demo share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, estimate_profiles
from midpoint.errors import MidpointError
from midpoint.user import PURPOSES, Parameters, obfuscate
from midpoint.wire import Disclosure, ValueMap, from_fixed, to_fixed

Float = NDArray[np.float64]
Coins = np.random.Generator | Float
"""Uniforms of shape (ratings, purposes), or what draws them."""

BLIND = (ValueMap.AS_IS, ValueMap.ITEM_AVERAGE, ValueMap.FEATURE_AVERAGE)
"""Maps of values that do not ask for the category."""


@dataclass(frozen=True, eq=False)
class Population:
    """Many people's ratings on flat arrays, in the order of their users."""

    user: NDArray[np.integer]
    """Who gave each rating, ascending. Shape (n,)."""
    item: NDArray[np.integer]
    """Its item, as a place in the item profiles. Shape (n,)."""
    value: NDArray[np.floating]
    """The rating. Shape (n,)."""
    category: NDArray[np.integer]
    """Each person's category or joint cell. Shape (users,)."""

    @property
    def n_users(self) -> int:
        """Count the people, those without a rating included."""
        return len(self.category)


@dataclass(frozen=True, eq=False)
class Reports:
    """What the analyst gets to see of many people, in the order of their users."""

    kept: NDArray[np.intp]
    """Which ratings were revealed: positions among those that went in. Shape (n,)."""
    user_offsets: NDArray[np.int64]
    """User i revealed `user_offsets[i]:user_offsets[i + 1]`. Shape (users + 1,)."""
    item: NDArray[np.int32]
    """The revealed items, as places in the item profiles. Shape (n,)."""
    value: Float
    """What they were revealed as. Shape (n,)."""
    profile: Float | None = None
    """What devices estimated themselves, if that is what they send. Shape (users, D)."""


def report_all(
    disclosure: Disclosure,
    profiles: ItemProfiles,
    user: NDArray[np.integer],
    item: NDArray[np.integer],
    value: NDArray[np.floating],
    category: NDArray[np.integer],
    n_users: int,
    *,
    rng: Coins,
    alpha: float = 1.0,
) -> Reports:
    """Obfuscate everyone's ratings as their devices would.

    Args:
        disclosure: What the analyst disclosed.
        profiles: The profiles it was made from.
        user: Who gave each rating, ascending.
        item: Its item, as a place in the profiles.
        value: The rating.
        category: Each user's category, by user.
        n_users: How many users there are.
        rng: Draws the coins, or holds them: shape (ratings, purposes).
        alpha: Share of ratings that are obfuscated at all.
    """
    place = _places(profiles)
    cell = np.asarray(category)[user].astype(np.intp)
    _require_categories(cell, disclosure)
    coins = rng if isinstance(rng, np.ndarray) else rng.random((len(item), len(PURPOSES)))
    parameters = Parameters.of(disclosure)
    done = obfuscate(place[item], to_fixed(value), cell, parameters, coins, alpha)
    kept = np.flatnonzero(done.keep)
    offsets = np.zeros(n_users + 1, dtype=np.int64)
    np.cumsum(np.bincount(user[kept], minlength=n_users), out=offsets[1:])
    return Reports(kept, offsets, item[kept].astype(np.int32), from_fixed(done.value[kept]))


def profile_all(profiles: ItemProfiles, reports: Reports) -> Float:
    """Estimate everyone's profile from what was reported. Shape (users, D)."""
    return estimate_profiles(profiles, reports.user_offsets, reports.item, reports.value)


def local_offset(disclosure: Disclosure, profiles: ItemProfiles) -> Float:
    """Return what each category's devices add to the scores they receive. Shape (M, K)."""
    return from_fixed(Parameters.of(disclosure).correction())[_places(profiles)]


def _places(profiles: ItemProfiles) -> NDArray[np.intp]:
    """Return where a disclosure, whose items ascend, has each item of the profiles. Shape (M,)."""
    place = np.empty(profiles.n_items, dtype=np.intp)
    place[np.argsort(profiles.item_ids)] = np.arange(profiles.n_items)
    return place


def _require_categories(cell: NDArray[np.intp], disclosure: Disclosure) -> None:
    """Refuse people of unknown category: an index of -1 would make them the last one's."""
    scheme = disclosure.obfuscation
    if scheme.value_map in BLIND and not scheme.sub_samples:
        return
    wrong = (cell < 0) | (cell >= disclosure.n_cells)
    if wrong.any():
        raise MidpointError(
            f"{int(wrong.sum())} ratings are of people whose category is not known;"
            " leave those people out"
        )
