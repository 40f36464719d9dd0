"""Compiled normal equations: summed in registers, solved side by side.

Two things make it fast. The running sums of a row's normal equations stay in registers while its
ratings pass by, tile after tile of the triangle. Then `WIDTH` rows are solved at a time, each in a
lane of its own, so that roots and divisions are vector operations as well. Rows do not touch each
other, hence the result is the same bit for bit however many threads share them.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels import simd
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.simd import PAIRS_IN_REGISTERS, WIDTH

Floats = NDArray[np.float32]

CHUNK: Final = 512
"""Ratings summed in one go: short sums keep float32 exact, and their vectors in the cache."""
AHEAD: Final = 8
"""How many ratings before its use a vector is fetched."""
SMALLEST_PIVOT: Final = np.float32(1e-5)
"""A pivot below this part of its diagonal entry is rounding, not information."""


class Problem(NamedTuple):
    """What the kernels read; all arrays are flat and read-only."""

    offsets: NDArray[np.int64]
    """Ratings of row i are `offsets[i]:offsets[i + 1]`. Shape (rows + 1,)."""
    vector_of: NDArray[np.int32]
    """Which vector each rating belongs to. Shape (ratings,)."""
    target: Floats
    """The ratings. Shape (ratings,)."""
    vectors: Floats
    """The vectors one after the other, each padded to `width`. Shape (vectors * width,)."""
    shares: Floats
    """Per vector what it explains of a rating by itself, and what it adds to its row's ridge.

    Side by side, since they are read together. Shape (vectors * 2,).
    """
    width: int
    """Length of a padded vector: a multiple of four, and at least `WIDTH`."""
    dimension: int
    """Length of a vector."""
    first: int
    """The first coordinate to which a vector's own ridge applies."""
    last: int
    """The one after the last."""
    ridge: Floats
    """The ridge of every row. Shape (dimension ** 2,)."""
    pull: Floats
    """What is added to every row's right-hand side. Shape (dimension,)."""


class Solutions(NamedTuple):
    """What the kernels write: one solution for each row.

    Where it is wanted, also how well each row is known.
    """

    profile: Floats
    """The solutions. Shape (rows, dimension)."""
    variance: Floats
    """Of (Gram + ridge)^-1 entry 0, 0 and the mean of the diagonal from `first` to `last`.

    Shape (rows, 2), or (0, 2) where it is not wanted.
    """


@compiled
def solve_block(
    problem: Problem, begin: int, end: int, solutions: Solutions, inverses: Floats
) -> None:
    """Solve the rows from `begin` to `end`, `WIDTH` at a time.

    Where variances are wanted the inverses of rows with ratings are added up in `inverses`: the
    triangle packed row by row, `WIDTH` partial sums for each entry.
    """
    d = problem.dimension
    size = (problem.width + 1) * _stride(problem)
    grams = np.zeros(size * WIDTH, np.float32)
    system = np.empty((d * (d + 3) // 2 + WIDTH) * WIDTH, np.float32)
    weights = np.zeros(WIDTH, np.float32)
    rated = np.zeros(WIDTH, np.float32)
    solution = np.empty(max(d, 2) * WIDTH, np.float32)
    rest = np.empty(CHUNK, np.float32)
    for group in range(begin, end, WIDTH):
        present = min(WIDTH, end - group)
        grams[:] = 0
        rated[:] = 0
        for lane in range(present):
            start, stop = problem.offsets[group + lane], problem.offsets[group + lane + 1]
            gram = grams[lane * size : (lane + 1) * size]
            weight = np.float32(0)
            for chunk in range(start, stop, CHUNK):
                end_of_chunk = min(chunk + CHUNK, stop)
                for t in range(chunk, end_of_chunk):
                    share = 2 * problem.vector_of[t]
                    rest[t - chunk] = problem.target[t] - problem.shares[share]
                    weight += problem.shares[share + 1]
                _add_ratings(gram, problem, rest, chunk, end_of_chunk)
            weights[lane] = weight
            rated[lane] = stop > start
        _deal(grams, problem, system)
        _add_ridge(system, problem, weights)
        _factorize(system, d)
        _substitute(system, d, solution)
        for lane in range(present):
            for a in range(d):
                solutions.profile[group + lane, a] = solution[a * WIDTH + lane]
        if len(solutions.variance):
            _invert(system, problem, rated, inverses, solution)
            for lane in range(present):
                solutions.variance[group + lane, 0] = solution[lane]
                solutions.variance[group + lane, 1] = solution[WIDTH + lane]


@compiled
def _stride(problem: Problem) -> int:
    """Length of a row of the sums: whole vectors."""
    return (problem.width + WIDTH - 1) // WIDTH * WIDTH


@compiled
def _add_ratings(gram: Floats, problem: Problem, rest: Floats, start: int, stop: int) -> None:
    """Add Σ v v' (its lower triangle at least) and, as the last row, Σ rest v.

    Two column vectors share each number they are multiplied with. Rows that reach into the first
    of the two only are a tile of their own. A vector that would stick out at the end starts
    earlier; its index in `gram` is not shifted.
    """
    width = problem.width
    for block in range(0, width, 2 * WIDTH):
        if width - block >= WIDTH:
            _add_tile(simd.zeros(8), gram, problem, rest, start, stop, block)
        else:
            _add_tile(simd.zeros(4), gram, problem, rest, start, stop, block)
        for row in range(block + WIDTH, width, PAIRS_IN_REGISTERS):
            count = min(PAIRS_IN_REGISTERS, width - row)
            if count == 12:
                _add_pair(simd.zeros(24), gram, problem, rest, start, stop, block, row)
            elif count == 8:
                _add_pair(simd.zeros(16), gram, problem, rest, start, stop, block, row)
            else:
                _add_pair(simd.zeros(8), gram, problem, rest, start, stop, block, row)


@compiled
def _add_tile(
    sums: Any, gram: Floats, problem: Problem, rest: Floats, start: int, stop: int, block: int
) -> None:
    """Add to a tile on the diagonal, and to the right-hand side; `sums` are zeros, one a row."""
    vector_of, vectors = problem.vector_of, problem.vectors
    width = problem.width
    stride = _stride(problem)
    column = min(block, width - WIDTH)
    right = simd.spread(np.float32(0))
    for t in range(start, stop):
        if block == 0:
            soon = vector_of[min(t + AHEAD, len(vector_of) - 1)] * width
            simd.prefetch(vectors, soon)
            simd.prefetch(vectors, soon + width - 1)
        v = vector_of[t] * width
        x = simd.load(vectors, v + column)
        sums = simd.add_outer(sums, (x,), vectors, v + block)
        right = simd.add_product(right, simd.spread(rest[t - start]), x)
    simd.accumulate(gram, block * stride + block, stride, sums, 1)
    simd.accumulate(gram, width * stride + block, stride, (right,), 1)


@compiled
def _add_pair(
    sums: Any,
    gram: Floats,
    problem: Problem,
    rest: Floats,
    start: int,
    stop: int,
    block: int,
    row: int,
) -> None:
    """Add to two tiles side by side, from `row` down; `sums` are zeros, two a row."""
    vector_of, vectors = problem.vector_of, problem.vectors
    width = problem.width
    stride = _stride(problem)
    column = min(block + WIDTH, width - WIDTH)
    right = simd.spread(np.float32(0))
    for t in range(start, stop):
        v = vector_of[t] * width
        x = simd.load(vectors, v + block)
        y = simd.load(vectors, v + column)
        sums = simd.add_outer(sums, (x, y), vectors, v + row)
        right = simd.add_product(right, simd.spread(rest[t - start]), y)
    simd.accumulate(gram, row * stride + block, stride, sums, 2)
    if row == block + WIDTH:
        simd.accumulate(gram, width * stride + block + WIDTH, stride, (right,), 1)


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
            simd.transpose(system, to, grams, start + b, size)


@compiled
def _add_ridge(system: Floats, problem: Problem, weights: Floats) -> None:
    """Add the ridge to the triangle, each row's own weight to its diagonal, the pull at last."""
    at = 0
    for a in range(problem.dimension):
        for b in range(a + 1):
            ridge = simd.spread(problem.ridge[a * problem.dimension + b])
            simd.store(system, at, simd.add(simd.load(system, at), ridge))
            at += WIDTH
        if problem.first <= a < problem.last:
            diagonal = simd.add(simd.load(system, at - WIDTH), simd.load(weights, 0))
            simd.store(system, at - WIDTH, diagonal)
    for a in range(problem.dimension):
        pull = simd.spread(problem.pull[a])
        simd.store(system, at, simd.add(simd.load(system, at), pull))
        at += WIDTH


@compiled
def _factorize(system: Floats, d: int) -> None:
    """Replace the triangle by its Cholesky factor L and the right-hand side b by inv(L) b.

    The diagonal becomes 1 / L_jj, or 0 where the pivot is lost in rounding.
    """
    for j in range(d):
        row_j = j * (j + 1) // 2 * WIDTH
        at = row_j + j * WIDTH
        diagonal = simd.load(system, at)
        pivot = diagonal
        for k in range(row_j, at, WIDTH):
            factor = simd.load(system, k)
            pivot = simd.subtract_product(pivot, factor, factor)
        inverse = simd.inverse_root(pivot, simd.multiply(diagonal, simd.spread(SMALLEST_PIVOT)))
        simd.store(system, at, inverse)
        for i in range(j + 1, d + 1):
            row_i = i * (i + 1) // 2 * WIDTH
            total = simd.load(system, row_i + j * WIDTH)
            for k in range(0, j * WIDTH, WIDTH):
                left, right = simd.load(system, row_i + k), simd.load(system, row_j + k)
                total = simd.subtract_product(total, left, right)
            simd.store(system, row_i + j * WIDTH, simd.multiply(total, inverse))


@compiled
def _substitute(system: Floats, d: int, solution: Floats) -> None:
    """Solve L' x = inv(L) b from the last coordinate to the first."""
    right_side = d * (d + 1) // 2
    for j in range(d - 1, -1, -1):
        total = simd.load(system, (right_side + j) * WIDTH)
        for i in range(j + 1, d):
            factor = simd.load(system, (i * (i + 1) // 2 + j) * WIDTH)
            total = simd.subtract_product(total, factor, simd.load(solution, i * WIDTH))
        inverse = simd.load(system, (j * (j + 1) // 2 + j) * WIDTH)
        simd.store(solution, j * WIDTH, simd.multiply(total, inverse))


@compiled
def _invert(
    system: Floats, problem: Problem, rated: Floats, inverses: Floats, variance: Floats
) -> None:
    """Add (L L')^-1 of the rows that have ratings to `inverses`, and note its diagonal.

    The factor is replaced by its inverse M, row by row; then (L L')^-1 = M' M.
    """
    d = problem.dimension
    for i in range(1, d):
        row = i * (i + 1) // 2 * WIDTH
        inverse = simd.load(system, row + i * WIDTH)
        for column in range(i):
            total = simd.spread(np.float32(0))
            for k in range(column, i):
                m = simd.load(system, (k * (k + 1) // 2 + column) * WIDTH)
                total = simd.subtract_product(total, simd.load(system, row + k * WIDTH), m)
            simd.store(system, row + column * WIDTH, simd.multiply(total, inverse))
    here = simd.load(rated, 0)
    latent = simd.spread(np.float32(0))
    share = simd.spread(np.float32(1) / np.float32(max(problem.last - problem.first, 1)))
    at = 0
    for a in range(d):
        for b in range(a + 1):
            total = simd.spread(np.float32(0))
            for k in range(a, d):
                row = k * (k + 1) // 2 * WIDTH
                left = simd.load(system, row + a * WIDTH)
                right = simd.load(system, row + b * WIDTH)
                total = simd.add_product(total, left, right)
            simd.store(inverses, at, simd.add_product(simd.load(inverses, at), total, here))
            at += WIDTH
            if a == b == 0:
                simd.store(variance, 0, total)
            if a == b and problem.first <= a < problem.last:
                latent = simd.add_product(latent, total, share)
    simd.store(variance, WIDTH, latent)
