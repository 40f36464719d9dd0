"""Kernel models: support vectors, and a quadratic kernel on one-hot levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from midpoint.analyst.kernels.compilation import compiled
from midpoint.audit.attackers.attacker import Float
from midpoint.audit.attackers.learned import Answer, Family, Rows
from midpoint.audit.attackers.scaling import Scaling, column_means

MOSTLY_FILLED = 0.1
"""A sparse matrix with more entries than this share is quicker dense."""
Single = NDArray[np.float32]


@dataclass(frozen=True)
class SupportVectors(Family):
    """Support vector machine with a radial kernel; a setting is (C, gamma).

    k(a, b) = exp(-gamma |a - b|^2 / mean of |a - b|^2 over training rows)

    C weighs the mean over rows of violated margins, so that it means the same on more rows.
    """

    settings: Sequence[tuple[float, float]]
    """C, the penalty of violated margins, and gamma, how narrow the kernel is."""
    most_rows: int | None = 5000
    tuning_rows: int | None = 2500

    def train(
        self,
        rows: Rows,
        ones: NDArray[np.bool_],
        chosen: Sequence[tuple[float, float]],
        _seed: int,
        /,
    ) -> Answer:
        """Fit by libsvm, on kernels that are worked out once for all settings."""
        scaled = _identity if sparse.issparse(rows) else Scaling.of(rows)
        known = scaled(rows)
        unit = 2 * _total_variance(known)
        distance = _distances(known, known) / unit
        machines = [_machine(distance, ones, *setting) for setting in chosen]

        def answer(new: Rows) -> Float:
            apart = _distances(scaled(new), known) / unit
            return np.stack([_margin(machine, apart) for machine in machines])

        return answer


@dataclass(frozen=True)
class QuadraticKernel(Family):
    """Ridge regression on all products of two columns; a setting is the penalty.

    y ~ sum_i a_i (1 + cos(z, z_i))^2, (K + penalty n I) a = y
    """

    settings: Sequence[float] = (0.001, 0.01, 0.1, 1.0)
    """Penalties, as shares of the number of rows."""
    most_rows: int | None = 5000
    tuning_rows: int | None = 2500

    def train(
        self, rows: Rows, ones: NDArray[np.bool_], chosen: Sequence[float], _seed: int, /
    ) -> Answer:
        """Solve for the weights."""
        known = _unit_length(rows)
        y = ones.astype(np.float32) - np.float32(ones.mean())
        K = np.square(1 + _products(known, known))
        weights = np.stack([ridge(K, y, penalty * len(K)) for penalty in chosen])

        def answer(new: Rows) -> Float:
            K = np.square(1 + _products(_unit_length(new), known))
            return np.asarray(weights @ K.T, np.float64)

        return answer


def ridge(K: NDArray[Any], y: NDArray[Any], penalty: float) -> NDArray[Any]:
    """Solve (K + penalty I) a = y by Cholesky, in the precision of K. Shape (n,)."""
    A = K.copy().T  # the same numbers, in the order that LAPACK can overwrite
    A[np.diag_indices(len(A))] += penalty
    factor = linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(linalg.cho_solve(factor, y, check_finite=False), K.dtype)


def _machine(distance: Single, ones: NDArray[np.bool_], C: float, gamma: float) -> Any:
    """Fit one machine; scikit-learn has no types, and is not needed before."""
    kernel = -gamma * distance
    np.exp(kernel, out=kernel)
    machine = import_module("sklearn.svm").SVC(C=C / len(ones), kernel="precomputed")
    machine.gamma = gamma
    return machine.fit(kernel.astype(np.float64), ones.astype(np.int64))


def _margin(machine: Any, distance: Single) -> Float:
    """Return the signed distance from the boundary."""
    kernel = np.exp(-machine.gamma * distance[:, machine.support_])
    return np.asarray(kernel @ machine.dual_coef_[0] + machine.intercept_[0], np.float64)


def _distances(rows: Rows, others: Rows) -> Single:
    """Return squared distances. Shape (rows, others)."""
    inner = _products(rows, others)
    inner *= -2
    inner += _squares(rows)[:, None]
    inner += _squares(others)
    return np.maximum(inner, 0, out=inner)


def _products(rows: Rows, others: Rows) -> Single:
    """Return inner products. Shape (rows, others)."""
    if not sparse.issparse(rows):
        return np.asarray(rows @ others.T, np.float32)
    if others.nnz > MOSTLY_FILLED * others.shape[0] * others.shape[1]:
        return np.asarray(rows.toarray() @ others.toarray().T, np.float32)
    kernel = np.zeros((rows.shape[0], others.shape[0]), np.float32)
    a, b = rows.tocsr(), others.tocsc()
    b.sort_indices()
    among = rows is others
    _add_products(a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, kernel, among)
    if among:
        _mirror(kernel)
    return kernel


@compiled
def _add_products(
    starts: NDArray[np.int32],
    column: NDArray[np.int32],
    value: Single,
    offsets: NDArray[np.int32],
    row: NDArray[np.int32],
    weight: Single,
    kernel: Single,
    among: bool,  # noqa: FBT001 - a kernel takes no keywords
) -> None:
    """Add the products of sparse rows with sparse columns, which nearly all meet somewhere.

    Among the same rows only those up to a row's own are added, which come first in every column.
    """
    for i in range(len(starts) - 1):
        last = i if among else kernel.shape[1]
        for at in range(starts[i], starts[i + 1]):
            for to in range(offsets[column[at]], offsets[column[at] + 1]):
                if row[to] > last:
                    break
                kernel[i, row[to]] += value[at] * weight[to]


@compiled
def _mirror(kernel: Single) -> None:
    """Copy the lower triangle to the upper one, a tile at a time."""
    n, tile = len(kernel), 32
    for top in range(0, n, tile):
        for left in range(0, top + 1, tile):
            for i in range(top, min(top + tile, n)):
                for j in range(left, min(left + tile, i)):
                    kernel[j, i] = kernel[i, j]


def _squares(rows: Rows) -> Single:
    """Return the squared length of each row. Shape (rows,)."""
    if not sparse.issparse(rows):
        return np.asarray(np.square(rows).sum(axis=1), np.float32)
    return np.asarray(rows.multiply(rows).sum(axis=1), np.float32).reshape(-1)


def _total_variance(rows: Rows) -> float:
    """Return the sum over columns of their variances, or 1 if nothing varies."""
    mean = column_means(rows) if sparse.issparse(rows) else rows.mean(axis=0)
    return float(_squares(rows).mean() - np.square(mean).sum()) or 1.0


def _unit_length(rows: Rows) -> Rows:
    """Bring rows to length one; empty ones stay empty."""
    length = np.sqrt(_squares(rows))
    return sparse.diags(1 / np.maximum(length, 1e-6)).astype(np.float32) @ rows


def _identity(rows: Rows) -> Rows:
    return rows
