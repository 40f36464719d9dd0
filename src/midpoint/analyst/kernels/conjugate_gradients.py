"""Many ridge regressions at once, each improved by a few conjugate gradient steps.

With d coordinates and n entries Cholesky's method takes n d^2 / 2 + d^3 / 6 products, a step 2 n d.
Where two sides alternate, a few steps from the last solution do as well (Takacs, Pilaszy and Tikk,
2011).

All rows share a ridge P, whose product with a vector takes d^2. In the basis of the eigenvectors of
P it takes d: P is diagonal there, and so is P + r I, which also makes it a good preconditioner.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels import simd
from midpoint.analyst.kernels.compilation import compiled, in_parallel
from midpoint.analyst.kernels.ridge import blocks_of_rows, check_rows, flat, worth_threads
from midpoint.analyst.kernels.simd import WIDE

Floats = NDArray[np.float32]

ROUNDING: Final = np.float32(1e-12)
"""Squared residuals below this share of the first ones are rounding: no step makes them smaller."""
PRECISION: Final = float(np.finfo(np.float32).eps)
"""How much of the largest number is rounding."""
STEPS: Final = 3
"""As many as implicit's. On MovieLens 1M as sets NDCG@10 is then that of exact solutions."""


def improve_rows(
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    weight: Floats,
    vectors: Floats,
    start: Floats,
    *,
    ridge: NDArray[np.float64],
    ridge_per_entry: float = 0.0,
    steps: int = STEPS,
    threads: int | None = None,
) -> Floats:
    """Bring every row's profile closer to the ridge regression of ones on its vectors.

    With the entries t of row i, n_i in number, j = index[t] and v_j = vectors[j]:

        x_i = argmin  Σ_t weight_t (1 - <x, v_j>)² + x' ridge x + n_i ridge_per_entry |x|²

    Args:
        offsets: Row i has the entries `offsets[i]:offsets[i + 1]`. Shape (rows + 1,).
        index: Which vector each entry belongs to. Shape (entries,).
        weight: How much each entry counts. Shape (entries,).
        vectors: Shape (vectors, d).
        start: What is known of the profiles. Shape (rows, d).
        ridge: A symmetric positive semi-definite matrix, not 0. Directions that it leaves open
            have as much of a ridge as rounding makes. Shape (d, d).
        ridge_per_entry: What each entry of a row adds to its ridge.
        steps: As many as there are coordinates make it exact, but for rounding.
        threads: All usable cores unless given. The result does not depend on it.

    Returns:
        The profiles, shape (rows, d).
    """
    rows, d = start.shape
    check_rows(offsets, index, weight, vectors)
    if rows != len(offsets) - 1 or vectors.shape[1] != d or ridge.shape != (d, d):
        raise ValueError(
            f"start {start.shape}, vectors {vectors.shape} and ridge {ridge.shape} do not fit"
            f" {len(offsets) - 1} rows"
        )
    eigenvalues, basis = np.linalg.eigh(ridge)
    turn = basis.astype(np.float32)
    width = -(-d // WIDE) * WIDE
    x, own = _turned(start, turn, width), _turned(vectors, turn, width)
    diagonal = np.ones(width, np.float32)
    diagonal[:d] = np.maximum(eigenvalues, PRECISION * eigenvalues[-1])
    entries = flat(offsets, np.int64), flat(index, np.int32), flat(weight, np.float32), own
    work = offsets * (2 * (steps + 1) * d) + np.arange(rows + 1) * d

    def improve(block: tuple[int, int]) -> None:
        improve_block(*entries, diagonal, np.float32(ridge_per_entry), steps, *block, x)

    in_parallel(improve, blocks_of_rows(work), worth_threads(work, threads))
    return np.asarray(x.reshape(rows, width)[:, :d] @ turn.T)


def _turned(rows: Floats, turn: Floats, width: int) -> Floats:
    """Return rows in another basis, each followed by zeros up to `width`. Shape (rows * width,)."""
    turned = np.zeros((len(rows), width), np.float32)
    turned[:, : rows.shape[1]] = rows @ turn
    return turned.reshape(-1)


@compiled
def improve_block(
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    weight: Floats,
    vectors: Floats,
    diagonal: Floats,
    per_entry: Any,
    steps: int,
    begin: int,
    end: int,
    x: Floats,
) -> None:
    """Improve the rows from `begin` to `end` of x by preconditioned conjugate gradients.

    The ridge is diagonal, and that of the row is its preconditioner. All arrays are flat.
    """
    width = len(diagonal)
    own, ridge, r, p, q = np.empty((5, width), np.float32)
    for i in range(begin, end):
        first, last = offsets[i], offsets[i + 1]
        for a in range(width):
            own[a] = x[i * width + a]
            ridge[a] = diagonal[a] + per_entry * np.float32(last - first)
            r[a] = -ridge[a] * own[a]
        _add_residuals(r, index, weight, vectors, first, last, own, np.float32(1))
        size = np.float32(0)
        for a in range(width):
            p[a] = r[a] / ridge[a]
            size += p[a] * r[a]
        enough = ROUNDING * size
        for _ in range(steps):
            if size <= enough:
                break
            for a in range(width):
                q[a] = -ridge[a] * p[a]
            _add_residuals(q, index, weight, vectors, first, last, p, np.float32(0))
            size = _step(own, ridge, r, p, q, size)
        for a in range(width):
            x[i * width + a] = own[a]


@compiled
def _step(x: Floats, ridge: Floats, r: Floats, p: Floats, q: Floats, size: Any) -> Any:
    """Go along p, where q is -A p, and turn p to the next direction; return what r measures then.

    Residuals r are measured by Σ r² / ridge, which was `size`.
    """
    along = np.float32(0)
    for a in range(len(x)):
        along -= p[a] * q[a]
    step, left = size / along, np.float32(0)
    for a in range(len(x)):
        x[a] += step * p[a]
        r[a] += step * q[a]
        left += r[a] * r[a] / ridge[a]
    for a in range(len(x)):
        p[a] = r[a] / ridge[a] + left / size * p[a]
    return left


@compiled
def _add_residuals(
    to: Floats,
    index: NDArray[np.int32],
    weight: Floats,
    vectors: Floats,
    first: int,
    last: int,
    x: Floats,
    target: Any,
) -> None:
    """Add Σ_t weight_t (target - <x, v_t>) v_t over the entries from `first` to `last`.

    Four at a time: what is read of x and of the sums serves all of them.
    """
    width = len(x)
    together = first + (last - first) // 4 * 4
    for t in range(first, together, 4):
        v0, v1 = index[t] * width, index[t + 1] * width
        v2, v3 = index[t + 2] * width, index[t + 3] * width
        s0 = s1 = s2 = s3 = simd.spread_wide(np.float32(0))
        for a in range(0, width, WIDE):
            own = simd.load_wide(x, a)
            s0 = simd.add_product(s0, own, simd.load_wide(vectors, v0 + a))
            s1 = simd.add_product(s1, own, simd.load_wide(vectors, v1 + a))
            s2 = simd.add_product(s2, own, simd.load_wide(vectors, v2 + a))
            s3 = simd.add_product(s3, own, simd.load_wide(vectors, v3 + a))
        r0 = simd.spread_wide(weight[t] * (target - simd.total(s0)))
        r1 = simd.spread_wide(weight[t + 1] * (target - simd.total(s1)))
        r2 = simd.spread_wide(weight[t + 2] * (target - simd.total(s2)))
        r3 = simd.spread_wide(weight[t + 3] * (target - simd.total(s3)))
        for a in range(0, width, WIDE):
            sums = simd.load_wide(to, a)
            sums = simd.add_product(sums, r0, simd.load_wide(vectors, v0 + a))
            sums = simd.add_product(sums, r1, simd.load_wide(vectors, v1 + a))
            sums = simd.add_product(sums, r2, simd.load_wide(vectors, v2 + a))
            sums = simd.add_product(sums, r3, simd.load_wide(vectors, v3 + a))
            simd.store(to, a, sums)
    for t in range(together, last):
        v, s = index[t] * width, simd.spread_wide(np.float32(0))
        for a in range(0, width, WIDE):
            s = simd.add_product(s, simd.load_wide(x, a), simd.load_wide(vectors, v + a))
        rest = simd.spread_wide(weight[t] * (target - simd.total(s)))
        for a in range(0, width, WIDE):
            sums = simd.load_wide(to, a)
            simd.store(to, a, simd.add_product(sums, rest, simd.load_wide(vectors, v + a)))
