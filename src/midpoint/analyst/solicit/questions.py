"""What to ask next: the one rule, for library, command line, service and audit."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.priors.set_prior import size_class
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.solicit.population import choose_items, information_of
from midpoint.analyst.solicit.selection import Method, Selection, select
from midpoint.errors import MidpointError
from midpoint.wire import Disclosure

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]

PROMISING = 16
"""Items that a later question is chosen from, for each that is asked or each dimension."""


class Questions:
    """What may be asked under one disclosure, and the choice among it (Sec. 6.2 and 6.3).

    An item is asked if it says something about taste, if somebody of the panel rated it, and if
    devices ever reveal it: its keep probability is not 0.

    Args:
        profiles: The items.
        disclosure: What devices answer under; it is of the same items.
        report_weights: How far an item's reports count; all alike unless given. Shape (M,).
        with_prior: Count what is known of everybody, as the estimator "map" does.
        weighted: Prefer items that more people rate, where the panel was counted.
    """

    def __init__(
        self,
        profiles: ItemProfiles,
        disclosure: Disclosure,
        *,
        report_weights: Float | None = None,
        with_prior: bool = True,
        weighted: bool = True,
    ) -> None:
        self._index = profiles.index
        self._vectors = profiles.vectors.astype(np.float64)
        if report_weights is not None:
            self._vectors *= np.sqrt(report_weights)[:, None]
        self._known = profiles if with_prior else None
        counted = profiles.statistics is not None
        self._share = rated_share(profiles) if weighted and counted else None
        self._allowed = profiles.informative.copy()
        if self._share is not None:
            self._allowed &= self._share > 0
        if disclosure.keep is not None:
            self._allowed &= np.array(disclosure.keep)[profiles.message_index] > 0

    def candidates(self, touched: Iterable[str] = ()) -> Mask:
        """Return which items may be asked of somebody who answered or was asked these. (M,)."""
        left = self._allowed.copy()
        left[[self._index[item] for item in touched if item in self._index]] = False
        return left

    def choose(
        self,
        budget: int,
        *,
        information: Float | None = None,
        answers: int = 0,
        touched: Iterable[str] = (),
        method: Method = "greedy",
        seed: int = 0,
        certified: bool = False,
    ) -> Selection:
        """Choose the items to ask one person about, so that her profile is known best.

        Args:
            budget: How many to ask about.
            information: What her earlier reports say, sum w_j v_j v_j^T. Shape (D, D).
            answers: How many items she answered: her set says something of her taste, too, so the
                prior is narrower (`SetPrior.covariance`), and other directions are worth asking.
            touched: Items that she answered or was asked about, not to be asked again.
            method: "greedy", or a baseline (`select`).
            seed: For the random choice.
            certified: Work out how far from the best choice it can be, which takes longer.
        """
        later = information is not None and self._known is not None
        return select(
            self._vectors,
            budget,
            start=information,
            prior=None if self._known is None else self._known.after(answers).prior_precision,
            weights=self._share,
            candidates=self.candidates(touched),
            method=method,
            seed=seed,
            certified=certified,
            promising=PROMISING * max(budget, self._vectors.shape[1]) if later else None,
        )

    def choose_for_many(
        self, items: NDArray[np.intp], asked: Mask, answered: Mask, budget: int
    ) -> Mask:
        """Choose what to ask each of many people, by the greedy steps alone.

        Args:
            items: The items that there are to ask, by index among the profiles. Shape (C,).
            asked: Which of them each person was asked before, not to be asked again. Shape (N, C).
            answered: Which of them she answered. Shape (N, C).
            budget: How many to ask each about, or all that are left.

        Returns:
            Which items to ask whom. Shape (N, C).
        """
        if self._known is None:
            raise MidpointError("many people are asked at once under a prior only; give one")
        vectors, allowed = self._vectors[items], self._allowed[items]
        share = np.ones(len(items)) if self._share is None else self._share[items]
        size = np.where(answered.any(axis=1), size_class(answered.sum(axis=1)), -1)
        sizes, kind = np.unique(size, return_inverse=True)
        counts = [0 if exponent < 0 else 2 ** int(exponent) for exponent in sizes]
        priors = np.stack([self._known.after(count).prior_precision for count in counts])
        known = information_of(vectors, answered, priors[kind])
        return choose_items(vectors, share, known, ~asked & allowed, budget)


def rated_share(profiles: ItemProfiles) -> Float:
    """Return the share of the panel that rated each item. Shape (M,)."""
    if profiles.statistics is None:
        raise MidpointError(
            "how many people rate an item is counted only for a private feature; train with one"
            " (midpoint train --feature)"
        )
    return profiles.statistics.rated_share
