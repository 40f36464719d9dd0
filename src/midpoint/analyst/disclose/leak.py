"""How much the errors of a disclosure leak, and which items are worth their part of it.

What is disclosed of an item is an estimate. Under it the categories are not quite alike, and by how
much follows from its variance. With delta_j the error of item j's log ratio, d_j that of its
offsets' difference and sigma^2 the noise of a rating, the log-likelihood ratio of a report is about
normal with mean -D/2 and D/2 in two categories and variance D, and so

    AUC = Phi(sqrt(D / 2)),   D = sum_j q_j [v_j / (1 - q_j) + e_j]

v_j and e_j are the posterior variances of delta_j and of d_j / sigma. A share q_j of the people
reveals item j; that the others do not says something as well, little if q_j is small.

A rarely rated item has a large variance, and says little about most people's taste. So the analyst
gives every item a public keep probability, the same for all categories: a device reveals the rating
with probability keep_j x min p / p_k. Whatever is proved of a scheme stays true, since all
categories still reveal the item equally often, and D falls.
"""

from itertools import combinations
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.estimates import log_ratio_variance, offset_variance
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.kernels.compilation import one_blas_thread
from midpoint.errors import MidpointError

Float = NDArray[np.float64]
FEWEST: Final = 0.02
"""Share of people who do not reveal an item, at least: where all do, nothing can be divided by."""
STEPS: Final = 60
"""Steps to the best keep probabilities; the last ones change the error by less than 0.01 %."""
SHOWN: Final = (0.52, 0.55, 0.60, 0.65, 0.70, 0.80)
"""Leaks of the table that is printed of a model."""


class Errors(NamedTuple):
    """Posterior variances of what is disclosed, for one pair of categories."""

    ratio: Float
    """Of log p_first - log p_second: v_j. Shape (M,)."""
    value: Float
    """Of the difference of offsets, over sigma^2: e_j. Shape (M,)."""


class Budget(NamedTuple):
    """Keep probabilities, and what they are expected to do."""

    keep: Float
    """Keep probability of each item. Shape (M,)."""
    leak: float
    """AUC of somebody who knew every error of the disclosure, for the pair they show best."""
    error: float
    """Expected RMSE of predictions for somebody who rates as people do on average."""


def not_revealing(revealed: Float) -> Float:
    """Return the share of people who do not reveal each item, 1 - q_j, at least `FEWEST`. (M,)."""
    return np.maximum(1 - revealed, FEWEST)


def divergences(revealed: Float, errors: Errors) -> tuple[float, float]:
    """Return what sets and values add to D.

    Args:
        revealed: Share of people who reveal each item, q_j. Shape (M,).
        errors: Posterior variances.
    """
    others = not_revealing(revealed)
    return float((revealed / others) @ errors.ratio), float(revealed @ errors.value)


def area_of(divergence: float) -> float:
    """Return AUC = Phi(sqrt(D / 2))."""
    return NormalDist().cdf((divergence / 2) ** 0.5)


def divergence_of(area: float) -> float:
    """Return D = 2 Phi^-1(AUC)^2, the inverse of `area_of`."""
    if not 0.5 <= area < 1:
        raise MidpointError(
            f"a leak of {area} cannot be asked for: give an AUC from 0.5 (blind guessing) to below"
            " 1, such as 0.6"
        )
    return 2 * NormalDist().inv_cdf(area) ** 2


def errors_of(profiles: ItemProfiles) -> list[Errors]:
    """Return the posterior variances of what is disclosed, for each pair of categories."""
    statistics = profiles.statistics
    if statistics is None:
        return []
    along = profiles.standard_vectors.astype(np.float64)
    ratio = log_ratio_variance(statistics)
    value = np.zeros_like(ratio)  # the value of an item in a set says nothing
    if not profiles.scale.is_unary:
        value = offset_variance(statistics, along) / profiles.noise_variance
    pairs = combinations(range(len(statistics.users)), 2)
    return [Errors(ratio[:, k, m], value[:, k, m]) for k, m in pairs]


class LeakBudget:
    """Which items may be revealed, how often, so that their errors leak no more than is asked.

    The expected squared error of predictions is s(keep) = sigma^2 + tr C A^-1, where

        A = L^-1 + sum_j keep_j q_j v_j v_j' / sigma^2

    is what is known of a taste (its prior L and the ratings that are revealed) and C the mean of
    v v' over ratings: the A-optimality of Sec. 5.3, for what people predict. Minimizing it under
    sum_j keep_j q_j c_j <= D, with c_j the item's part of D, is a convex problem, and a step of
    Frank and Wolfe (1956) fills the budget with the items that save most error for their part.
    """

    @one_blas_thread()
    def __init__(self, profiles: ItemProfiles, share: float = 1.0) -> None:
        """Take the model of a panel, which needs a private feature.

        Devices reveal this share of what they would reveal, by coins that ignore the item; keep
        probabilities are those beside it.
        """
        self._errors = errors_of(profiles)
        if not self._errors or profiles.statistics is None:
            raise MidpointError(
                "a leak budget needs a private feature, and the profiles have none; name one to"
                " train"
            )
        probability = profiles.estimates().probability
        self.revealed = np.asarray(share * probability.min(axis=1))
        """Share of people who reveal each item if it is always kept. Shape (M,)."""
        others = not_revealing(self.revealed)
        costs = [errors.ratio / others + errors.value for errors in self._errors]
        self._cost = np.stack([self.revealed * cost for cost in costs])
        vectors = profiles.vectors.astype(np.float64)
        sigma2 = profiles.noise_variance
        self._sigma2, self._prior = sigma2, profiles.profile_precision
        self._information = vectors * np.sqrt(self.revealed / sigma2)[:, None]
        rated = profiles.statistics.rated_share
        self._target = (vectors * (rated / max(float(rated.sum()), 1e-12))[:, None]).T @ vectors

    def leak(self, keep: Float) -> float:
        """Return the AUC of somebody who knew all errors, for the pair of categories it is most."""
        return area_of(float((self._cost @ keep).max()))

    def error(self, keep: Float) -> float:
        """Return the expected RMSE under these keep probabilities."""
        return float((self._sigma2 + np.sum(self._target * self._known(keep))) ** 0.5)

    def _known(self, keep: Float) -> Float:
        """Return A^-1. Shape (D, D)."""
        A = self._prior + (self._information * keep[:, None]).T @ self._information
        return np.asarray(np.linalg.inv(A))

    def _saved(self, keep: Float) -> Float:
        """Return -d s / d keep_j. Shape (M,)."""
        inverse = self._known(keep)
        weighed = self._information @ (inverse @ self._target @ inverse)
        return np.asarray((weighed * self._information).sum(axis=1))

    @one_blas_thread()
    def everything(self) -> Budget:
        """Return the budget that keeps every item."""
        keep = np.ones(len(self.revealed))
        return Budget(keep, self.leak(keep), self.error(keep))

    @one_blas_thread()
    def within(self, leak: float) -> Budget:
        """Return the keep probabilities of least expected error whose leak is at most this."""
        most = divergence_of(leak)
        whole = self.everything()
        if whole.leak <= leak:
            return whole
        # A bound for the worst pair: it is exact for two categories, and never too little.
        cost = self._cost.max(axis=0)
        keep = _filled(self._saved(np.zeros_like(cost)), cost, most)
        for step in range(1, STEPS):
            best = _filled(self._saved(keep), cost, most)
            keep = keep + (best - keep) * (2 / (step + 2))
        return Budget(keep, self.leak(keep), self.error(keep))

    def worth(self, keep: Float) -> Float:
        """Return which part of D each item is worth, per person who reveals it. Shape (M,).

        That is g_j / lambda: what it saves there, over the price of the last item that is kept.
        Unlimited where the budget keeps everything.
        """
        cost, saved = self._cost.max(axis=0), self._saved(keep)
        order = np.argsort(-saved / np.maximum(cost, 1e-300), kind="stable")
        spent = float(cost @ keep)
        last = order[min(int(np.searchsorted(np.cumsum(cost[order]), spent)), len(order) - 1)]
        if float(keep.min()) >= 1:
            return np.full_like(cost, np.inf)
        price = saved[last] / max(float(cost[last]), 1e-300)
        return np.asarray(saved / np.maximum(self.revealed, 1e-300) / price)


def _filled(saved: Float, cost: Float, most: float) -> Float:
    """Spend a budget on the items that save most for their cost; the last one in part. (M,)."""
    order = np.argsort(-saved / np.maximum(cost, 1e-300), kind="stable")
    spent = np.cumsum(cost[order])
    before = spent - cost[order]
    keep = np.empty_like(cost)
    keep[order] = np.clip((most - before) / np.maximum(cost[order], 1e-300), 0.0, 1.0)
    return keep
