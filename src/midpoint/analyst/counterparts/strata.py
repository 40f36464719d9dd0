"""Strata of activity: the prior of positions of light raters and of heavy ones.

Light raters do not only rate less than heavy ones, they choose differently: their taste factors
have another distribution, and categories differ in how much they rate. One normal prior cannot
express that: some women's counterparts would be unlike any man, and an attacker who counts titles
would notice. A stratum holds about the same share of every category, so knowing it says nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Model, Prior, fit_prior
from midpoint.analyst.fit.positions import Float, rounded
from midpoint.wire.limits import MOST_STRATUM_RATIO, are_strata_alike
from midpoint.wire.positions import DAMPING

UNROUNDED = 0.99
"""How far to stay below a limit with numbers that devices see rounded."""


class Strata(NamedTuple):
    """The prior of positions in G strata; K categories, D dimensions."""

    least: Float
    """Least activity of each, by category, as devices count it. Shape (G, K)."""
    mean: Float
    """Shape (G, K, D)."""
    covariance: Float
    """Shape (G, K, D, D)."""


def fit_strata(
    people: People,
    model: Model,
    prior: Prior,
    strata: int,
    threads: int | None,
    done: Callable[[], None],
    start: Float | None = None,
) -> Strata:
    """Cut every category into so many strata of equal size, and learn the prior of each.

    There is only one where they would be far from equal, many people having rated equally much, or
    where devices would refuse them, since they begin later in some category than in another.

    Args:
        people: Their ratings; all were asked about all items.
        model: What is known of the items.
        prior: The prior to start with, in all strata.
        strata: How many.
        threads: All usable cores unless given.
        done: Is called after each round of `fit_prior`.
        start: Positions that are about right; the prior's means unless given. Shape (N, D).
    """
    K, D = prior.mean.shape
    k = people.category
    activity = activity_of(np.diff(people.offsets), k, model.rate)
    shares = np.arange(1, strata) / strata
    least = np.zeros((strata, K))
    for m in range(K):
        if people.sizes[m]:
            least[1:, m] = np.quantile(activity[k == m], shares, method="higher")
    cell = k * strata + stratum_of(activity, k, least)
    size = np.bincount(cell, minlength=K * strata).reshape(K, strata)
    unequal = (size < people.sizes[:, None] / (2 * strata)).any()
    begins = least * (expit(model.rate).sum(axis=0) + DAMPING)
    alike = are_strata_alike(least) and are_strata_alike(begins, UNROUNDED * MOST_STRATUM_RATIO)
    if strata > 1 and (unequal or not alike):
        return fit_strata(people, model, prior, 1, threads, done, start)
    order = np.argsort(cell, kind="stable")
    apart = people.in_order(order, np.searchsorted(cell[order], np.arange(K * strata + 1)))
    fitted = fit_prior(
        apart,
        model.in_strata(strata),
        Prior(np.repeat(prior.mean, strata, axis=0), np.repeat(prior.covariance, strata, axis=0)),
        threads,
        done,
        None if start is None else start[order],
    )
    return Strata(
        least,
        fitted.mean.reshape(K, strata, D).swapaxes(0, 1).copy(),
        fitted.covariance.reshape(K, strata, D, D).swapaxes(0, 1).copy(),
    )


def activity_of(count: NDArray[np.int64], category: NDArray[np.int64], rate: Float) -> Float:
    """Return the activity of people who rated so many items, all of which they were asked about."""
    expected = expit(rate).sum(axis=0)[category]
    return rounded((count + DAMPING) / (expected + DAMPING))


def stratum_of(activity: Float, category: NDArray[np.int64], least: Float) -> NDArray[np.int64]:
    """Return the stratum of each person."""
    return np.asarray((activity >= least[:, category]).sum(axis=0) - 1)
