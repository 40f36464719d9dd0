"""The compiled half of `least_squares`: sums over a row's ratings, and the small solves.

Two things make it fast. The running sums of a row's normal equations stay in registers while its
ratings pass by, tile after tile of the triangle. Then `WIDTH` rows are solved at a time, each in a
lane of its own, so that roots and divisions are vector operations as well. Rows do not touch each
other, hence the result is the same bit for bit however many threads share them.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import lanes
from midpoint.analyst.compiled import compiled
from midpoint.analyst.lanes import MOST, WIDTH

Floats = NDArray[np.float32]

CHUNK: Final = 512
"""Ratings summed in one go: short sums keep float32 exact, and their vectors in the cache."""
AHEAD: Final = 8
"""How many ratings before its use a vector is fetched."""
SMALLEST_PIVOT: Final = np.float32(1e-5)
"""A pivot below this part of its diagonal entry is rounding, not information."""


class Problem(NamedTuple):
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


@compiled
def solve_block(problem: Problem, first: int, last: int, result: Floats) -> None:
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
def _stride(problem: Problem) -> int:
    """Length of a row of the sums: whole vectors."""
    return (problem.width + WIDTH - 1) // WIDTH * WIDTH


@compiled
def _add_ratings(gram: Floats, problem: Problem, start: int, stop: int) -> None:
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
def _add_tile(sums: Any, gram: Floats, problem: Problem, start: int, stop: int, block: int) -> None:
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
    sums: Any, gram: Floats, problem: Problem, start: int, stop: int, block: int, row: int
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
def _deal(grams: Floats, problem: Problem, system: Floats) -> None:
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
def _add_ridge(system: Floats, problem: Problem, weights: Floats) -> None:
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
