"""Empirical Bayes: pull noisy numbers per item and category to what the data says of all items."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Float = NDArray[np.float64]

SMALLEST = 1e-12
"""Keeps a variance positive where the data has none."""
CONCENTRATIONS = np.geomspace(0.5, 5000.0, 60)
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


def shrink_effects(
    observed: Float, variance: Float, crossed: tuple[tuple[int, ...], ...], rounds: int = 60
) -> Effects:
    """Estimate category effects under normal priors whose variances the data itself sets.

    y_j = c_j 1 + a + sum_m Z_m u_jm + e_j,  u_jm ~ N(0, t_m I),  e_jk ~ N(0, s_jk)

    with a flat prior on the item's level c_j, category effects a common to all items, and one
    set of item-specific main effects u_jm for each crossed feature m. The variances t_m are
    restricted maximum likelihood, by the minorise-maximise step t_m *= sqrt(y'PZZ'Py / tr Z'PZ).

    Args:
        observed: The noisy table y, NaN in empty cells. Shape (M, K).
        variance: Sampling variances s. Shape (M, K).
        crossed: For each crossed feature, which of its categories each category has.
        rounds: The most steps to take.
    """
    seen = np.isfinite(observed) & np.isfinite(variance)
    y = np.where(seen, observed, 0.0)
    precision = np.where(seen, 1 / np.maximum(np.where(seen, variance, 1.0), SMALLEST), 0.0)
    Z = [np.eye(max(cells) + 1)[list(cells)] for cells in crossed]
    mean = y.sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    t = np.full(len(Z), max(float(((y - mean)[seen] ** 2).mean()), SMALLEST))
    for _ in range(rounds):
        P, _ = _projection(precision, Z, t)
        q = _residual(P, y, _common_effects(P, y))
        trace = np.array([np.einsum("km,jkl,lm->", z, P, z) for z in Z])
        step = np.array([((q @ z) ** 2).sum() for z in Z]) / np.maximum(trace, SMALLEST)
        t = t * np.sqrt(step)
        if np.all(np.abs(step - 1) < 1e-3) or np.all(t < SMALLEST):
            break
    P, weight = _projection(precision, Z, t)
    a = _common_effects(P, y)
    q = _residual(P, y, a)
    level = _levels(weight, y - a)
    return centred(level[:, None] + a + sum(t[m] * (q @ z) @ z.T for m, z in enumerate(Z)))


def _projection(precision: Float, Z: list[Float], t: Float) -> tuple[Float, Float]:
    """Return P = W - W11'W / 1'W1 and W1 for W = (sum t Z Z' + diag(s))^-1; (M, K, K), (M, K).

    With D = diag(s)^-1/2 that W is D (I + D sum t Z Z' D)^-1 D, in which the precision of an empty
    cell is 0: it has no weight at all.
    """
    D = np.sqrt(precision)
    G = sum(variance * z @ z.T for variance, z in zip(t, Z, strict=True))
    outer = D[:, :, None] * D[:, None, :]
    W = outer * np.linalg.inv(np.eye(D.shape[1]) + outer * G)
    w = W.sum(axis=2)
    total = np.maximum(w.sum(axis=1), np.finfo(np.float64).tiny)
    return W - w[:, :, None] * (w / total[:, None])[:, None, :], w


def _common_effects(P: Float, y: Float) -> Float:
    """Return the generalised least-squares estimate of a, 0 for a category never seen. (K,)."""
    moment = np.einsum("jkl,jl->k", P, y)
    return np.asarray(np.linalg.pinv(P.sum(axis=0), rcond=SMALLEST, hermitian=True) @ moment)


def _residual(P: Float, y: Float, a: Float) -> Float:
    return np.asarray(np.einsum("jkl,jl->jk", P, y - a))


def _levels(weight: Float, y: Float) -> Float:
    """Return each item's weighted mean, and of an item without any the mean of the others."""
    total = weight.sum(axis=1)
    level = (weight * y).sum(axis=1) / np.where(total > 0, total, 1.0)
    return np.asarray(np.where(total > 0, level, level[total > 0].mean()))


def shrink_distributions(count: NDArray[np.int64], values: Float, effect: Float) -> Float:
    """Estimate level distributions around each item's own, tilted by what a category adds.

    q_jk is the posterior mean under a Dirichlet prior around pooled_j(l) exp(theta_jk value_l),
    with theta_jk such that the priors' means differ between categories as the effects do and are
    the pooled one on average; its weight is the one of greatest marginal likelihood. So a shift
    between categories is as strong as `effect` says, and only the shape around it, of which there
    is less evidence, is pulled to the item's common one.

    Args:
        count: Ratings of each item, category and level. Shape (M, K, L).
        values: The levels. Shape (L,).
        effect: What each category adds to the item's mean, already shrunken. Shape (M, K).

    Returns:
        Distributions over the levels. Shape (M, K, L).
    """
    overall = (count.sum(axis=(0, 1)) + 1.0) / (count.sum() + count.shape[2])
    of_item = count.sum(axis=1).astype(np.float64)
    pooled = _posterior(of_item, np.broadcast_to(overall, of_item.shape))
    given = count.sum(axis=2)
    share = given / np.maximum(given.sum(axis=1, keepdims=True), 1)
    mean = (pooled @ values - (share * effect).sum(axis=1))[:, None] + effect
    return _posterior(count.astype(np.float64), tilt(pooled[:, None], values, mean))


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
    """Return the posterior mean under Dirichlet(k prior), k of greatest marginal likelihood."""
    total = count.sum(axis=-1)
    likelihood = [
        (gammaln(k) - gammaln(k + total)).sum()
        + (gammaln(k * prior + count) - gammaln(k * prior)).sum()
        for k in CONCENTRATIONS
    ]
    k = CONCENTRATIONS[int(np.argmax(likelihood))]
    return np.asarray((count + k * prior) / (total + k)[..., None])
