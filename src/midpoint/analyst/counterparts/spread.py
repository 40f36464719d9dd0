"""How much of the scale a person uses: the log spread of her residuals, one more coordinate.

Given her position a person's ratings deviate by noise whose standard deviation is exp(w) times the
usual one. Her log spread w is normal in her category and stratum. It is learned as the prior of
positions is: modes under the prior so far, then their mean and variance, uncertainty included.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Finder, Model, Prior
from midpoint.analyst.counterparts.strata import Strata, activity_of, stratum_of
from midpoint.analyst.fit.positions import Float
from midpoint.wire.positions import LEAST_DEVIATION, MOST_DEVIATION, MOST_LOG_SPREAD

ROUNDS: Final = 30
"""Rounds of expectation and maximization."""
STEPS: Final = 4
"""Newton steps to a person's position from her category's mean; one where sets are not modelled."""
FIRST_DEVIATION: Final = 0.3
"""Deviation of log spreads to start with."""
MOST_SHIFT: Final = 3 / 8
"""Part of the scale by which devices move a value at most."""


class Spreads(NamedTuple):
    """Log spreads in G strata and K categories, and what becomes of ratings by them."""

    spread: Float
    """Mean and deviation of log spreads. Shape (G, K, 2)."""
    level_count: Float
    """Ratings by item, category and level after residuals were scaled. Shape (M, K, L)."""


def fit_spreads(
    people: People, model: Model, strata: Strata, levels: Float, threads: int | None
) -> Spreads:
    """Learn how log spreads are distributed, and count what levels ratings are scaled to.

    Args:
        people: Their ratings; all were asked about all items.
        model: What is known of the items.
        strata: The prior of positions.
        levels: The rating levels. Shape (L,).
        threads: All usable cores unless given.
    """
    G, K, D = strata.mean.shape
    activity = activity_of(np.diff(people.offsets), people.category, model.rate)
    cell = people.category * G + stratum_of(activity, people.category, strata.least)
    order = np.argsort(cell, kind="stable")
    apart = people.in_order(order, np.searchsorted(cell[order], np.arange(K * G + 1)))
    prior = Prior(
        strata.mean.swapaxes(0, 1).reshape(-1, D),
        strata.covariance.swapaxes(0, 1).reshape(-1, D, D),
    )
    wide = model._replace(
        rate=np.repeat(model.rate, G, axis=1), base=np.repeat(model.base, G, axis=1)
    )
    group = apart.category
    steps = STEPS if model.selection.shape[1] else 1
    located = Finder(apart, wide, threads).locate(wide.rate, prior, prior.mean[group], steps)
    factors = located.position[:, model.selection.shape[1] :]
    fitted = wide.base[apart.item, group[apart.person]]
    fitted += np.einsum("nr,nr->n", model.taste[apart.item], factors[apart.person])
    residual = apart.value - fitted
    square = np.bincount(apart.person, residual**2, len(apart)) / model.noise
    normal, w = _fit(group, np.diff(apart.offsets), square, K * G)
    spread = _within_limits(normal.reshape(K, G, 2).swapaxes(0, 1))
    change = _changes(spread.swapaxes(0, 1).reshape(-1, 2), w, group, G)
    most = MOST_SHIFT * (levels[-1] - levels[0])
    shift = np.clip(np.expm1(change)[apart.person] * residual, -most, most)
    category = group[apart.person] // G
    return Spreads(spread, _count(apart, category, apart.value + shift, levels, len(model.base), K))


def _fit(
    group: NDArray[np.int64], count: NDArray[np.int64], square: Float, groups: int
) -> tuple[Float, Float]:
    """Return mean and deviation of log spreads by group, and everyone's mode. (groups, 2), (N,).

    A group's mean and variance are drawn to those of all people with the weight of one person.
    """
    mean, variance = np.zeros(groups), np.full(groups, FIRST_DEVIATION**2)
    w, size = np.zeros(len(group)), np.bincount(group, minlength=groups)
    for _ in range(ROUNDS):
        seen = square * np.exp(-2 * w)
        curvature = 1 / variance[group] + 2 * seen
        w = w + np.clip((seen - count - (w - mean[group]) / variance[group]) / curvature, -2, 2)
        mean = (np.bincount(group, w, groups) + w.mean()) / (size + 1)
        away = (w - mean[group]) ** 2 + 1 / curvature
        variance = (np.bincount(group, away, groups) + away.mean()) / (size + 1)
        variance = np.clip(variance, (2 * LEAST_DEVIATION) ** 2, (MOST_DEVIATION / 2) ** 2)
    return np.column_stack([mean, np.sqrt(variance)]), w


def _within_limits(spread: Float) -> Float:
    """Bring categories' means nearer together where devices would refuse them. Shape (G, K, 2)."""
    mean = spread[:, :, :1]
    apart = np.ptp(mean, axis=1, keepdims=True)
    centre = mean.mean(axis=1, keepdims=True)
    nearer = np.minimum(0.99 * MOST_LOG_SPREAD / np.maximum(apart, 1e-9), 1.0)
    return np.concatenate([centre + (mean - centre) * nearer, spread[:, :, 1:]], axis=2)


def _changes(normal: Float, w: Float, group: NDArray[np.int64], strata: int) -> Float:
    """Return how far each log spread is from the mean of its counterparts'. Shape (N,).

    With (mu, sigma) of the categories in a stratum: mean_m [mu_m + (sigma_m / sigma_k)(w - mu_k)]
    less w, at most 1/4.
    """
    mean, deviation = normal[group].T
    by_stratum = normal.reshape(-1, strata, 2).mean(axis=0)[group % strata]
    there = by_stratum[:, 0] + by_stratum[:, 1] / deviation * (w - mean)
    return np.asarray(np.clip(there - w, -MOST_LOG_SPREAD, MOST_LOG_SPREAD))


def _count(
    people: People,
    category: NDArray[np.int64],
    target: Float,
    levels: Float,
    items: int,
    categories: int,
) -> Float:
    """Count levels, a value between two of them as parts of both. Shape (M, K, L)."""
    target = np.clip(target, levels[0], levels[-1])
    below = np.clip(np.searchsorted(levels, target, side="right") - 1, 0, len(levels) - 2)
    up = (target - levels[below]) / np.diff(levels)[below]
    flat = (people.item.astype(np.int64) * categories + category) * len(levels) + below
    shape = (items, categories, len(levels))
    size = int(np.prod(shape))
    total = np.bincount(flat, 1 - up, size) + np.bincount(flat + 1, up, size)[:size]
    return np.asarray(total.reshape(shape))
