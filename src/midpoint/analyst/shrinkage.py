"""Empirical Bayes: pull noisy numbers per item and category to what the data says of all items."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Float = NDArray[np.float64]

UNSEEN = 1e8
"""Sampling variance of an empty cell, in units of the largest of the others: it weighs nothing."""
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
    empty = ~np.isfinite(observed) | ~np.isfinite(variance)
    s = np.where(empty, UNSEEN * variance[~empty].max(initial=1e-12), np.maximum(variance, 1e-12))
    y = np.where(empty, 0.0, observed)
    Z = [np.eye(max(cells) + 1)[list(cells)] for cells in crossed]
    t = np.full(len(Z), max(float(np.nanvar(centred(y)[1][~empty.any(axis=1)])), 1e-12))
    for _ in range(rounds):
        P, _ = _projection(s, Z, t)
        a = _common_effects(P, y)
        q = np.einsum("jkl,jl->jk", P, y - a)
        step = np.array([((q @ z) ** 2).sum() / np.einsum("km,jkl,lm->", z, P, z) for z in Z])
        t = t * np.sqrt(step)
        if np.all(np.abs(step - 1) < 1e-3) or np.all(t < 1e-12):
            break
    P, inverse = _projection(s, Z, t)
    a = _common_effects(P, y)
    q = np.einsum("jkl,jl->jk", P, y - a)
    weight = inverse.sum(axis=1)
    level = (weight * (y - a)).sum(axis=1) / weight.sum(axis=1)
    return centred(level[:, None] + a + sum(t[m] * (q @ z) @ z.T for m, z in enumerate(Z)))


def _projection(s: Float, Z: list[Float], t: Float) -> tuple[Float, Float]:
    """Return P = W - W11'W / 1'W1 and W = V^-1 for V = sum t Z Z' + diag(s). Shapes (M, K, K)."""
    V = np.zeros((*s.shape, s.shape[1])) + sum(
        variance * z @ z.T for variance, z in zip(t, Z, strict=True)
    )
    V[:, np.arange(s.shape[1]), np.arange(s.shape[1])] += s
    W = np.linalg.inv(V)
    w = W.sum(axis=2)
    return W - w[:, :, None] * w[:, None, :] / w.sum(axis=1)[:, None, None], W


def _common_effects(P: Float, y: Float) -> Float:
    """Return the generalised least-squares estimate of a, which sums to zero. Shape (K,)."""
    return np.asarray(np.linalg.pinv(P.sum(axis=0)) @ np.einsum("jkl,jl->k", P, y))


def shrink_distributions(count: NDArray[np.int64], crossed: tuple[tuple[int, ...], ...]) -> Float:
    """Estimate level distributions: each item's own, tilted by what its categories add.

    For one feature q_jk is the posterior mean under a Dirichlet prior around the item's pooled
    distribution times the category's overall tilt; the prior's weight is maximum marginal
    likelihood. Crossed features multiply their tilts (main effects in log space).

    Args:
        count: Ratings of each item, category and level. Shape (M, K, L).
        crossed: For each crossed feature, which of its categories each category has.

    Returns:
        Distributions over the levels. Shape (M, K, L).
    """
    overall = (count.sum(axis=(0, 1)) + 1.0) / (count.sum() + count.shape[2])
    of_item = count.sum(axis=1).astype(np.float64)
    pooled = _posterior(of_item, np.broadcast_to(overall, of_item.shape))
    tilt = np.ones(count.shape)
    for cells in crossed:
        merged = np.stack(
            [count[:, np.equal(cells, g)].sum(axis=1) for g in range(max(cells) + 1)], axis=1
        ).astype(np.float64)
        of_category = merged.sum(axis=0) + overall
        of_category /= of_category.sum(axis=1, keepdims=True)
        prior = pooled[:, None] * of_category / overall
        prior /= prior.sum(axis=2, keepdims=True)
        tilt *= (_posterior(merged, prior) / pooled[:, None])[:, list(cells)]
    result = pooled[:, None] * tilt
    return np.asarray(result / result.sum(axis=2, keepdims=True))


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
