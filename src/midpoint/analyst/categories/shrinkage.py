"""Empirical Bayes: shrink noisy estimates per item and category towards those of all items."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from midpoint.analyst.categories.mixed_model import Fit, fit_mixed_model
from midpoint.analyst.categories.statistics import Counts

Float = NDArray[np.float64]

LEAST = 0.1
"""A level keeps at least this part of its share in all categories together."""
MOST_RUNS = 10
"""Most runs of neighbouring levels whose shares may differ by category."""
CONCENTRATIONS = np.geomspace(0.5, 5000.0, 30)
"""Candidate weights, in ratings, of the prior of a level distribution."""


class Effects(NamedTuple):
    """A table of items by categories, as a centre and what each category adds to it."""

    centre: Float
    """The midpoint of the categories: their unweighted mean. Shape (M,)."""
    effect: Float
    """What each category adds; sums to zero over the categories. Shape (M, K)."""


def centred(table: Float) -> Effects:
    """Split a table into centre and effects as it is."""
    centre = table.mean(axis=1)
    return Effects(centre, table - centre[:, None])


class Shrunken(NamedTuple):
    """A table whose category effects were shrunken, and how unsure they are."""

    fit: Fit
    """The mixed model."""
    X: Float
    """Its cells in contrasts. Shape (K, r)."""

    @property
    def effects(self) -> Effects:
        """The centre, and what each category adds to it."""
        return centred(self.fit.level[:, None] + self.fit.effects @ self.X.T)

    @property
    def covariance(self) -> Float:
        """How unsure the effects of each item are. Shape (M, K, K).

        X [T - T Q_j T + (I - T Q_j) S_j (I - T Q_j)'] X',  S_j = cov(a + G w_j),

        X as in `mixed_model`, is the posterior covariance of an item's category effects, given the
        variances. Its level c_j is left out, so that only differences between categories mean
        something.
        """
        return np.asarray(self.X @ self.fit.covariance @ self.X.T)


def shrink(
    observed: Float,
    variance: Float,
    crossed: tuple[tuple[int, ...], ...],
    along: Float | None = None,
    rounds: int = 60,
) -> Shrunken:
    """Estimate category effects under normal priors whose variances the data itself sets.

    y_j = c_j 1 + Z (a + G w_j + u_j) + e_j,  G ~ N(0, g), u_j ~ N(0, T), e_jk ~ N(0, s_jk)

    Z says which category of each crossed feature a cell has, so that these are main effects: a
    common to all items; G w_j what follows from the item's own profile w_j, because categories
    differ in taste; u_j of the item alone. Of u and of G each feature has a variance, t_m and g_m.
    One variance for both would shrink the part along taste too much and the rest too little, and
    an attacker who fits the taste would see what is left of the rest's noise. The item's level
    c_j has a flat prior. Variances are restricted maximum likelihood, by minorize-maximize steps
    t_m *= sqrt(y' P V_m P y / tr P V_m), V_m being what t_m multiplies.

    Args:
        observed: The noisy table y, NaN in empty cells. Shape (M, K).
        variance: Sampling variances s. Shape (M, K).
        crossed: For each crossed feature, which of its categories each category has.
        along: Item profiles w in units of taste factors. Shape (M, D); none unless given.
        rounds: The most steps to take.
    """
    return Shrunken(*fit_mixed_model(observed, variance, crossed, along, rounds))


def shrink_effects(
    observed: Float,
    variance: Float,
    crossed: tuple[tuple[int, ...], ...],
    along: Float | None = None,
) -> Effects:
    """Return the effects alone of what `shrink` finds."""
    return shrink(observed, variance, crossed, along).effects


def shrink_distributions(
    count: Counts | Float,
    values: Float,
    effect: Float,
    crossed: tuple[tuple[int, ...], ...] | None = None,
) -> Float:
    """Estimate level distributions: the item's own, what a category adds to each level, a tilt.

    q_jk(l) = [pooled_j(l) + d_jkl] exp(theta_jk value_l) / Z

    pooled is the posterior mean under a Dirichlet prior whose weight has the greatest marginal
    likelihood. d are category effects on the share of a level, shrunken level by level, so that
    what a category does on all items, such as to avoid the ends, is kept if the data show it. theta
    is such that the means differ between categories exactly as the effects on the mean do.

    Args:
        count: Ratings of each item, category and level, or parts of them. Shape (M, K, L).
        values: The levels. Shape (L,).
        effect: What each category adds to the item's mean, already shrunken. Shape (M, K).
        crossed: For each crossed feature, which of its categories each category has.

    Returns:
        Distributions over the levels. Shape (M, K, L).
    """
    overall = (count.sum(axis=(0, 1)) + 1.0) / (count.sum() + count.shape[2])
    of_item = count.sum(axis=1).astype(np.float64)
    pooled = _posterior(of_item, overall)[:, None]
    given = count.sum(axis=2)
    share = (given / np.maximum(given.sum(axis=1, keepdims=True), 1))[:, :, None]
    added = _level_effects(count, pooled, crossed or (tuple(range(count.shape[1])),))
    shape = np.maximum(pooled + added - (share * added).sum(axis=1, keepdims=True), LEAST * pooled)
    shape /= shape.sum(axis=2, keepdims=True)
    mean = pooled @ values - (share[:, :, 0] * effect).sum(axis=1, keepdims=True) + effect
    return tilt(shape, values, mean)


def _level_effects(
    count: Counts | Float, pooled: Float, crossed: tuple[tuple[int, ...], ...]
) -> Float:
    """Shrink what each category adds to the share of each level. Shape (M, K, L).

    On a long scale neighbouring levels go together, in runs: one of a hundred levels has so few
    ratings that its effect is shrunk away, though that of all of them is plain. Within a run the
    effect is spread as the item's ratings are.
    """
    runs = _runs(count.sum(axis=(0, 1)).astype(np.float64))
    together, expected = count @ runs, pooled @ runs
    given = together.sum(axis=2, keepdims=True)
    seen = np.where(given > 0, given, np.nan)
    share, variance = together / seen, expected * (1 - expected) / seen
    each = range(runs.shape[1])
    effect = np.stack(
        [shrink_effects(share[:, :, k], variance[:, :, k], crossed).effect for k in each], axis=2
    )
    return effect if len(each) == len(runs) else (effect / expected) @ runs.T * pooled


def _runs(count: Float) -> Float:
    """Cut levels into runs that were given about equally often: ones in columns. Shape (L, R)."""
    if len(count) <= MOST_RUNS:
        return np.eye(len(count))
    middle = (np.cumsum(count) - count / 2) / max(float(count.sum()), 1.0)
    run_of = np.minimum((MOST_RUNS * middle).astype(np.int64), MOST_RUNS - 1)
    _, run = np.unique(run_of, return_inverse=True)
    return np.eye(int(run.max()) + 1)[run]


def tilt(distribution: Float, values: Float, mean: Float, rounds: int = 200) -> Float:
    """Return distribution(l) exp(theta value_l) / Z with theta such that it has this mean.

    Newton steps for theta, no longer than a unit of the scale's range; a mean at or beyond the end
    of the scale is brought just inside. Shapes (..., L), (L,) and (...).
    """
    span = values[-1] - values[0]
    goal = np.clip(mean, values[0] + 1e-3 * span, values[-1] - 1e-3 * span)
    theta = np.zeros_like(goal)
    for _ in range(rounds):
        result = distribution * np.exp(theta[..., None] * (values - goal[..., None]))
        result /= result.sum(axis=-1, keepdims=True)
        miss = goal - result @ values
        if np.abs(miss).max() < 1e-9 * span:
            break
        spread = result @ values**2 - (result @ values) ** 2
        theta += np.clip(miss / np.maximum(spread, 1e-12), -4 / span, 4 / span)
    return np.asarray(result)


def _posterior(count: Float, prior: Float) -> Float:
    """Return the posterior mean under Dirichlet(k prior), k of greatest marginal likelihood.

    Numbers of ratings repeat, and each is looked at once. Shapes (M, L), (L,) to (M, L).
    """
    total = count.sum(axis=1)
    rows = [
        (1.0, -1.0, total),
        *((share, 1.0, one) for share, one in zip(prior, count.T, strict=True)),
    ]
    likelihood = np.zeros(len(CONCENTRATIONS))
    for share, sign, numbers in rows:
        each, times = np.unique(numbers, return_counts=True)
        base = CONCENTRATIONS[:, None] * share
        likelihood += sign * (gammaln(base + each) - gammaln(base)) @ times
    k = CONCENTRATIONS[int(np.argmax(likelihood))]
    return np.asarray((count + k * prior) / (total + k)[:, None])
