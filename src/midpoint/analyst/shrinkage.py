"""Empirical Bayes: pull noisy numbers per item and category to what the data says of all items."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Float = NDArray[np.float64]

SMALLEST = 1e-12
"""Keeps a variance positive where the data has none."""
ENOUGH = 300_000
"""Entries of Z' P Z over all items; with more, variances are estimated from evenly spaced items."""
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


def shrink_effects(
    observed: Float, variance: Float, crossed: tuple[tuple[int, ...], ...], rounds: int = 60
) -> Effects:
    """Estimate category effects under normal priors whose variances the data itself sets.

    y_j = c_j 1 + Z (a + u_j) + e_j,  u_j ~ N(0, T),  e_jk ~ N(0, s_jk)

    Z says which category of each crossed feature a cell has, so that a and u_j are main effects:
    a common to all items, u_j of the item alone, its variances T one number t_m for each feature.
    The item's level c_j has a flat prior. The t_m are restricted maximum likelihood, by the
    minorise-maximise step t_m *= sqrt(|r_m|^2 / tr Q_m), with r and Q as in `_Reduced`.

    Args:
        observed: The noisy table y, NaN in empty cells. Shape (M, K).
        variance: Sampling variances s. Shape (M, K).
        crossed: For each crossed feature, which of its categories each category has.
        rounds: The most steps to take.
    """
    seen = np.isfinite(observed) & np.isfinite(variance)
    y = np.where(seen, observed, 0.0)
    precision = np.where(seen, 1 / np.maximum(np.where(seen, variance, 1.0), SMALLEST), 0.0)
    Z = np.hstack([np.eye(max(cells) + 1)[list(cells)] for cells in crossed])
    feature = np.repeat(np.arange(len(crossed)), [max(cells) + 1 for cells in crossed])
    B = (precision @ (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)).reshape(
        -1, Z.shape[1], Z.shape[1]
    )
    b = (precision * y) @ Z
    mean = y.sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    t = np.full(len(crossed), max(float(((y - mean)[seen] ** 2).mean()), SMALLEST))
    some = slice(None, None, 1 + B.size // ENOUGH)
    for _ in range(rounds):
        now = _Reduced.of(B[some], b[some], t[feature], feature == 0)
        trace = np.einsum("jrr->r", now.Q)
        square = (now.r**2).sum(axis=0)
        total = np.array([np.bincount(feature, x) for x in (square, trace)])
        step = total[0] / np.maximum(total[1], SMALLEST)
        t = t * np.sqrt(step)
        if np.all(np.abs(step - 1) < 1e-2) or np.all(t < SMALLEST):
            break
    found = _Reduced.of(B, b, t[feature], feature == 0)
    return centred(found.level[:, None] + (found.a + t[feature] * found.r) @ Z.T)


class _Reduced(NamedTuple):
    """The mixed model seen through Z, in which it has R columns instead of K cells.

    With W_j = (Z T Z' + diag(s_j))^-1 and P_j = W_j - W_j 1 1' W_j / 1' W_j 1.
    """

    Q: Float
    """Z' P_j Z. Shape (M, R, R)."""
    r: Float
    """Z' P_j (y_j - Z a); T r is the posterior mean of u. Shape (M, R)."""
    a: Float
    """The generalised least-squares estimate of the common effects. Shape (R,)."""
    level: Float
    """That of each c_j; for an item without ratings the mean of the others. Shape (M,)."""

    @classmethod
    def of(cls, B: Float, b: Float, t: Float, first: NDArray[np.bool_]) -> "_Reduced":
        """Solve for B = Z' S^-1 Z, b = Z' S^-1 y and T = diag(t); `first` sums to 1 over cells.

        Z' W Z = (I + B T)^-1 B and Z' W y = (I + B T)^-1 b: an empty cell has no part in either.
        """
        both = np.linalg.solve(np.eye(len(t)) + B * t, np.concatenate([B, b[:, :, None]], axis=2))
        H, g = both[:, :, :-1], both[:, :, -1]
        h = H[:, :, first].sum(axis=2)
        weight = h[:, first].sum(axis=1)
        safe = np.where(weight > 0, weight, 1.0)[:, None]
        Q = H - h[:, :, None] * (h / safe)[:, None, :]
        z = g - h * (g[:, first].sum(axis=1, keepdims=True) / safe)
        a = np.linalg.pinv(Q.sum(axis=0), rcond=SMALLEST, hermitian=True) @ z.sum(axis=0)
        level = (g[:, first].sum(axis=1) - h @ a) / safe[:, 0]
        level = np.where(weight > 0, level, level[weight > 0].mean())
        return cls(Q, z - Q @ a, a, level)


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
