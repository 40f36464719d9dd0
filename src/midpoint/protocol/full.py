"""Full disclosure, the third non-solution of Sec. 4.1: the device does the analyst's regression."""

from dataclasses import replace

import numpy as np

from midpoint.analyst import ItemProfiles, estimate_profiles
from midpoint.analyst.fit.fold_in import Method
from midpoint.protocol.population import Reports
from midpoint.wire import Disclosure, as_rows, from_fixed, to_fixed
from midpoint.wire.message import Integer


class FullDisclosure(Disclosure):
    """Everything about every item; no device asks for it, and it is never sent."""

    vectors: tuple[tuple[Integer, ...], ...]
    """The item profiles v_j in fixed point. Shape (M, D)."""
    centre: tuple[Integer, ...]
    """Rating of each item at x = 0, in fixed point. Shape (M,)."""


def disclose_fully(profiles: ItemProfiles, biases: Disclosure) -> FullDisclosure:
    """Add the item profiles to the disclosure of MP."""
    order = profiles.order
    return FullDisclosure(
        **dict(biases),
        vectors=as_rows(to_fixed(profiles.vectors[order])),
        centre=tuple(to_fixed(profiles.centre[order]).tolist()),
    )


def regress_locally(
    disclosure: FullDisclosure, profiles: ItemProfiles, shifted: Reports, method: Method
) -> Reports:
    """Send x-hat instead of ratings: Eq. 6 with the private feature fixed, device by device.

    `shifted` holds what MP would send, which is what the regression is left with once the
    feature's part is taken out. Of `profiles` only the order of items and the prior are used.
    """
    vectors = from_fixed(disclosure.vectors)[profiles.message_index].astype(np.float32)
    centre = from_fixed(disclosure.centre)[profiles.message_index]
    disclosed = replace(profiles, vectors=vectors, centre=centre)
    profile = estimate_profiles(
        disclosed, shifted.user_offsets, shifted.item, shifted.value, method=method, sets=False
    )
    return replace(silence(len(profile)), profile=profile)


def silence(n_users: int) -> Reports:
    """Return the reports of people who send no ratings."""
    none = np.empty(0)
    return Reports(
        none.astype(np.intp), np.zeros(n_users + 1, np.int64), none.astype(np.int32), none
    )
