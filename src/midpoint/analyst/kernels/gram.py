"""Compiled sums of outer products: the triangle stays in registers while the ratings pass by.

The vectors of some ratings are copied one after the other, `width` numbers each, of which the first
d are coordinates and the next is what the rating leaves to explain. Row d of the sums is then the
right-hand side. Panels of `WIDE` columns are summed one by one, from the diagonal down. The first
panel copies the vectors a little before it needs them: multipliers and memory work side by side.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels import simd
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.simd import MANY_REGISTERS, WIDE, WIDTH

Floats = NDArray[np.float32]

AHEAD: Final = 32
"""How many ratings before its use a vector is copied."""
MOST_AT_DIAGONAL: Final = 22 if MANY_REGISTERS else 2
"""Rows of wide sums that the registers hold beside the eight rows at the diagonal."""
MOST_BELOW: Final = 24 if MANY_REGISTERS else 4
"""Rows of wide sums that they hold alone."""


@compiled
def summed_rows(d: int) -> int:
    """Return how many rows are summed: d + 1 at least, and two more than a multiple of four."""
    return (d + 2) // 4 * 4 + 2


@compiled
def padded_width(d: int) -> int:
    """Return the least width: whole vectors, with room for the rows and for two more numbers."""
    return (max(summed_rows(d), d + 2) + WIDTH - 1) // WIDTH * WIDTH


class Packing(NamedTuple):
    """Some ratings, and where their vectors are copied to; all arrays are flat."""

    packed: Floats
    """The copies. Shape (at least ratings * width,)."""
    vectors: Floats
    """All vectors, each followed by what it explains of a rating by itself and by a weight."""
    vector_of: NDArray[np.int32]
    """Which vector each rating belongs to."""
    target: Floats
    """The ratings."""
    first: int
    """The first rating."""
    ratings: int
    """How many there are."""
    width: int
    """How far vectors are apart: `padded_width(d)`."""
    d: int
    """Length of a vector."""


@compiled
def add_squares(gram: Floats, some: Packing) -> Any:
    """Add Σ v v' (its lower triangle at least) and, as row d, Σ rest v; return Σ weight.

    Rows are `width` apart.
    """
    packed, count, width, d = some.packed, some.ratings, some.width, some.d
    rows = summed_rows(d)
    weight = np.float32(0)
    for t in range(count if d <= WIDTH else min(AHEAD, count)):
        weight += _pack(some, t)
    for column in range(0, d, WIDE):
        if d - column <= WIDTH:
            _add_last_panel(gram, packed, count, width, column, rows - column)
            continue
        at_diagonal = min(rows - column - WIDTH, MOST_AT_DIAGONAL)
        weight += _add_at_diagonal(gram, some, column, at_diagonal)
        for row in range(column + WIDTH + at_diagonal, rows, MOST_BELOW):
            _add_below(gram, packed, count, width, column, row, min(MOST_BELOW, rows - row))
    return weight


@compiled
def _pack(some: Packing, t: int) -> Any:
    """Copy the vector of a rating, followed by what it leaves to explain; return its weight."""
    v, to = some.vector_of[some.first + t] * some.width, t * some.width
    for part in range(0, some.width, WIDTH):
        simd.store(some.packed, to + part, simd.load(some.vectors, v + part))
    some.packed[to + some.d] = some.target[some.first + t] - some.vectors[v + some.d]
    return some.vectors[v + some.d + 1]


@compiled
def _add_last_panel(
    gram: Floats, packed: Floats, count: int, width: int, column: int, rows: int
) -> None:
    """Add to a last panel of at most `WIDTH` columns."""
    if rows == 2:
        _add_half(simd.zeros(2), gram, packed, count, width, column)
    elif rows == 6:
        _add_half(simd.zeros(6), gram, packed, count, width, column)
    else:
        _add_half(simd.zeros(10), gram, packed, count, width, column)


@compiled
def _add_half(sums: Any, gram: Floats, packed: Floats, count: int, width: int, column: int) -> None:
    """Add to rows of half a panel; `sums` are zeros, one a row."""
    for v in range(column, column + count * width, width):
        sums = simd.add_outer(sums, (simd.load(packed, v),), packed, v)
    simd.accumulate(gram, column * width + column, width, sums, 1)


@compiled
def _add_at_diagonal(gram: Floats, some: Packing, column: int, rows: int) -> Any:
    """Add to the first rows of a panel: eight that need its first half only, then `rows` more."""
    if rows == 2:
        return _add_corner(simd.wide_zeros(2), gram, some, column)
    if rows == 6:
        return _add_corner(simd.wide_zeros(6), gram, some, column)
    if rows == 10:
        return _add_corner(simd.wide_zeros(10), gram, some, column)
    if rows == 14:
        return _add_corner(simd.wide_zeros(14), gram, some, column)
    if rows == 18:
        return _add_corner(simd.wide_zeros(18), gram, some, column)
    return _add_corner(simd.wide_zeros(22), gram, some, column)


@compiled
def _add_corner(sums: Any, gram: Floats, some: Packing, column: int) -> Any:
    """Add to eight rows of half a panel and to rows of a whole one; `sums` are zeros.

    The first panel also copies the vectors of later ratings, and returns their weight.
    """
    packed, width = some.packed, some.width
    corner = simd.zeros(8)
    weight = np.float32(0)
    to_pack = some.ratings - AHEAD if column == 0 else 0
    for t in range(some.ratings):
        if t < to_pack:
            weight += _pack(some, t + AHEAD)
        v = t * width + column
        x = simd.load_wide(packed, v)
        corner = simd.add_outer(corner, (simd.low(x),), packed, v)
        sums = simd.add_outer(sums, (x,), packed, v + WIDTH)
    simd.accumulate(gram, column * width + column, width, corner, 1)
    simd.accumulate(gram, (column + WIDTH) * width + column, width, sums, 1)
    return weight


@compiled
def _add_below(
    gram: Floats, packed: Floats, count: int, width: int, column: int, row: int, rows: int
) -> None:
    """Add to further rows of a panel."""
    if rows == 4:
        _add_rows(simd.wide_zeros(4), gram, packed, count, width, column, row)
    elif rows == 8:
        _add_rows(simd.wide_zeros(8), gram, packed, count, width, column, row)
    elif rows == 12:
        _add_rows(simd.wide_zeros(12), gram, packed, count, width, column, row)
    elif rows == 16:
        _add_rows(simd.wide_zeros(16), gram, packed, count, width, column, row)
    elif rows == 20:
        _add_rows(simd.wide_zeros(20), gram, packed, count, width, column, row)
    else:
        _add_rows(simd.wide_zeros(24), gram, packed, count, width, column, row)


@compiled
def _add_rows(
    sums: Any, gram: Floats, packed: Floats, count: int, width: int, column: int, row: int
) -> None:
    """Add to rows of a whole panel from `row` down; `sums` are zeros, one a row."""
    for v in range(0, count * width, width):
        sums = simd.add_outer(sums, (simd.load_wide(packed, v + column),), packed, v + row)
    simd.accumulate(gram, row * width + column, width, sums, 1)
