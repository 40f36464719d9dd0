"""Empirical Bayes: pull noisy numbers per item and category to what the data says of all items."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from midpoint.analyst.categories.statistics import Counts

Float = NDArray[np.float64]

SMALLEST = 1e-12
"""Keeps a variance positive where the data has none."""
SAMPLED_ENTRIES = 300_000
"""Entries of Z' P Z over all items; with more, variances are estimated from evenly spaced items."""
CLOSE = 3e-3
"""A step that changes a variance by a smaller share is the last."""
FARTHEST = 8.0
"""How far steps are extrapolated, at most."""
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


def shrink_effects(
    observed: Float,
    variance: Float,
    crossed: tuple[tuple[int, ...], ...],
    along: Float | None = None,
    rounds: int = 60,
) -> Effects:
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
    fit, t, Z = _fitted(observed, variance, crossed, along, rounds)
    return centred(fit.level[:, None] + (fit.common + t * fit.r) @ Z.T)


def effect_covariance(
    observed: Float,
    variance: Float,
    crossed: tuple[tuple[int, ...], ...],
    along: Float | None = None,
    rounds: int = 60,
) -> Float:
    """Return how unsure what `shrink_effects` gives of each item is. Shape (M, K, K).

    Z [T - T Q_j T + (I - T Q_j) S_j (I - T Q_j)'] Z',  S_j = cov(a + G w_j)

    is the posterior covariance of an item's category effects, given the variances. Its level c_j
    is left out, so that only differences between categories mean something.
    """
    fit, t, Z = _fitted(observed, variance, crossed, along, rounds)
    left = np.eye(len(t)) - t[:, None] * fit.Q
    own = np.diag(t) - t[:, None] * fit.Q * t
    inside = own + left @ fit.common_covariance @ left.swapaxes(1, 2)
    return np.asarray(Z @ inside @ Z.T)


def _fitted(
    observed: Float,
    variance: Float,
    crossed: tuple[tuple[int, ...], ...],
    along: Float | None,
    rounds: int,
) -> tuple["_Fit", Float, Float]:
    """Find the variances; return the fit under them, the diagonal of T, and Z."""
    seen = np.isfinite(observed) & np.isfinite(variance)
    y = np.where(seen, observed, 0.0)
    precision = np.where(seen, 1 / np.maximum(np.where(seen, variance, 1.0), SMALLEST), 0.0)
    Z = np.hstack([np.eye(max(cells) + 1)[list(cells)] for cells in crossed])
    feature = np.repeat(np.arange(len(crossed)), [max(cells) + 1 for cells in crossed])
    B = (precision @ (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)).reshape(
        -1, Z.shape[1], Z.shape[1]
    )
    b = (precision * y) @ Z
    W = np.column_stack([np.ones(len(y)), *([] if along is None else [along])])
    mean = y.sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    start = max(float(((y - mean)[seen] ** 2).mean()), SMALLEST) / 2
    some = slice(None, None, 1 + B.size * W.shape[1] // (SAMPLED_ENTRIES * 20))

    def step(logs: Float) -> Float:
        t, g = np.exp(logs)[:, feature]
        fit = _Fit.of(B[some], b[some], W[some], t, g, feature == 0)
        return np.maximum(logs + np.log(fit.steps(feature)) / 2, np.log(SMALLEST))

    logs = _settled(step, np.log(np.tile([[start], [start / 10]], len(crossed))), rounds)
    t, g = np.exp(logs)
    return _Fit.of(B, b, W, t[feature], g[feature], feature == 0), t[feature], Z


class _Fit(NamedTuple):
    """The mixed model seen through Z, in which it has R columns instead of K cells.

    With W_j = (Z T Z' + diag(s_j))^-1 and P_j = W_j - W_j 1 1' W_j / 1' W_j 1. The coefficients
    theta = (a, G) have R (1 + D) entries.
    """

    Q: Float
    """Z' P_j Z. Shape (M, R, R)."""
    r: Float
    """Z' P_j (y_j - Z theta w_j); T r is the posterior mean of u. Shape (M, R)."""
    common: Float
    """theta w_j: what an item's effects are expected to be. Shape (M, R)."""
    level: Float
    """Estimate of each c_j; for an item without ratings the mean of the others. Shape (M,)."""
    W: Float
    """One, and the item's profile. Shape (M, 1 + D)."""
    N: Float
    """Information of the items about theta: sum Q_j w_j w_j'. Shape (R (1 + D), R (1 + D))."""
    C: Float
    """Posterior covariance of theta, a's part by generalized inverse. Same shape."""

    @classmethod
    def of(
        cls, B: Float, b: Float, W: Float, t: Float, g: Float, first: NDArray[np.bool_]
    ) -> "_Fit":
        """Solve for B = Z' S^-1 Z, b = Z' S^-1 y and T = diag(t); `first` sums to 1 over cells.

        Z' W Z = (I + B T)^-1 B and Z' W y = (I + B T)^-1 b: an empty cell has no part in either.
        """
        both = np.linalg.solve(np.eye(len(t)) + B * t, np.concatenate([B, b[:, :, None]], axis=2))
        H, h1 = both[:, :, :-1], both[:, :, -1]
        h = H[:, :, first].sum(axis=2)
        weight = h[:, first].sum(axis=1)
        safe = np.where(weight > 0, weight, 1.0)[:, None]
        Q = H - h[:, :, None] * (h / safe)[:, None, :]
        z = h1 - h * (h1[:, first].sum(axis=1, keepdims=True) / safe)
        R, D = len(t), W.shape[1]
        N = (Q.reshape(-1, R * R, 1) * W[:, None, :]).reshape(-1, R * R * D).T @ W
        N = N.reshape(R, R, D, D).swapaxes(1, 2).reshape(R * D, R * D)
        # In units of their prior deviation all coefficients but the common ones have variance 1.
        unit = np.sqrt(np.column_stack([np.ones(R), np.tile(g[:, None], D - 1)]).reshape(-1))
        known = np.tile(np.arange(D) > 0, R).astype(np.float64)
        scaled = unit[:, None] * N * unit + np.diag(known)
        C = unit[:, None] * np.linalg.pinv(scaled, rcond=SMALLEST, hermitian=True) * unit
        theta = (C @ (z.T @ W).reshape(-1)).reshape(R, D)
        common = W @ theta.T
        level = (h1[:, first].sum(axis=1) - (h * common).sum(axis=1)) / safe[:, 0]
        level = np.where(weight > 0, level, level[weight > 0].mean())
        return cls(Q, z - (Q * common[:, None, :]).sum(axis=2), common, level, W, N, C)

    @property
    def common_covariance(self) -> Float:
        """Posterior covariance of what an item's effects are expected to be. Shape (M, R, R)."""
        R, D = self.Q.shape[1], self.W.shape[1]
        S = (self.W @ self.C.reshape(R, D, R, D).transpose(1, 0, 2, 3).reshape(D, -1)).reshape(
            -1, R, R, D
        )
        return np.asarray((S @ self.W[:, None, :, None])[..., 0])

    def steps(self, feature: NDArray[np.intp]) -> Float:
        """Return y' P V P y / tr P V of each feature, of u and of G. Shape (2, features)."""
        R, D = self.Q.shape[1], self.W.shape[1]
        S = self.common_covariance
        trace = np.einsum("jrr->r", self.Q) - (self.Q @ S * self.Q).sum(axis=(0, 2))
        of_items = _ratios((self.r**2).sum(axis=0), trace, feature)
        left = np.diag(self.N - self.N @ self.C @ self.N).reshape(R, D)[:, 1:].sum(axis=1)
        pull = ((self.r.T @ self.W)[:, 1:] ** 2).sum(axis=1)
        along = _ratios(pull, left, feature) if D > 1 else np.ones_like(of_items)
        return np.stack([of_items, along])


def _settled(step: Callable[[Float], Float], at: Float, rounds: int) -> Float:
    """Go on until a step changes nothing, by squared extrapolation of two steps at a time.

    With r = p1 - p0 and v = p2 - 2 p1 + p0:  p = p0 + 2 s r + s^2 v,  s = |r| / |v|, at least 1
    (Varadhan and Roland 2008, S3).
    """
    for _ in range(rounds // 2):
        once = step(at)
        twice = step(once)
        r, v = once - at, twice - 2 * once + at
        if np.abs(r).max() < CLOSE:
            return twice
        s = np.clip(np.linalg.norm(r) / max(float(np.linalg.norm(v)), SMALLEST), 1.0, FARTHEST)
        at = np.clip(at + 2 * s * r + s**2 * v, np.log(SMALLEST), np.log(1 / SMALLEST))
    return at


def _ratios(square: Float, trace: Float, feature: NDArray[np.intp]) -> Float:
    """Add up by feature and divide. Shape (features,)."""
    over, under = np.bincount(feature, square), np.bincount(feature, trace)
    return np.asarray(np.maximum(over, SMALLEST) / np.maximum(under, SMALLEST))


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
    pooled = _posterior(of_item, np.broadcast_to(overall, of_item.shape))[:, None]
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
    """Return the posterior mean under Dirichlet(k prior), k of greatest marginal likelihood."""
    total = count.sum(axis=-1)
    likelihood = [
        (gammaln(k) - gammaln(k + total)).sum()
        + (gammaln(k * prior + count) - gammaln(k * prior)).sum()
        for k in CONCENTRATIONS
    ]
    k = CONCENTRATIONS[int(np.argmax(likelihood))]
    return np.asarray((count + k * prior) / (total + k)[..., None])
