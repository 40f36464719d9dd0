"""Many people at once: what goes into a protocol, and what the analyst gets to see of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles
from midpoint.wire import Disclosure, correction, from_fixed

Float = NDArray[np.float64]


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


def local_offset(disclosure: Disclosure, profiles: ItemProfiles) -> Float:
    """Return what each category's devices add to the scores they receive. Shape (M, K)."""
    return from_fixed(correction(disclosure))[profiles.message_index]
