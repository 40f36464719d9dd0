"""Compiled sums for vectors of 18 to 23 numbers: the whole triangle in registers, in one pass.

A vector is cut into its first eight numbers, the next eight, and the rest of it, which what the
rating leaves to explain follows. Products with any of the next eight, or of the rest with the first
sixteen, are rows of `WIDE` numbers as in `gram`. What is left are two small triangles: that of the
first eight, and that of the rest. Side by side they are one wide vector x, and its products with
its own rotations, x_i x_(i + k) for k from 0 to 4, hold every pair: 5 instructions instead of 14.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels import simd
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.gram import Packing, summed_rows
from midpoint.analyst.kernels.simd import MANY_REGISTERS, WIDE, WIDTH
from midpoint.analyst.kernels.small_systems import system_stride

Floats = NDArray[np.float32]

SHORTEST: Final = 18
"""Length of the shortest: `gram` has rows for the 13 that are summed of it."""
USUAL: Final = 21
"""Length of most vectors: 20 factors and the level."""
LONGEST: Final = WIDE + WIDTH - 1
"""Length of the longest: what is left to explain comes after it in the same vector."""
ROTATIONS: Final = WIDTH // 2 + 1
"""As many rotations hold every pair of eight numbers."""
RIGHT: Final = ROTATIONS
"""Where the first sixteen numbers of the right-hand side are among the rows of the sums."""


@compiled
def fits_registers(d: int) -> bool:
    """Return whether vectors of this length are summed here."""
    return MANY_REGISTERS and SHORTEST <= d <= LONGEST


@compiled
def add_triangle(gram: Floats, some: Packing) -> Any:
    """Add to the sums of a row, in the order that `deal_triangle` reads; return Σ weight."""
    if some.d <= USUAL:
        return _add(simd.wide_zeros(13), gram, some)
    return _add(simd.wide_zeros(15), gram, some)


@compiled
def _add(sums: Any, gram: Floats, some: Packing) -> Any:
    """Add to rows `WIDTH` and below, one for each of `sums`, to rotations and right-hand side."""
    vectors, width, d = some.vectors, some.width, some.d
    vector_of, target = some.vector_of, some.target
    rotations = simd.wide_zeros(5)
    right = simd.spread_wide(np.float32(0))
    weight = np.float32(0)
    for t in range(some.first, some.first + some.ratings):
        v = vector_of[t] * width
        x = simd.load_wide(vectors, v)
        rest = target[t] - vectors[v + d]
        ends = simd.put(simd.join(x, simd.load(vectors, v + WIDE)), d - WIDTH, rest)
        sums = simd.add_outer(sums, (x,), vectors, v + WIDTH)
        right = simd.add_product(right, x, simd.spread_wide(rest))
        rotations = simd.add_rotations(rotations, ends)
        weight += vectors[v + d + 1]
    simd.accumulate(gram, 0, width, rotations, 1)
    simd.accumulate(gram, RIGHT * width, width, (right,), 1)
    simd.accumulate(gram, WIDTH * width, width, sums, 1)
    return weight


@compiled
def deal_triangle(grams: Floats, width: int, d: int, system: Floats, pairs: Floats) -> None:
    """Copy the sums of `WIDTH` rows into their lanes of the system.

    `pairs` holds the rotations in between. Shape (WIDE * WIDTH,).
    """
    size, step = summed_rows(d) * width, system_stride(d) * WIDTH
    for half in range(0, WIDE, WIDTH):
        at = half * WIDTH
        simd.transpose(system, d * step + at, grams, RIGHT * width + half, size)
        for a in range(WIDTH, d):
            simd.transpose(system, a * step + at, grams, a * width + half, size)
    for k in range(ROTATIONS):
        for half in range(0, WIDE, WIDTH):
            simd.transpose(pairs, half * WIDTH, grams, k * width + half, size)
        for i in range(WIDTH):
            j = (i + k) % WIDTH
            a, b = max(i, j), min(i, j)
            simd.store(system, a * step + b * WIDTH, simd.load(pairs, i * WIDTH))
            a, b = a + WIDE, b + WIDE
            if a <= d and b < d:
                product = simd.load(pairs, (WIDTH + i) * WIDTH)
                simd.store(system, a * step + b * WIDTH, product)
