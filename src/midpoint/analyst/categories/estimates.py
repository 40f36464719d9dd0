"""Biases, rating probabilities and level distributions of each category, plain or shrunken."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.shrinkage import (
    Effects,
    Shrunken,
    centred,
    shrink,
    shrink_distributions,
    shrink_effects,
)
from midpoint.analyst.categories.statistics import CategoryStatistics

Float = NDArray[np.float64]
Estimation = Literal["plain", "shrunken"]
LEAST_NOISE = 0.1
"""Part of the variance of ratings that is not taste, at least."""


@dataclass(frozen=True, eq=False, repr=False)
class CategoryEstimates:
    """What the analyst estimates of each category, each part when it is first asked for.

    M items, K categories, L levels. Offsets are estimated once: `mean_effects` makes those of a
    fit, which come with the item profiles, and here they are used again.
    """

    statistics: CategoryStatistics
    """What was counted."""
    method: Estimation = "shrunken"
    """As the paper does ("plain", Sec. 7.1), or by empirical Bayes ("shrunken")."""
    along: Float | None = None
    """Items' profiles, by which the latter knows that categories differ in taste. Shape (M, D)."""
    fitted: Float | None = None
    """The offsets, where a fit estimated them by this method already. Shape (M, K)."""

    def __repr__(self) -> str:
        """Say what is estimated from what, in one line."""
        return f"<CategoryEstimates: {self.method}, from {self.statistics!r}>"

    @cached_property
    def _means(self) -> Effects:
        return mean_effects(self.statistics, self.method, self.along)

    @property
    def centre(self) -> Float:
        """The midpoint of the categories' mean ratings. Shape (M,)."""
        return self._means.centre

    @property
    def offset(self) -> Float:
        """What each category adds to it: x0 v_j0 for a binary feature. Shape (M, K)."""
        return self._means.effect if self.fitted is None else self.fitted

    @cached_property
    def probability(self) -> Float:
        """How likely a user of each category has rated the item: p_j in Sec. 6.1. Shape (M, K)."""
        if self.method == "plain":
            return np.asarray(self.statistics.count / np.maximum(self.statistics.users, 1))
        rates = _shrunken_log_probability(self.statistics).effects
        return np.asarray(np.minimum(np.exp(rates.centre[:, None] + rates.effect), 1.0))

    @cached_property
    def levels(self) -> Float | None:
        """On a discrete scale, each category's distribution over the levels. Shape (M, K, L).

        None of unary data, whose one level says nothing.
        """
        count, values = self.statistics.level_count, self.statistics.level_values
        if count is None or values is None or len(values) < 2:
            return None
        if self.method == "plain":
            return frequencies(count)
        return shrink_distributions(count, values, self.offset, self.statistics.crossed)


def log_ratio_variance(statistics: CategoryStatistics) -> Float:
    """Return the posterior variance of each item's log p_k - log p_m. Shape (M, K, K).

    Where ratios are predicted from factors, the items' errors hang together: all items are rated by
    the same people, whose mean taste is not quite that of their category. No item's variance knows
    of that, but two halves of the panel disagree by it. With d_j half of what they disagree by and
    q_j the share of people who rated the item, v_j becomes v_j (1 + sum q d^2 / sum q v).
    """
    variance = _of_differences(_shrunken_log_probability(statistics).covariance)
    if statistics.disagreement is None:
        return variance
    apart = statistics.disagreement[:, :, None] - statistics.disagreement[:, None, :]
    over, under = (np.tensordot(statistics.rated_share, v, 1) for v in (apart**2, variance))
    return np.asarray(variance * (1 + over / np.maximum(under, 1e-300)))


def offset_variance(statistics: CategoryStatistics, along: Float | None = None) -> Float:
    """Return the posterior variance of each item's differences of offsets. Shape (M, K, K)."""
    variance = _own_variance(statistics, along)
    return _of_differences(shrink(statistics.mean, variance, statistics.crossed, along).covariance)


def _of_differences(covariance: Float) -> Float:
    """Return the variances of the differences of every two of several. Shape (M, K, K)."""
    own = np.diagonal(covariance, axis1=1, axis2=2)
    return np.asarray(own[:, :, None] + own[:, None, :] - covariance - covariance.swapaxes(1, 2))


def mean_effects(
    statistics: CategoryStatistics, method: Estimation = "shrunken", along: Float | None = None
) -> Effects:
    """Return the midpoint of the categories' mean ratings, and what each adds: x0 v_j0.

    "plain" are half differences of class means; an item that some category never rated has none to
    show, and no offset. "shrunken" pulls them to what the data says of all items.
    """
    if method == "shrunken":
        variance = _own_variance(statistics, along)
        return shrink_effects(statistics.mean, variance, statistics.crossed, along)
    count, total = statistics.count.sum(axis=1), statistics.total.sum(axis=1)
    overall = total.sum() / max(count.sum(), 1)
    pooled = np.where(count > 0, total / np.maximum(count, 1), overall)
    complete = np.asarray((statistics.count > 0).all(axis=1))
    return centred(np.where(complete[:, None], np.nan_to_num(statistics.mean), pooled[:, None]))


def _own_variance(statistics: CategoryStatistics, along: Float | None) -> Float:
    """Return how unsure the mean of each cell is by itself, NaN if it is empty. Shape (M, K).

    s_jk = (sigma^2 + |w_j|^2) / n_jk - |w_j|^2 / N_k

    A rating varies by sigma^2, and by its rater's taste: by |w_j|^2, in units of taste factors. But
    all items are rated by the same N_k people. An error of their mean taste moves every item along
    its w_j, and is no noise of an item. What is left of it is |w_j|^2 (1 / n_jk - 1 / N_k), nothing
    where everyone rates everything. To count it in full would shrink away what categories think of
    single items, and an attacker who knows people's taste by their other ratings would see that.
    """
    count = np.where(statistics.count > 0, statistics.count, np.nan)
    within = statistics.within_variance
    if along is None:
        return np.asarray(within / count)
    taste = (along**2).sum(axis=1, keepdims=True)
    total = statistics.count.sum(axis=1, keepdims=True)
    shared = float((taste * total).sum() / max(total.sum(), 1))
    noise = max(within - shared, LEAST_NOISE * within)
    return np.asarray((noise + taste) / count - taste / np.maximum(statistics.users, 1))


def _shrunken_log_probability(statistics: CategoryStatistics) -> Shrunken:
    """Shrink log p, once; half a rating is added so that an item one class never rated has one.

    Not along taste, which says how items are rated: of who rates them it said nothing more. But
    along factors of who rates what, where those were found to help.
    """
    if statistics not in _rates:
        table = _log_probability(statistics)
        _rates[statistics] = shrink(*table, statistics.crossed, statistics.factors)
    return _rates[statistics]


_rates: WeakKeyDictionary[CategoryStatistics, Shrunken] = WeakKeyDictionary()
"""What was shrunken: the probabilities and how unsure they are come of one fit."""


def _log_probability(statistics: CategoryStatistics) -> tuple[Float, Float]:
    """Return log p as it is counted, and its sampling variance. Shapes (M, K)."""
    smoothed = (statistics.count + 0.5) / (statistics.users + 1.0)
    variance = np.where(statistics.users > 0, (1 - smoothed) / (statistics.count + 0.5), np.nan)
    return np.log(smoothed), variance


def frequencies(count: NDArray[np.number[Any]]) -> Float:
    """Return relative frequencies; an empty cell takes its item's, an empty item the overall."""
    result = count.astype(np.float64)
    overall = np.broadcast_to(result.sum(axis=(0, 1)), result.shape)
    for fallback in (np.broadcast_to(result.sum(axis=1, keepdims=True), result.shape), overall):
        empty = result.sum(axis=2) == 0
        result[empty] = fallback[empty]
    return np.asarray(result / result.sum(axis=2, keepdims=True))
