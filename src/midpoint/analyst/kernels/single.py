"""One person's profile in one compiled call: what numpy's calls cost is more than the arithmetic.

Sums are in double precision. The ratings' vectors are copied coordinate by coordinate, so that
every sum of products runs along neighbours in memory.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels.compilation import compiled

Float = NDArray[np.float64]
Floats = NDArray[np.float32]


class NormalPrior(NamedTuple):
    """Prior of one person's profile x, and the item profiles as it sees them; read-only arrays.

    M items, dimension D, k set factors; k = 0 where sets say nothing.
    """

    vectors: Floats
    """L' v_j, with L L' the prior's covariance. Shape (M, D)."""
    typical: Floats
    """centre_j + <m, v_j>, with m the prior's mean of a person who revealed nothing. Shape (M,)."""
    weights: Float
    """Weights of the items' ratings; of length 0 where all count alike. Shape (M,)."""
    root: Float
    """L, a lower triangle. Shape (D, D)."""
    mean: Float
    """m. Shape (D,)."""
    noise: float
    """sigma^2 of a rating."""
    set_factors: Floats
    """e_j. Shape (M, k)."""
    pseudo_count: Float
    """kappa. Shape (k,)."""
    set_weights: Float
    """W. Shape (k, D)."""


@compiled
def posterior_mean(prior: NormalPrior, item: NDArray[np.int32], value: Float) -> Float:
    """Return the mean of x given ratings; of length 0 where an index or a number is none.

    With s = W' Σ_j e_j / (n + kappa), what the set adds to the prior's mean, and x = m + L z:

        (Σ_j w_j u_j u_j' + sigma^2 I) z = Σ_j w_j (y_j - typical_j) u_j + sigma^2 L^-1 s,

    where u_j = L' v_j. Shapes (n,), (n,), (D,).
    """
    for j in item:
        if not 0 <= j < len(prior.vectors):
            return np.empty(0)
    A, z = _normal_equations(prior, item, value)
    d = len(z)
    shift = _set_shift(prior, item)
    for a in range(d):  # L^-1 s, by forward substitution
        total = shift[a]
        for b in range(a):
            total -= prior.root[a, b] * shift[b]
        shift[a] = total / prior.root[a, a]
        A[a, a] += prior.noise
        z[a] += prior.noise * shift[a]
    if not _solve(A, z):
        return np.empty(0)
    x = prior.mean.copy()
    for a in range(d):
        total = 0.0
        for b in range(a + 1):
            total += prior.root[a, b] * z[b]
        x[a] += total
    return x


@compiled
def _normal_equations(
    prior: NormalPrior, item: NDArray[np.int32], value: Float
) -> tuple[Float, Float]:
    """Return the lower triangle of Σ_j w_j u_j u_j', and Σ_j w_j (y_j - typical_j) u_j."""
    n, d = len(item), prior.vectors.shape[1]
    u, rest = np.empty((d, n)), np.empty(n)
    for t in range(n):
        j = item[t]
        root = np.sqrt(prior.weights[j]) if len(prior.weights) else 1.0
        rest[t] = (value[t] - prior.typical[j]) * root
        for a in range(d):
            u[a, t] = prior.vectors[j, a] * root
    A, z = np.empty((d, d)), np.empty(d)
    for a in range(d):
        row = u[a]
        for b in range(a + 1):
            A[a, b] = _product(row, u[b])
        z[a] = _product(row, rest)
    return A, z


@compiled
def _set_shift(prior: NormalPrior, item: NDArray[np.int32]) -> Float:
    """Return W' Σ_j e_j / (n + kappa). Shape (D,)."""
    k, d = prior.set_weights.shape
    sums, shift = np.zeros(k), np.zeros(d)
    for j in item:
        for a in range(k):
            sums[a] += prior.set_factors[j, a]
    for a in range(k):
        known = sums[a] / (len(item) + prior.pseudo_count[a])
        for b in range(d):
            shift[b] += known * prior.set_weights[a, b]
    return shift


@compiled
def _product(x: Float, y: Float) -> float:
    total = 0.0
    for t in range(len(x)):
        total += x[t] * y[t]
    return total


@compiled
def _solve(A: Float, z: Float) -> bool:
    """Replace z by A^-1 z by Cholesky's method, and A's lower triangle by its factor, or fail."""
    d = len(z)
    for j in range(d):
        pivot = A[j, j]
        for k in range(j):
            pivot -= A[j, k] * A[j, k]
        if not pivot > 0:
            return False
        inverse = 1 / np.sqrt(pivot)
        A[j, j] = inverse
        for i in range(j + 1, d):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total * inverse
        total = z[j]
        for k in range(j):
            total -= A[j, k] * z[k]
        z[j] = total * inverse
    for j in range(d - 1, -1, -1):
        z[j] *= A[j, j]
        for i in range(j):
            z[i] -= A[j, i] * z[j]
    return True
