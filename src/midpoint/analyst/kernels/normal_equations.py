"""Compiled normal equations: summed in registers, solved side by side.

Two things make it fast. The running sums of a row's normal equations stay in registers while its
ratings pass by. Then `WIDTH` rows are solved at a time, each in a lane of its own, so that roots
and divisions are vector operations as well. Rows do not touch each other, hence the result is the
same bit for bit however many threads share them.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels import simd
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.gram import Packing, add_squares, summed_rows
from midpoint.analyst.kernels.simd import WIDTH
from midpoint.analyst.kernels.small_systems import (
    add_squares_of_inverse,
    factorize,
    invert,
    substitute,
    system_stride,
)
from midpoint.analyst.kernels.triangle import add_triangle, deal_triangle, fits_registers

Floats = NDArray[np.float32]

PACKED: Final = 6144
"""Numbers copied together before they are summed: they stay in the nearest cache.

Sums this short also keep float32 exact.
"""


class Problem(NamedTuple):
    """What the kernels read; all arrays are flat and read-only."""

    offsets: NDArray[np.int64]
    """Ratings of row i are `offsets[i]:offsets[i + 1]`. Shape (rows + 1,)."""
    vector_of: NDArray[np.int32]
    """Which vector each rating belongs to. Shape (ratings,)."""
    target: Floats
    """The ratings. Shape (ratings,)."""
    vectors: Floats
    """The vectors one after the other, each followed by what it explains of a rating by itself,
    by what it adds to its row's ridge, and by zeros up to `width`. Shape (vectors * width,).
    """
    width: int
    """How far vectors are apart: `padded_width(dimension)`."""
    dimension: int
    """Length of a vector."""
    first: int
    """The first coordinate to which a vector's own ridge applies."""
    last: int
    """The one after the last."""
    ridge: Floats
    """The ridge of every row. Shape (dimension ** 2,)."""
    pull: Floats
    """What is added to the right-hand side of every row, or of each row its own. Shape (dimension,)
    or (rows * dimension,)."""


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
    problem: Problem, begin: int, end: int, solutions: Solutions, inverse: NDArray[np.float64]
) -> None:
    """Solve the rows from `begin` to `end`, `WIDTH` at a time.

    Where variances are wanted the sum of the inverses of rows with ratings is written to
    `inverse`: its lower triangle, shape (dimension, dimension).
    """
    d = problem.dimension
    size = summed_rows(d) * problem.width
    grams = np.empty(size * WIDTH, np.float32)
    packed = np.empty(max(PACKED, 16 * problem.width), np.float32)
    system = np.empty(((d + 1) * system_stride(d) + WIDTH) * WIDTH, np.float32)
    total = np.zeros_like(system) if len(solutions.variance) else system[:0]
    diagonal = np.empty(d * WIDTH, np.float32)
    weights = np.zeros(WIDTH, np.float32)
    rated = np.zeros(WIDTH, np.float32)
    pulls = np.empty(d * WIDTH, np.float32)
    for group in range(begin, end, WIDTH):
        present = min(WIDTH, end - group)
        grams[:] = 0
        rated[:] = 0
        for lane in range(present):
            start, stop = problem.offsets[group + lane], problem.offsets[group + lane + 1]
            gram = grams[lane * size : (lane + 1) * size]
            weights[lane] = _add_ratings(gram, problem, packed, start, stop)
            rated[lane] = stop > start
        if fits_registers(d):
            deal_triangle(grams, problem.width, d, system, packed)
        else:
            _deal(grams, problem, system)
        _deal_pulls(pulls, problem, group, end)
        _add_ridge(system, problem, weights, pulls)
        factorize(system, d)
        substitute(system, d)
        solution = d * system_stride(d) * WIDTH
        for lane in range(present):
            for a in range(d):
                solutions.profile[group + lane, a] = system[solution + a * WIDTH + lane]
        if len(solutions.variance):
            invert(system, d)
            add_squares_of_inverse(system, d, simd.load(rated, 0), total, diagonal)
            _write_variance(solutions, problem, diagonal, group, present)
    if len(solutions.variance):
        _add_lanes(inverse, total, d)


@compiled
def _add_ratings(gram: Floats, problem: Problem, packed: Floats, start: int, stop: int) -> Any:
    """Add Σ v v' and, as row d, Σ rest v; return what the vectors add to the ridge."""
    width, d = problem.width, problem.dimension
    vectors, vector_of, target = problem.vectors, problem.vector_of, problem.target
    chunk = len(packed) // width
    weight = np.float32(0)
    for first in range(start, stop, chunk):
        count = min(chunk, stop - first)
        some = Packing(packed, vectors, vector_of, target, first, count, width, d)
        if fits_registers(d):
            weight += add_triangle(gram, some)
        else:
            weight += add_squares(gram, some)
    return weight


@compiled
def _deal(grams: Floats, problem: Problem, system: Floats) -> None:
    """Copy each row's sums into its lane of the system.

    Whole squares are copied; what sticks out of a row is overwritten by the next one.
    """
    width, d = problem.width, problem.dimension
    stride = system_stride(d)
    size = summed_rows(d) * width
    for a in range(d + 1):
        for b in range(0, min(a + 1, d), WIDTH):
            simd.transpose(system, (a * stride + b) * WIDTH, grams, a * width + b, size)


@compiled
def _deal_pulls(pulls: Floats, problem: Problem, group: int, end: int) -> None:
    """Copy what each row's right-hand side gets into its lane."""
    d = problem.dimension
    is_own = len(problem.pull) > d
    for lane in range(WIDTH):
        at = min(group + lane, end - 1) * d if is_own else 0
        for a in range(d):
            pulls[a * WIDTH + lane] = problem.pull[at + a]


@compiled
def _add_ridge(system: Floats, problem: Problem, weights: Floats, pulls: Floats) -> None:
    """Add the ridge to the triangle, each row's own weight to its diagonal, the pull at last."""
    d = problem.dimension
    step = system_stride(d) * WIDTH
    for a in range(d):
        for b in range(a + 1):
            at = a * step + b * WIDTH
            ridge = simd.spread(problem.ridge[a * d + b])
            simd.store(system, at, simd.add(simd.load(system, at), ridge))
        if problem.first <= a < problem.last:
            at = a * step + a * WIDTH
            simd.store(system, at, simd.add(simd.load(system, at), simd.load(weights, 0)))
        at = d * step + a * WIDTH
        pull = simd.load(pulls, a * WIDTH)
        simd.store(system, at, simd.add(simd.load(system, at), pull))


@compiled
def _write_variance(
    solutions: Solutions, problem: Problem, diagonal: Floats, group: int, present: int
) -> None:
    """Note the level's variance and the mean one of the latent coordinates."""
    share = np.float32(1) / np.float32(max(problem.last - problem.first, 1))
    for lane in range(present):
        latent = np.float32(0)
        for a in range(problem.first, problem.last):
            latent += diagonal[a * WIDTH + lane]
        solutions.variance[group + lane, 0] = diagonal[lane]
        solutions.variance[group + lane, 1] = latent * share


@compiled
def _add_lanes(inverse: NDArray[np.float64], total: Floats, d: int) -> None:
    """Write the sum over all lanes."""
    stride = system_stride(d)
    for a in range(d):
        for b in range(a + 1):
            at = (a * stride + b) * WIDTH
            inverse[a, b] = total[at : at + WIDTH].astype(np.float64).sum()
