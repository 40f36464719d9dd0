"""Compiled solutions of `WIDTH` small systems side by side, each in a lane of its own.

Entry i, j of every system's triangle is one vector, at (i stride + j) WIDTH; row d is the
right-hand side. Tiles of four rows and two columns keep the processor's multipliers busy: each
number that is read serves several of their sums.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels import simd
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.simd import WIDTH

Floats = NDArray[np.float32]

SMALLEST_PIVOT: Final = np.float32(1e-5)
"""A pivot below this part of its diagonal entry is rounding, not information."""


@compiled
def system_stride(d: int) -> int:
    """Return how far rows are apart: an odd number, so that columns spread over the cache."""
    return d | 1


@compiled
def factorize(system: Floats, d: int) -> None:
    """Replace the triangle by its Cholesky factor L and the right-hand side b by inv(L) b.

    The diagonal becomes 1 / L_jj, or 0 where the pivot is lost in rounding.
    """
    step = system_stride(d) * WIDTH
    for j in range(0, d - 1, 2):
        upper = j * step
        below, first, second = _factorize_corner(system, upper, j * WIDTH, step)
        start = j + 2
        tiled = start + (d + 1 - start) // 4 * 4
        for i in range(start, tiled, 4):
            row = i * step
            at = row + j * WIDTH
            tile = simd.load_tile(8, 2, system, at, step)
            tile = _take_products(tile, system, row, upper, step, j)
            _finish_row(system, at, tile[0], tile[1], below, first, second)
            _finish_row(system, at + step, tile[2], tile[3], below, first, second)
            _finish_row(system, at + 2 * step, tile[4], tile[5], below, first, second)
            _finish_row(system, at + 3 * step, tile[6], tile[7], below, first, second)
        for row in range(tiled * step, (d + 1) * step, step):
            at = row + j * WIDTH
            tile = simd.load_tile(2, 2, system, at, step)
            tile = _take_products(tile, system, row, upper, step, j)
            _finish_row(system, at, tile[0], tile[1], below, first, second)
    if d % 2:
        _factorize_last_column(system, d, step)


@compiled
def _sum_products(
    sums: Any,
    system: Floats,
    left: int,
    left_step: int,
    right: int,
    right_step: int,
    left_next: int,
    right_next: int,
    count: int,
) -> Any:
    """Add `count` products to each of the sums of a tile that is two columns wide."""
    for _ in range(count):
        sums = simd.add_products(sums, 2, 1, system, left, left_step, right, right_step)
        left += left_next
        right += right_next
    return sums


@compiled
def _take_products(tile: Any, system: Floats, left: int, right: int, step: int, count: int) -> Any:
    """Take the products of what is left of two columns off a tile, one after the other.

    What remains is often far smaller than what is taken: a sum of all would lose its digits.
    """
    for k in range(0, count * WIDTH, WIDTH):
        tile = simd.add_products(tile, 2, -1, system, left + k, step, right + k, step)
    return tile


@compiled
def _factorize_corner(system: Floats, upper: int, column: int, step: int) -> Any:
    """Factorize two rows at the diagonal; return L_10, 1 / L_00 and 1 / L_11."""
    at = upper + column
    tile = simd.load_tile(4, 2, system, at, step)
    rest = _take_products(tile, system, upper, upper, step, column // WIDTH)
    threshold = simd.spread(SMALLEST_PIVOT)
    first = simd.inverse_root(rest[0], simd.multiply(tile[0], threshold))
    below = simd.multiply(rest[2], first)
    pivot = simd.subtract_product(rest[3], below, below)
    second = simd.inverse_root(pivot, simd.multiply(tile[3], threshold))
    simd.store(system, at, first)
    simd.store(system, at + step, below)
    simd.store(system, at + step + WIDTH, second)
    return below, first, second


@compiled
def _finish_row(
    system: Floats, at: int, left: Any, right: Any, below: Any, first: Any, second: Any
) -> None:
    """Divide what remains of two neighbours of a row by the corner."""
    left = simd.multiply(left, first)
    right = simd.multiply(simd.subtract_product(right, left, below), second)
    simd.store(system, at, left)
    simd.store(system, at + WIDTH, right)


@compiled
def _factorize_last_column(system: Floats, d: int, step: int) -> None:
    """Factorize the last column of an odd number: its diagonal and the right-hand side."""
    row = (d - 1) * step
    diagonal = simd.load(system, row + (d - 1) * WIDTH)
    pivot, right = diagonal, simd.load(system, row + step + (d - 1) * WIDTH)
    for k in range(row, row + (d - 1) * WIDTH, WIDTH):
        factor = simd.load(system, k)
        pivot = simd.subtract_product(pivot, factor, factor)
        right = simd.subtract_product(right, factor, simd.load(system, k + step))
    inverse = simd.inverse_root(pivot, simd.multiply(diagonal, simd.spread(SMALLEST_PIVOT)))
    simd.store(system, row + (d - 1) * WIDTH, inverse)
    simd.store(system, row + step + (d - 1) * WIDTH, simd.multiply(right, inverse))


@compiled
def substitute(system: Floats, d: int) -> None:
    """Replace the right-hand side inv(L) b by the solution x of L' x = inv(L) b."""
    step = system_stride(d) * WIDTH
    solution = d * step
    for j in range(d - 1, -1, -1):
        row = j * step
        at = solution + j * WIDTH
        x = simd.multiply(simd.load(system, at), simd.load(system, row + j * WIDTH))
        simd.store(system, at, x)
        for i in range(0, j * WIDTH, WIDTH):
            rest = simd.subtract_product(
                simd.load(system, solution + i), simd.load(system, row + i), x
            )
            simd.store(system, solution + i, rest)


@compiled
def invert(system: Floats, d: int) -> None:
    """Replace the factor L by its inverse M, with zeros right of the diagonal in squares of four.

    M_ij = -Σ_(j <= k < i) L_ik M_kj / L_ii, for four rows at a time from their sums over what is
    left of their square, and one by one in the last rows.
    """
    step = system_stride(d) * WIDTH
    tiled = d // 4 * 4
    for i in range(0, tiled, 4):
        row = i * step
        for j in range(0, i, 2):
            at = j * WIDTH
            s = _sum_products(
                simd.zeros(8), system, row + at, step, j * step + at, WIDTH, WIDTH, step, i - j
            )
            _finish_column(system, row + i * WIDTH, step, row + at, s[0], s[2], s[4], s[6])
            _finish_column(system, row + i * WIDTH, step, row + at + WIDTH, s[1], s[3], s[5], s[7])
        for other in range(1, 4):
            _invert_row(system, i + other, i, step)
        _clear_corner(system, row + i * WIDTH, step)
    for i in range(tiled, d):
        row = i * step
        inverse = simd.load(system, row + i * WIDTH)
        for j in range(0, tiled, 2):
            at = j * WIDTH
            s = _sum_products(
                simd.zeros(2), system, row + at, step, j * step + at, WIDTH, WIDTH, step, tiled - j
            )
            _finish_pair(system, row, i, j, tiled, step, inverse, s[0], s[1])
        _invert_row(system, i, tiled, step)


@compiled
def _finish_column(
    system: Floats, corner: int, step: int, at: int, s0: Any, s1: Any, s2: Any, s3: Any
) -> None:
    """Solve four rows of one column, given the sums over what is left of their corner."""
    zero = simd.spread(np.float32(0))
    m0 = simd.multiply(simd.subtract(zero, s0), simd.load(system, corner))
    simd.store(system, at, m0)
    row = corner + step
    s1 = simd.add_product(s1, simd.load(system, row), m0)
    m1 = simd.multiply(simd.subtract(zero, s1), simd.load(system, row + WIDTH))
    simd.store(system, at + step, m1)
    row += step
    s2 = simd.add_product(s2, simd.load(system, row), m0)
    s2 = simd.add_product(s2, simd.load(system, row + WIDTH), m1)
    m2 = simd.multiply(simd.subtract(zero, s2), simd.load(system, row + 2 * WIDTH))
    simd.store(system, at + 2 * step, m2)
    row += step
    s3 = simd.add_product(s3, simd.load(system, row), m0)
    s3 = simd.add_product(s3, simd.load(system, row + WIDTH), m1)
    s3 = simd.add_product(s3, simd.load(system, row + 2 * WIDTH), m2)
    m3 = simd.multiply(simd.subtract(zero, s3), simd.load(system, row + 3 * WIDTH))
    simd.store(system, at + 3 * step, m3)


@compiled
def _finish_pair(
    system: Floats, row: int, i: int, j: int, k: int, step: int, inverse: Any, left: Any, right: Any
) -> None:
    """Add rows `k` to `i` to the sums of two columns of one row, and divide by its diagonal."""
    zero = simd.spread(np.float32(0))
    for other in range(k, i):
        factor = simd.load(system, row + other * WIDTH)
        m = other * step + j * WIDTH
        left = simd.add_product(left, factor, simd.load(system, m))
        right = simd.add_product(right, factor, simd.load(system, m + WIDTH))
    simd.store(system, row + j * WIDTH, simd.multiply(simd.subtract(zero, left), inverse))
    simd.store(system, row + (j + 1) * WIDTH, simd.multiply(simd.subtract(zero, right), inverse))


@compiled
def _invert_row(system: Floats, i: int, start: int, step: int) -> None:
    """Invert the part of row `i` from column `start` on."""
    row = i * step
    inverse = simd.load(system, row + i * WIDTH)
    for column in range(start, i):
        total = simd.spread(np.float32(0))
        for k in range(column, i):
            m = simd.load(system, k * step + column * WIDTH)
            total = simd.subtract_product(total, simd.load(system, row + k * WIDTH), m)
        simd.store(system, row + column * WIDTH, simd.multiply(total, inverse))


@compiled
def _clear_corner(system: Floats, corner: int, step: int) -> None:
    """Write zeros right of the diagonal of a square of four."""
    zero = simd.spread(np.float32(0))
    for r in range(3):
        for c in range(r + 1, 4):
            simd.store(system, corner + r * step + c * WIDTH, zero)


@compiled
def add_squares_of_inverse(
    system: Floats, d: int, rated: Any, total: Floats, diagonal: Floats
) -> None:
    """Add M' M = (L L')^-1 times `rated` to `total`, and write its diagonal.

    `total` is laid out as the system is; of a square of four on the diagonal all is added.
    """
    step = system_stride(d) * WIDTH
    tiled = d // 4 * 4
    for a in range(0, tiled, 4):
        row = a * step
        for b in range(0, a + 4, 2):
            s = _sum_products(
                simd.zeros(8),
                system, row + a * WIDTH, WIDTH, row + b * WIDTH, WIDTH, step, step, d - a,
            )  # fmt: skip
            simd.accumulate_where(total, row + b * WIDTH, step, s, 2, rated)
            if b == a:
                simd.store(diagonal, a * WIDTH, s[0])
                simd.store(diagonal, (a + 1) * WIDTH, s[3])
            elif b == a + 2:
                simd.store(diagonal, b * WIDTH, s[4])
                simd.store(diagonal, (b + 1) * WIDTH, s[7])
    for a in range(tiled, d):
        for b in range(a + 1):
            square = simd.spread(np.float32(0))
            for k in range(a * step, d * step, step):
                left, right = simd.load(system, k + a * WIDTH), simd.load(system, k + b * WIDTH)
                square = simd.add_product(square, left, right)
            at = a * step + b * WIDTH
            simd.store(total, at, simd.add_product(simd.load(total, at), square, rated))
            if b == a:
                simd.store(diagonal, a * WIDTH, square)
