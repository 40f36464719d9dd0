"""Compiled Newton steps of many people at once, each a small positive definite system.

`LANES` systems are factorized side by side, tile by tile, and their inverses added up. Systems do
not touch each other, and a block of people is added up in its own order, hence the result is the
same bit for bit however many threads share the blocks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels import doubles
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.doubles import LANES, TILE

Float = NDArray[np.float64]


class Curvature(NamedTuple):
    """The curvature of n people in D dimensions, of which d are of the first kind.

    It is precision + blockdiag(chosen_i, rated_i); symmetric matrices are packed, row by row of
    their lower triangle.
    """

    precision: Float
    """Everyone's part. Shape (D, D)."""
    chosen: Float
    """Shape (n, d (d + 1) / 2)."""
    rated: Float
    """Shape (n, r (r + 1) / 2), with r = D - d."""


class Slope(NamedTuple):
    """The slope of each person at a point: pull_i + precision (mean - z_i) - rated_i x_i.

    x are the last r coordinates of z.
    """

    mean: Float
    """Shape (D,)."""
    pull: Float
    """Shape (n, D)."""
    point: Float
    """The z. Shape (n, D)."""


class Steps(NamedTuple):
    """What the systems give."""

    step: Float
    """Curvature^-1 slope of each person. Shape (n, D)."""
    away: Float
    """Cholesky root of curvature^-1 times her noise. Shape (n, D)."""
    doubt: Float
    """The sum of curvature^-1 over all people. Shape (D, D)."""


def newton_steps(
    curvature: Curvature, slope: Slope, noise: Float | None = None, *, doubt: bool = True
) -> Steps:
    """Solve everyone's system; sum the inverses and draw what they leave open where wanted.

    Args:
        curvature: The systems.
        slope: Their right-hand sides.
        noise: Standard normal numbers, for `away`; unless given, it stays empty. Shape (n, D).
        doubt: Whether to sum the inverses; otherwise it stays empty.
    """
    n, D = slope.point.shape
    step, total = np.empty((n, D)), np.zeros((D, D) if doubt else (0, 0))
    given = np.zeros((0, D)) if noise is None else noise
    away = np.empty_like(given)
    _solve(
        Curvature(*map(np.ascontiguousarray, curvature)),
        Slope(*map(np.ascontiguousarray, slope)),
        *(np.ascontiguousarray(given), step, away, total),
    )
    return Steps(step, away, total)


@compiled
def scatter(rows: Float) -> Float:
    """Return rows' rows, for more rows than columns. Shape (D, D)."""
    n, D = rows.shape
    total = np.zeros((D, D))
    for i in range(n):
        for a in range(D):
            x = rows[i, a]
            for b in range(D):
                total[a, b] += x * rows[i, b]
    return total


@compiled
def _solve(
    curvature: Curvature, slope: Slope, noise: Float, step: Float, away: Float, doubt: Float
) -> None:
    """Solve `LANES` systems at a time, in the reverse order of the unknowns.

    With the order reversed curvature = U U', U upper triangular, so that the Cholesky root of the
    inverse is the transpose of U^-1 and need not be factorized again.
    """
    n, D = step.shape
    tiles = (D + TILE - 1) // TILE
    size = tiles * (tiles + 1) // 2 * TILE * TILE * LANES
    factor, inverse, total = np.zeros(size), np.zeros(size), np.zeros(size)
    pivot, lanes = np.empty(tiles * TILE * LANES), np.zeros(tiles * TILE * LANES)
    work, of_person = np.empty(TILE * TILE * LANES), np.empty(D)
    for group in range(0, n, LANES):
        present = min(LANES, n - group)
        _gather(curvature, group, present, factor, tiles)
        _factorize(factor, pivot, work, tiles)
        for lane in range(present):
            _slope_of(curvature, slope, group + lane, of_person)
            _deal(of_person, lanes, lane)
        _forward(factor, pivot, lanes, tiles)
        _backward(factor, pivot, lanes, tiles)
        _collect(lanes, step, group, present)
        if len(noise):
            for lane in range(present):
                _deal(noise[group + lane], lanes, lane)
            _backward(factor, pivot, lanes, tiles)
            _collect(lanes, away, group, present)
        if len(doubt):
            _invert(factor, pivot, inverse, work, tiles)
            _forget(inverse, present)
            _add_squares(inverse, total, tiles)
    _fold(total, doubt)


@compiled
def _deal(numbers: Float, lanes: Float, lane: int) -> None:
    """Put one person's numbers into a lane, reversed."""
    D = len(numbers)
    for a in range(D):
        lanes[(D - 1 - a) * LANES + lane] = numbers[a]
    for at in range(D * LANES, len(lanes)):
        lanes[at] = 0


@compiled
def _collect(lanes: Float, people: Float, group: int, present: int) -> None:
    """Take people's numbers out of their lanes."""
    D = people.shape[1]
    for lane in range(present):
        for a in range(D):
            people[group + lane, a] = lanes[(D - 1 - a) * LANES + lane]


@compiled
def _fold(total: Float, doubt: Float) -> None:
    """Add up the lanes of tiles, and turn the order of the unknowns again."""
    D = len(doubt)
    for a in range(D):
        for b in range(a + 1):
            at = _tile(a // TILE, b // TILE) + (a % TILE * TILE + b % TILE) * LANES
            entry = total[at : at + LANES].sum()
            doubt[D - 1 - a, D - 1 - b] = doubt[D - 1 - b, D - 1 - a] = entry


@compiled
def _order(entries: int) -> int:
    """Return how many rows a packed triangle of so many entries has."""
    rows = 0
    while rows * (rows + 1) // 2 < entries:
        rows += 1
    return rows


@compiled
def _slope_of(curvature: Curvature, slope: Slope, i: int, result: Float) -> None:
    """Write one person's slope."""
    D, r = len(result), _order(curvature.rated.shape[1])
    for a in range(D):
        total = slope.pull[i, a]
        for b in range(D):
            total += curvature.precision[a, b] * (slope.mean[b] - slope.point[i, b])
        result[a] = total
    at = 0
    for a in range(D - r, D):
        for b in range(D - r, a):
            entry = curvature.rated[i, at]
            result[a] -= entry * slope.point[i, b]
            result[b] -= entry * slope.point[i, a]
            at += 1
        result[a] -= curvature.rated[i, at] * slope.point[i, a]
        at += 1


@compiled
def _tile(row: int, column: int) -> int:
    """Return where a tile of `total` begins, row <= tiles; tiles lie row after row."""
    return (row * (row + 1) // 2 + column) * TILE * TILE * LANES


@compiled
def _down(tiles: int, column: int) -> int:
    """Return where a column of the factor begins; it goes from its tile's first row to the end."""
    tile = column // TILE
    before = tile * tiles - tile * (tile - 1) // 2
    return (before * TILE + column % TILE * (tiles - tile)) * TILE * LANES


@compiled
def _across(row: int) -> int:
    """Return where a row of the inverse begins; it goes to the end of its tile."""
    tile = row // TILE
    return (tile * (tile + 1) // 2 * TILE + row % TILE * (tile + 1)) * TILE * LANES


@compiled
def _gather(curvature: Curvature, group: int, present: int, factor: Float, tiles: int) -> None:
    """Lay out the systems, reversed; what is missing to whole tiles and lanes is the identity."""
    precision, chosen, rated = curvature
    D, d = len(precision), _order(chosen.shape[1])
    for column in range(tiles * TILE):
        start = _down(tiles, column) - column // TILE * TILE * LANES
        b = D - 1 - column
        for row in range(column, tiles * TILE):
            at = start + row * LANES
            a = D - 1 - row
            if a < 0:
                for lane in range(LANES):
                    factor[at + lane] = 1.0 if row == column else 0.0
                continue
            shared = precision[b, a]
            for lane in range(LANES):
                factor[at + lane] = shared
            if b < d:  # a <= b
                for lane in range(present):
                    factor[at + lane] += chosen[group + lane, b * (b + 1) // 2 + a]
            elif a >= d:
                entry = (b - d) * (b - d + 1) // 2 + a - d
                for lane in range(present):
                    factor[at + lane] += rated[group + lane, entry]


@compiled
def _factorize(factor: Float, pivot: Float, work: Float, tiles: int) -> None:
    """Replace the matrices by their Cholesky factors; `pivot` holds 1 over the diagonal."""
    for tile in range(tiles):
        for row_tile in range(tile, tiles):
            sums = doubles.no_sums()
            for c in range(tile * TILE):
                start = _down(tiles, c) - c // TILE * TILE * LANES
                sums = doubles.add_tile(
                    sums,
                    factor,
                    start + row_tile * TILE * LANES,
                    factor,
                    start + tile * TILE * LANES,
                )
            doubles.store_tile(work, 0, sums)
            for j in range(TILE):
                column = _down(tiles, tile * TILE + j) - tile * TILE * LANES
                diagonal = column + (tile * TILE + j) * LANES
                inverse = doubles.load(pivot, (tile * TILE + j) * LANES)
                for i in range(j if row_tile == tile else 0, TILE):
                    at = column + (row_tile * TILE + i) * LANES
                    x = doubles.subtract_product(
                        doubles.load(factor, at),
                        doubles.load(work, (i * TILE + j) * LANES),
                        doubles.spread(1.0),
                    )
                    for k in range(j):
                        other = _down(tiles, tile * TILE + k) - tile * TILE * LANES
                        x = doubles.subtract_product(
                            x,
                            doubles.load(factor, other + (row_tile * TILE + i) * LANES),
                            doubles.load(factor, other + (tile * TILE + j) * LANES),
                        )
                    if at == diagonal:
                        inverse = doubles.inverse_root(x)
                        doubles.store(pivot, (tile * TILE + j) * LANES, inverse)
                    doubles.store(factor, at, doubles.multiply(x, inverse))


@compiled
def _forward(factor: Float, pivot: Float, x: Float, tiles: int) -> None:
    """Replace x by factor^-1 x."""
    n = tiles * TILE
    for c in range(n):
        start = _down(tiles, c) - c // TILE * TILE * LANES
        value = doubles.multiply(doubles.load(x, c * LANES), doubles.load(pivot, c * LANES))
        doubles.store(x, c * LANES, value)
        for i in range(c + 1, n):
            rest = doubles.subtract_product(
                doubles.load(x, i * LANES), doubles.load(factor, start + i * LANES), value
            )
            doubles.store(x, i * LANES, rest)


@compiled
def _backward(factor: Float, pivot: Float, x: Float, tiles: int) -> None:
    """Replace x by factor'^-1 x."""
    n = tiles * TILE
    for c in range(n - 1, -1, -1):
        start = _down(tiles, c) - c // TILE * TILE * LANES
        value, other = doubles.load(x, c * LANES), doubles.spread(0.0)
        for i in range(c + 1, n - 1, 2):
            value = doubles.subtract_product(
                value, doubles.load(factor, start + i * LANES), doubles.load(x, i * LANES)
            )
            other = doubles.subtract_product(
                other,
                doubles.load(factor, start + (i + 1) * LANES),
                doubles.load(x, (i + 1) * LANES),
            )
        if (n - c - 1) % 2:
            value = doubles.subtract_product(
                value,
                doubles.load(factor, start + (n - 1) * LANES),
                doubles.load(x, (n - 1) * LANES),
            )
        value = doubles.add_product(value, other, doubles.spread(1.0))
        doubles.store(x, c * LANES, doubles.multiply(value, doubles.load(pivot, c * LANES)))


@compiled
def _invert(factor: Float, pivot: Float, inverse: Float, work: Float, tiles: int) -> None:
    """Write the inverses of the factors: rows, the rest of the last tile zero."""
    zero = doubles.spread(0.0)
    for row_tile in range(tiles):
        for tile in range(row_tile + 1):
            sums = doubles.no_sums()
            for c in range(tile * TILE, row_tile * TILE):
                sums = doubles.add_tile(
                    sums,
                    factor,
                    _down(tiles, c) + (row_tile - c // TILE) * TILE * LANES,
                    inverse,
                    _across(c) + tile * TILE * LANES,
                )
            doubles.store_tile(work, 0, sums)
            for i in range(TILE):
                row = _across(row_tile * TILE + i) + tile * TILE * LANES
                for j in range(TILE):
                    if row_tile == tile and j > i:
                        doubles.store(inverse, row + j * LANES, zero)
                        continue
                    if row_tile == tile and i == j:
                        x = doubles.spread(1.0)
                    else:
                        x = doubles.subtract_product(
                            zero,
                            doubles.load(work, (i * TILE + j) * LANES),
                            doubles.spread(1.0),
                        )
                    for k in range(j if row_tile == tile else 0, i):
                        column = _down(tiles, row_tile * TILE + k)
                        x = doubles.subtract_product(
                            x,
                            doubles.load(factor, column + i * LANES),
                            doubles.load(
                                inverse, _across(row_tile * TILE + k) + (tile * TILE + j) * LANES
                            ),
                        )
                    x = doubles.multiply(x, doubles.load(pivot, (row_tile * TILE + i) * LANES))
                    doubles.store(inverse, row + j * LANES, x)


@compiled
def _forget(inverse: Float, present: int) -> None:
    """Let lanes without a system count nothing."""
    for at in range(0, len(inverse), LANES):
        for lane in range(present, LANES):
            inverse[at + lane] = 0


@compiled
def _add_squares(inverse: Float, total: Float, tiles: int) -> None:
    """Add inverse' inverse, the lower triangle of tiles."""
    for row_tile in range(tiles):
        for tile in range(row_tile + 1):
            sums = doubles.load_tile(total, _tile(row_tile, tile))
            for c in range(row_tile * TILE, tiles * TILE):
                start = _across(c)
                sums = doubles.add_tile(
                    sums,
                    inverse,
                    start + row_tile * TILE * LANES,
                    inverse,
                    start + tile * TILE * LANES,
                )
            doubles.store_tile(total, _tile(row_tile, tile), sums)
