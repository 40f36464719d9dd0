"""Many small ridge regressions at once: the step that factorisation and new users share.

Two things make it fast. The running sums of a row's normal equations stay in registers while its
ratings pass by, tile after tile of the triangle. Then `WIDTH` rows are solved at a time, each in a
lane of its own, so that roots and divisions are vector operations as well. Rows do not touch each
other, hence the result is the same bit for bit however many threads share them.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from midpoint.analyst import lanes
from midpoint.analyst.compiled import compiled, usable_cores
from midpoint.analyst.lanes import MOST, WIDTH

Floats = NDArray[np.float32]

CHUNK: Final = 512
"""Ratings summed in one go: short sums keep float32 exact, and their vectors in the cache."""
AHEAD: Final = 8
"""How many ratings before its use a vector is fetched."""
SMALLEST_PIVOT: Final = np.float32(1e-5)
"""A pivot below this part of its diagonal entry is rounding, not information."""
WORTH_A_THREAD: Final = 2_000_000
"""Multiplications that take about as long as it takes to start a thread."""


class _Problem(NamedTuple):
    """What the kernels read."""

    offsets: NDArray[np.int64]
    """Ratings of row i are `offsets[i]:offsets[i + 1]`. Shape (rows + 1,)."""
    vector_of: NDArray[np.int32]
    """Which vector each rating belongs to. Shape (ratings,)."""
    target: Floats
    """The ratings. Shape (ratings,)."""
    vectors: Floats
    """The vectors one after the other, each padded to `width`. Shape (vectors * width,)."""
    width: int
    """Length of a padded vector: a multiple of four, and at least `WIDTH`."""
    dimension: int
    """Length of a vector."""
    ridge: Floats
    """The ridge, row by row. Shape (dimension ** 2,)."""
    ridge_per_rating: np.float32
    """What each rating of a row adds to its ridge."""


def solve_rows(
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    target: Floats,
    vectors: Floats,
    *,
    ridge: float | NDArray[np.float64] = 0.0,
    ridge_per_rating: float = 0.0,
    threads: int | None = None,
) -> Floats:
    """Fit every row's profile to its ratings by ridge regression.

    With the ratings t of row i, n_i in number, and v_t = vectors[index[t]]:

        x_i = argmin_x  Σ_t (target_t - <x, v_t>)² + x' ridge x + ridge_per_rating n_i |x|²

    A number as `ridge` stands for that multiple of the identity. A coordinate that ratings and
    ridge leave undetermined (to float32 precision, in the order of the coordinates) is 0, so the
    answer is always finite; it is a solution then, but not the one of least norm.

    Args:
        offsets: Row i has the ratings `offsets[i]:offsets[i + 1]`. Shape (rows + 1,).
        index: Which vector each rating belongs to. Shape (ratings,).
        target: What to fit. Shape (ratings,).
        vectors: Shape (vectors, d).
        ridge: A number, or a symmetric positive semi-definite matrix of shape (d, d).
        ridge_per_rating: Weighted regularisation, the same for every coordinate.
        threads: All usable cores unless given. The result does not depend on it.

    Returns:
        The profiles, shape (rows, d).
    """
    _check(offsets, index, target, vectors)
    problem = _problem(offsets, index, target, vectors, ridge, ridge_per_rating)
    result = np.empty((len(offsets) - 1, problem.dimension), np.float32)
    work = _work(problem)
    threads = min(threads or usable_cores(), 1 + int(work[-1]) // WORTH_A_THREAD)
    if threads == 1:
        _solve_block(problem, 0, len(result), result)
        return result
    blocks = iter(_blocks(work, 8 * threads))

    def solve_blocks() -> None:
        for first, last in blocks:
            _solve_block(problem, first, last, result)

    with ThreadPoolExecutor(threads - 1) as pool:
        helpers = [pool.submit(solve_blocks) for _ in range(threads - 1)]
        solve_blocks()
    for helper in helpers:
        helper.result()
    return result


def _check(
    offsets: NDArray[np.int64], index: NDArray[np.int32], target: Floats, vectors: Floats
) -> None:
    """Refuse what would make compiled code read beyond its arrays."""
    if index.ndim != 1 or index.shape != target.shape:
        raise ValueError(f"index {index.shape} and target {target.shape} must be equally long")
    steps = offsets[1:] < offsets[:-1]
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(index) or steps.any():
        raise ValueError("offsets must rise from 0 to the number of ratings")
    if len(index) and not 0 <= index.min() <= index.max() < len(vectors):
        raise ValueError(f"an index lies outside the {len(vectors)} vectors")


def _problem(
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    target: Floats,
    vectors: Floats,
    ridge: float | NDArray[np.float64],
    ridge_per_rating: float,
) -> _Problem:
    """Bring everything into the kernels' layout; nothing is copied where the vectors fit it."""
    d = vectors.shape[1]
    width = max(WIDTH, (d + 3) // 4 * 4)
    if width > d:
        if len(index) < len(vectors):
            vectors, index = vectors[index], np.arange(len(index), dtype=np.int32)
        padded = np.zeros((len(vectors), width), np.float32)
        padded[:, :d] = vectors
        vectors = padded
    matrix = np.zeros((d, d), np.float32)
    if np.ndim(ridge) == 0:
        np.fill_diagonal(matrix, ridge)
    else:
        matrix[:] = ridge
    return _Problem(
        offsets=_flat(offsets, np.int64),
        vector_of=_flat(index, np.int32),
        target=_flat(target, np.float32),
        vectors=_flat(vectors, np.float32),
        width=width,
        dimension=d,
        ridge=_flat(matrix, np.float32),
        ridge_per_rating=np.float32(ridge_per_rating),
    )


def _flat(array: NDArray[Any], kind: DTypeLike) -> NDArray[Any]:
    """Return a flat read-only view, the one kind of array the kernels are compiled for."""
    view = np.ascontiguousarray(array, kind).reshape(-1).view()
    view.flags.writeable = False
    return view


def _work(problem: _Problem) -> NDArray[np.int64]:
    """Return how many multiplications the rows before each one take. Shape (rows + 1,)."""
    d = problem.dimension
    rows = np.arange(len(problem.offsets))
    return problem.offsets * (d * (d + 3) // 2) + rows * (d * (d + 1) * (d + 8) // 6)


def _blocks(work: NDArray[np.int64], count: int) -> list[tuple[int, int]]:
    """Cut the rows into about `count` ranges of like work, the largest first."""
    rows = len(work) - 1
    cuts = np.searchsorted(work, np.linspace(0, work[-1], count + 1)[1:-1]) // WIDTH * WIDTH
    edges = np.unique([0, *cuts.tolist(), rows]).tolist()
    return sorted(pairwise(edges), key=lambda block: int(work[block[0]] - work[block[1]]))


@compiled
def _solve_block(problem: _Problem, first: int, last: int, result: Floats) -> None:
    """Solve the rows from `first` to `last`, `WIDTH` at a time."""
    d = problem.dimension
    size = (problem.width + 1) * _stride(problem)
    grams = np.zeros(size * WIDTH, np.float32)
    system = np.empty((d * (d + 3) // 2 + WIDTH) * WIDTH, np.float32)
    weights = np.zeros(WIDTH, np.float32)
    solution = np.empty(d * WIDTH, np.float32)
    for group in range(first, last, WIDTH):
        present = min(WIDTH, last - group)
        grams[:] = 0
        for lane in range(present):
            start, stop = problem.offsets[group + lane], problem.offsets[group + lane + 1]
            gram = grams[lane * size : (lane + 1) * size]
            for chunk in range(start, stop, CHUNK):
                _add_ratings(gram, problem, chunk, min(chunk + CHUNK, stop))
            weights[lane] = problem.ridge_per_rating * np.float32(stop - start)
        _deal(grams, problem, system)
        _add_ridge(system, problem, weights)
        _factorise(system, d)
        _substitute(system, d, solution)
        for lane in range(present):
            for a in range(d):
                result[group + lane, a] = solution[a * WIDTH + lane]


@compiled
def _stride(problem: _Problem) -> int:
    """Length of a row of the sums: whole vectors."""
    return (problem.width + WIDTH - 1) // WIDTH * WIDTH


@compiled
def _add_ratings(gram: Floats, problem: _Problem, start: int, stop: int) -> None:
    """Add Σ v v' (its lower triangle at least) and, as the last row, Σ target v.

    Two column vectors share each number they are multiplied with. Rows that reach into the first
    of the two only are a tile of their own. A vector that would stick out at the end starts
    earlier; its place in `gram` is not shifted.
    """
    width = problem.width
    for block in range(0, width, 2 * WIDTH):
        if width - block >= WIDTH:
            _add_tile(lanes.zeros(8), gram, problem, start, stop, block)
        else:
            _add_tile(lanes.zeros(4), gram, problem, start, stop, block)
        for row in range(block + WIDTH, width, MOST):
            count = min(MOST, width - row)
            if count == 12:
                _add_pair(lanes.zeros(24), gram, problem, start, stop, block, row)
            elif count == 8:
                _add_pair(lanes.zeros(16), gram, problem, start, stop, block, row)
            else:
                _add_pair(lanes.zeros(8), gram, problem, start, stop, block, row)


@compiled
def _add_tile(
    sums: Any, gram: Floats, problem: _Problem, start: int, stop: int, block: int
) -> None:
    """Add to a tile on the diagonal, and to the right-hand side; `sums` are zeros, one a row."""
    vector_of, target, vectors = problem.vector_of, problem.target, problem.vectors
    width = problem.width
    stride = _stride(problem)
    column = min(block, width - WIDTH)
    right = lanes.spread(np.float32(0))
    for t in range(start, stop):
        if block == 0:
            soon = vector_of[min(t + AHEAD, len(vector_of) - 1)] * width
            lanes.prefetch(vectors, soon)
            lanes.prefetch(vectors, soon + width - 1)
        v = vector_of[t] * width
        x = lanes.load(vectors, v + column)
        sums = lanes.add_outer(sums, (x,), vectors, v + block)
        right = lanes.add_product(right, lanes.spread(target[t]), x)
    lanes.accumulate(gram, block * stride + block, stride, sums, 1)
    lanes.accumulate(gram, width * stride + block, stride, (right,), 1)


@compiled
def _add_pair(
    sums: Any, gram: Floats, problem: _Problem, start: int, stop: int, block: int, row: int
) -> None:
    """Add to two tiles side by side, from `row` down; `sums` are zeros, two a row."""
    vector_of, target, vectors = problem.vector_of, problem.target, problem.vectors
    width = problem.width
    stride = _stride(problem)
    column = min(block + WIDTH, width - WIDTH)
    right = lanes.spread(np.float32(0))
    for t in range(start, stop):
        v = vector_of[t] * width
        x = lanes.load(vectors, v + block)
        y = lanes.load(vectors, v + column)
        sums = lanes.add_outer(sums, (x, y), vectors, v + row)
        right = lanes.add_product(right, lanes.spread(target[t]), y)
    lanes.accumulate(gram, row * stride + block, stride, sums, 2)
    if row == block + WIDTH:
        lanes.accumulate(gram, width * stride + block + WIDTH, stride, (right,), 1)


@compiled
def _deal(grams: Floats, problem: _Problem, system: Floats) -> None:
    """Copy each row's sums into its lane of the system, the triangle packed row by row.

    Whole squares are copied; what sticks out of a packed row is overwritten by the next one.
    """
    width, d = problem.width, problem.dimension
    stride = _stride(problem)
    size = (width + 1) * stride
    for a in range(d + 1):
        start = (a if a < d else width) * stride
        for b in range(0, min(a + 1, d), WIDTH):
            column = min(b, width - WIDTH)
            to = (a * (a + 1) // 2 + column) * WIDTH
            lanes.transpose(system, to, grams, start + b, size)


@compiled
def _add_ridge(system: Floats, problem: _Problem, weights: Floats) -> None:
    """Add the ridge to the triangle, and each row's own weight to its diagonal."""
    at = 0
    for a in range(problem.dimension):
        for b in range(a + 1):
            ridge = lanes.spread(problem.ridge[a * problem.dimension + b])
            lanes.store(system, at, lanes.add(lanes.load(system, at), ridge))
            at += WIDTH
        diagonal = lanes.add(lanes.load(system, at - WIDTH), lanes.load(weights, 0))
        lanes.store(system, at - WIDTH, diagonal)


@compiled
def _factorise(system: Floats, d: int) -> None:
    """Replace the triangle by its Cholesky factor L and the right-hand side b by inv(L) b.

    The diagonal becomes 1 / L_jj, or 0 where the pivot is lost in rounding.
    """
    for j in range(d):
        row_j = j * (j + 1) // 2 * WIDTH
        at = row_j + j * WIDTH
        diagonal = lanes.load(system, at)
        pivot = diagonal
        for k in range(row_j, at, WIDTH):
            factor = lanes.load(system, k)
            pivot = lanes.subtract_product(pivot, factor, factor)
        inverse = lanes.inverse_root(pivot, lanes.multiply(diagonal, lanes.spread(SMALLEST_PIVOT)))
        lanes.store(system, at, inverse)
        for i in range(j + 1, d + 1):
            row_i = i * (i + 1) // 2 * WIDTH
            total = lanes.load(system, row_i + j * WIDTH)
            for k in range(0, j * WIDTH, WIDTH):
                left, right = lanes.load(system, row_i + k), lanes.load(system, row_j + k)
                total = lanes.subtract_product(total, left, right)
            lanes.store(system, row_i + j * WIDTH, lanes.multiply(total, inverse))


@compiled
def _substitute(system: Floats, d: int, solution: Floats) -> None:
    """Solve L' x = inv(L) b from the last coordinate to the first."""
    right_side = d * (d + 1) // 2
    for j in range(d - 1, -1, -1):
        total = lanes.load(system, (right_side + j) * WIDTH)
        for i in range(j + 1, d):
            factor = lanes.load(system, (i * (i + 1) // 2 + j) * WIDTH)
            total = lanes.subtract_product(total, factor, lanes.load(solution, i * WIDTH))
        inverse = lanes.load(system, (j * (j + 1) // 2 + j) * WIDTH)
        lanes.store(solution, j * WIDTH, lanes.multiply(total, inverse))
