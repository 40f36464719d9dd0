"""The mixed model by which effects of categories are shrunken, fitted by its restricted likelihood.

    y_j = c_j 1 + X (a + G w_j + u_j) + e_j

as `shrinkage.shrink` has it, in contrasts: what all categories of a feature have in common
is the item's level c_j. X are the cells in orthonormal contrasts of each feature's categories, of
which there are r = sum (categories - 1); like the effects themselves they are independent, with
variance t_m. So the flat prior of the levels is dealt with once, and not in every step, and two
categories are a matter of numbers, not of matrices.
"""

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

Float = NDArray[np.float64]

SMALLEST: Final = 1e-12
"""Keeps a variance positive where the data has none."""
SAMPLED_ENTRIES: Final = 300_000
"""Squares of categories over all items; with more, variances are estimated from some items."""
CLOSE: Final = 3e-3
"""A step that changes a variance by a smaller share is the last."""
FARTHEST: Final = 8.0
"""How far steps are extrapolated, at most."""


def fit_mixed_model(
    observed: Float,
    variance: Float,
    crossed: tuple[tuple[int, ...], ...],
    along: Float | None,
    rounds: int,
) -> tuple["Fit", Float]:
    """Find the variances; return the fit under them, and X."""
    seen = np.isfinite(observed) & np.isfinite(variance)
    y = np.where(seen, observed, 0.0)
    precision = np.where(seen, 1 / np.maximum(np.where(seen, variance, 1.0), SMALLEST), 0.0)
    X, feature = _contrasts(crossed)
    table = Table.of(y, precision, X)
    # In one order in memory, no matter who made it: sums in another order are other sums.
    W = np.ascontiguousarray(
        np.column_stack([np.ones(len(y)), *([] if along is None else [along])])
    )
    mean = y.sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    start = max(float(((y - mean)[seen] ** 2).mean()), SMALLEST) / 2
    columns = sum(max(cells) + 1 for cells in crossed)
    some = slice(None, None, 1 + len(y) * columns**2 * W.shape[1] // (SAMPLED_ENTRIES * 20))
    sampled, W_sampled = Table(*(part[some] for part in table)), np.ascontiguousarray(W[some])

    def step(logs: Float) -> Float:
        t, g = np.exp(logs)[:, feature]
        fit = Fit.of(sampled, W_sampled, t, g)
        return np.maximum(logs + np.log(fit.steps(feature)) / 2, np.log(SMALLEST))

    logs = _settled(step, np.log(np.tile([[start], [start / 10]], len(crossed))), rounds)
    t, g = np.exp(logs)
    return Fit.of(table, W, t[feature], g[feature]), X


def _contrasts(crossed: tuple[tuple[int, ...], ...]) -> tuple[Float, NDArray[np.intp]]:
    """Return X, and which feature each contrast is of. Shapes (K, r) and (r,)."""
    sizes = [max(cells) + 1 for cells in crossed]
    parts = [
        helmert(size).T[list(cells)] if size > 1 else np.zeros((len(cells), 0))
        for size, cells in zip(sizes, crossed, strict=True)
    ]
    feature = np.repeat(np.arange(len(crossed)), [size - 1 for size in sizes])
    return np.hstack(parts), feature


class Table(NamedTuple):
    """What the table says of effects once its levels are taken off; r contrasts.

    With P_j = D - D 1 1' D / 1' D 1, D = diag(1 / s_j); an empty cell has no part in it.
    """

    B: Float
    """X' P_j X. Shape (M, r, r)."""
    b: Float
    """X' P_j y_j. Shape (M, r)."""
    weight: Float
    """1' D 1. Shape (M,)."""
    mean: Float
    """The mean of y_j, cells weighed by D. Shape (M,)."""
    contrast: Float
    """That of the rows of X. Shape (M, r)."""

    @classmethod
    def of(cls, y: Float, precision: Float, X: Float) -> "Table":
        """Sum up a table, item by item."""
        weight = precision.sum(axis=1)
        share = precision / np.where(weight > 0, weight, 1.0)[:, None]
        mean, contrast = (share * y).sum(axis=1), share @ X
        apart = X - contrast[:, None, :]
        weighed = precision[:, :, None] * apart
        B = weighed.swapaxes(1, 2) @ apart
        b = (weighed * (y - mean[:, None])[:, :, None]).sum(axis=1)
        return cls(B, b, weight, mean, contrast)


class Fit(NamedTuple):
    """The mixed model in its r contrasts, levels taken off.

    P_j is that of `Table` with X T X' + diag(s_j) instead of diag(s_j). The coefficients
    theta = (a, G) have r (1 + D) entries.
    """

    table: Table
    """What it is fitted to."""
    t: Float
    """The diagonal of T. Shape (r,)."""
    Q: Float
    """X' P_j X. Shape (M, r, r)."""
    r: Float
    """X' P_j (y_j - X theta w_j); T r is the posterior mean of u. Shape (M, r)."""
    common: Float
    """theta w_j: what an item's effects are expected to be. Shape (M, r)."""
    W: Float
    """One, and the item's profile. Shape (M, 1 + D)."""
    N: Float
    """Information of the items about theta: sum Q_j w_j w_j'. Shape (r, 1 + D, r, 1 + D)."""
    C: Float
    """Posterior covariance of theta, a's part by generalized inverse. Same shape."""

    @classmethod
    def of(cls, table: Table, W: Float, t: Float, g: Float) -> "Fit":
        """Solve for T = diag(t): X' P X = (I + B T)^-1 B and X' P y = (I + B T)^-1 b."""
        if len(t) == 1:
            scale = 1 / (1 + table.B[:, 0] * t)
            Q, z = table.B * scale[:, :, None], table.b * scale
        else:
            both = np.concatenate([table.B, table.b[:, :, None]], axis=2)
            both = np.linalg.solve(np.eye(len(t)) + table.B * t, both)
            Q, z = both[:, :, :-1], both[:, :, -1]
        N = _information(Q, W)
        C = _posterior_covariance(N, g)
        size = len(t) * W.shape[1]
        theta = (C.reshape(size, size) @ (z.T @ W).reshape(-1)).reshape(len(t), -1)
        common = W @ theta.T
        r = z - (Q * common[:, None, :]).sum(axis=2)
        return cls(table, t, Q, r, common, W, N, C)

    @property
    def effects(self) -> Float:
        """Posterior mean of a + G w_j + u_j. Shape (M, r)."""
        return self.common + self.t * self.r

    @property
    def level(self) -> Float:
        """Estimate of each c_j; for an item without ratings the mean of the others. Shape (M,)."""
        level = self.table.mean - (self.table.contrast * self.effects).sum(axis=1)
        rated = self.table.weight > 0
        return np.where(rated, level, level[rated].mean() if rated.any() else 0.0)

    @property
    def common_covariance(self) -> Float:
        """Posterior covariance of what an item's effects are expected to be. Shape (M, r, r)."""
        r = self.Q.shape[1]
        S = np.empty_like(self.Q)
        for a, b in combinations_with_replacement(range(r), 2):
            S[:, a, b] = S[:, b, a] = ((self.W @ self.C[a, :, b]) * self.W).sum(axis=1)
        return S

    @property
    def covariance(self) -> Float:
        """Posterior covariance of `effects`. Shape (M, r, r).

        T - T Q_j T + (I - T Q_j) S_j (I - T Q_j)',  S_j = cov(a + G w_j).
        """
        left = np.eye(len(self.t)) - self.t[:, None] * self.Q
        own = np.diag(self.t) - self.t[:, None] * self.Q * self.t
        return np.asarray(own + left @ self.common_covariance @ left.swapaxes(1, 2))

    def steps(self, feature: NDArray[np.intp]) -> Float:
        """Return y' P V P y / tr P V of each feature, of u and of G. Shape (2, features)."""
        r, D = self.N.shape[:2]
        S = self.common_covariance
        trace = np.einsum("jrr->r", self.Q) - (self.Q @ S * self.Q).sum(axis=(0, 2))
        of_items = _ratios((self.r**2).sum(axis=0), trace, feature)
        N, C = (matrix.reshape(r * D, r * D) for matrix in (self.N, self.C))
        left = (np.diag(N) - ((N @ C) * N).sum(axis=1)).reshape(r, D)[:, 1:].sum(axis=1)
        pull = ((self.r.T @ self.W)[:, 1:] ** 2).sum(axis=1)
        along = _ratios(pull, left, feature) if D > 1 else np.ones_like(of_items)
        return np.stack([of_items, along])


def _information(Q: Float, W: Float) -> Float:
    """Return sum_j Q_j w_j w_j'. Shape (r, D, r, D)."""
    r, D = Q.shape[1], W.shape[1]
    N = np.empty((r, D, r, D))
    for a in range(r):
        root = W * np.sqrt(np.maximum(Q[:, a, a], 0.0))[:, None]
        N[a, :, a] = root.T @ root  # half the work: it is symmetric
        for b in range(a):
            N[a, :, b] = W.T @ (Q[:, a, b, None] * W)
            N[b, :, a] = N[a, :, b]
    return N


def _posterior_covariance(N: Float, g: Float) -> Float:
    """Return the inverse of N + diag(0, 1 / g), of a's part a generalized one. Shape as N.

    G is eliminated first, in units of its prior deviation, in which its part of the matrix is at
    least I. What is left of a's part may be singular, as where a category has no ratings.
    """
    r, D = N.shape[:2]
    moved = N.transpose(1, 0, 3, 2).reshape(D * r, D * r)
    if D == 1:
        return _generalized_inverse(moved).reshape(N.shape)
    unit = np.sqrt(np.concatenate([np.ones(r), np.tile(g, D - 1)]))
    scaled = unit[:, None] * moved * unit
    C = np.empty_like(scaled)
    C[r:, r:] = np.linalg.inv(scaled[r:, r:] + np.eye((D - 1) * r))
    across = C[r:, r:] @ scaled[r:, :r]
    C[:r, :r] = _generalized_inverse(scaled[:r, :r] - scaled[:r, r:] @ across)
    C[r:, :r] = -across @ C[:r, :r]
    C[:r, r:] = C[r:, :r].T
    C[r:, r:] -= C[r:, :r] @ across.T
    C = unit[:, None] * C * unit
    return np.ascontiguousarray(C.reshape(D, r, D, r).transpose(1, 0, 3, 2))


def _generalized_inverse(matrix: Float) -> Float:
    """Invert a symmetric matrix, as far as it can be inverted."""
    if len(matrix) == 1:
        return np.asarray(np.where(matrix > 0, 1 / np.where(matrix > 0, matrix, 1.0), 0.0))
    return np.asarray(np.linalg.pinv(matrix, rcond=SMALLEST, hermitian=True))


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
