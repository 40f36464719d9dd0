"""What to ask one person next: the one rule, for library and command line alike."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.solicit.selection import Method, Selection, select
from midpoint.errors import MidpointError

Float = NDArray[np.float64]


def next_items(
    profiles: ItemProfiles,
    budget: int,
    *,
    information: Float | None = None,
    touched: Iterable[str] = (),
    report_weights: Float | None = None,
    with_prior: bool = True,
    weighted: bool = True,
    method: Method = "greedy",
    seed: int = 0,
    certified: bool = False,
) -> Selection:
    """Choose the items to ask about, so that a person's profile is known best (Sec. 6.2).

    Args:
        profiles: The items.
        budget: How many to ask about.
        information: What her earlier reports say, sum w_j v_j v_j^T. Shape (D, D).
        touched: Items that she answered or was asked about, not to be asked again.
        report_weights: How far an item's reports count; all alike unless given. Shape (M,).
        with_prior: Count what is known of everybody, as the estimator "map" does.
        weighted: Prefer items that more people rate.
        method: "greedy", or a baseline (`select`).
        seed: For the random choice.
        certified: Work out how far from the best choice it can be, which takes longer.
    """
    vectors = profiles.vectors
    if report_weights is not None:
        vectors = vectors * np.sqrt(report_weights)[:, None]
    return select(
        vectors,
        budget,
        start=information,
        prior=profiles.prior_precision if with_prior else None,
        weights=rated_share(profiles) if weighted else None,
        candidates=profiles.informative & ~np.isin(profiles.item_ids, [*touched]),
        method=method,
        seed=seed,
        certified=certified,
    )


def rated_share(profiles: ItemProfiles) -> Float:
    """Return the share of the panel that rated each item. Shape (M,)."""
    if profiles.statistics is None:
        raise MidpointError(
            "how many people rate an item is counted only for a private feature; train with one"
            " (midpoint train --feature)"
        )
    return profiles.statistics.rated_share
