"""A scheme run on a whole population at once: what audit, benchmarks and the demo share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, estimate_profiles
from midpoint.user import PURPOSES, Parameters, obfuscate
from midpoint.wire import Disclosure, from_fixed, to_fixed


@dataclass(frozen=True, eq=False)
class Reports:
    """What the analyst gets to see of many people, in the order of their users."""

    kept: NDArray[np.intp]
    """Which ratings were revealed: positions among those that went in. Shape (n,)."""
    user_offsets: NDArray[np.int64]
    """User i revealed `user_offsets[i]:user_offsets[i + 1]`. Shape (users + 1,)."""
    item: NDArray[np.int32]
    """The revealed items, as places in the item profiles. Shape (n,)."""
    value: NDArray[np.float64]
    """What they were revealed as. Shape (n,)."""


def report_all(
    disclosure: Disclosure,
    profiles: ItemProfiles,
    user: NDArray[np.integer],
    item: NDArray[np.integer],
    value: NDArray[np.floating],
    category: NDArray[np.integer],
    n_users: int,
    *,
    rng: np.random.Generator,
    alpha: float = 1.0,
) -> Reports:
    """Obfuscate everyone's ratings as their devices would, with coins drawn from `rng`.

    Args:
        disclosure: What the analyst disclosed.
        profiles: The profiles it was made from.
        user: Who gave each rating, ascending.
        item: Its item, as a place in the profiles.
        value: The rating.
        category: Each user's category, by user.
        n_users: How many users there are.
        rng: Draws the coins.
        alpha: Share of ratings that are obfuscated at all.
    """
    place = np.empty(profiles.n_items, dtype=np.intp)
    place[np.argsort(profiles.item_ids)] = np.arange(profiles.n_items)
    done = obfuscate(
        place[item],
        to_fixed(value),
        category[user].astype(np.intp),
        Parameters.of(disclosure),
        rng.random((len(item), len(PURPOSES))),
        alpha,
    )
    kept = np.flatnonzero(done.keep)
    offsets = np.zeros(n_users + 1, dtype=np.int64)
    np.cumsum(np.bincount(user[kept], minlength=n_users), out=offsets[1:])
    return Reports(kept, offsets, item[kept].astype(np.int32), from_fixed(done.value[kept]))


def profile_all(profiles: ItemProfiles, reports: Reports) -> NDArray[np.float64]:
    """Estimate everyone's profile from what was reported. Shape (users, D)."""
    return estimate_profiles(profiles, reports.user_offsets, reports.item, reports.value)
