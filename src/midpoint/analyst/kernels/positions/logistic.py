"""Compiled sums over many probabilities at once: what Newton's method asks of a logistic model.

A wide vector of `ROWS` rows is summed side by side, each row in a lane of its own. Their running
sums stay in registers while a chunk of the columns passes by, which all rows share while it is in
the cache. Rows do not touch each other, hence the result is the same bit for bit however many
threads share them.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels import simd
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.simd import MANY_REGISTERS, WIDE

Floats = NDArray[np.float32]
Float = NDArray[np.float64]

IN_REGISTERS: Final = 24 if MANY_REGISTERS else 4
"""How many wide vectors of running sums the registers hold, beside the operands."""
CHUNK: Final = 128
"""Columns summed in one go: short sums keep float32 exact, and stay in the nearest cache."""
ROWS: Final = WIDE
"""Rows summed side by side."""
LOG2_E: Final = np.float32(1.4426950408889634)
LARGEST_EXPONENT: Final = np.float32(120.0)
"""Powers of two beyond this are brought to it, so that float32 holds them and their inverse."""
HALF: Final = np.float32(0.5)
ONE: Final = np.float32(1.0)
C1: Final = np.float32(0.6931471805599453)
C2: Final = np.float32(0.2402265069591007)
C3: Final = np.float32(0.05550410866482158)
C4: Final = np.float32(0.009618129107628477)
C5: Final = np.float32(0.0013333558146428443)
C6: Final = np.float32(0.0001540353039338161)
"""Coefficients of 2^f = 1 + C1 f + C2 f^2 + ..., which are ln(2)^n / n!."""


class LogisticSums:
    """Sums over C columns x_c what each of R rows w expects of them.

    p_c = 1 / (1 + exp(-bias_c - <w, x_c>)),  first = Σ p_c x_c,  second = Σ p_c (1 - p_c) x_c x_c'

    Products of columns are made once; sums are in single precision.
    """

    def __init__(self, columns: Float, weight: Float | None = None, *, second: bool = True) -> None:
        """Take the x_c.

        Args:
            columns: Shape (C, E).
            weight: How much each counts; 1 unless given. Shape (C,).
            second: Whether second will be asked for.
        """
        self._lower = a, b = np.tril_indices(columns.shape[1])
        self._columns = _single(columns)
        counted = columns if weight is None else columns * weight[:, None]
        self._singles = _tiles(_single(counted))
        self._products = np.empty(0, np.float32)
        if second:
            self._products = _tiles(_single(counted[:, a] * columns[:, b]))

    def __call__(self, weights: Float, bias: Float) -> tuple[Float, Float]:
        """Sum for all rows.

        Args:
            weights: The w. Shape (R, E).
            bias: Shape (C,).

        Returns:
            first, shape (R, E), and second, shape (R, E, E).
        """
        first, packed = self.packed(weights, bias)
        (rows, size), (a, b) = weights.shape, self._lower
        second = np.empty((rows, size, size))
        second[:, a, b] = second[:, b, a] = packed
        return first, second

    def packed(self, weights: Float, bias: Float) -> tuple[Float, Float]:
        """Sum for all rows; of second return the lower triangle, row by row."""
        size, products = weights.shape[1], len(self._lower[0])
        head, all_ = _fours(size), _fours(size) + _fours(products)
        sums = np.zeros((len(weights), all_))
        self._add(weights, bias, self._products, sums)
        return sums[:, :size], sums[:, head : head + products]

    def first(self, weights: Float, bias: Float) -> Float:
        """Return first alone."""
        sums = np.zeros((len(weights), _fours(weights.shape[1])))
        self._add(weights, bias, self._products[:0], sums)
        return sums[:, : weights.shape[1]]

    def _add(self, weights: Float, bias: Float, products: Floats, sums: Float) -> None:
        given, head = (_single(weights), _single(bias)), _fours(weights.shape[1])
        _sum_rows(self._columns, self._singles, products, *given, head, sums)


def logistic_counts(columns: Float, weights: Float) -> tuple[Float, Float]:
    """Return Σ p_c and Σ p_c (1 - p_c) of each row, with p_c as above and no bias. Shapes (R,)."""
    ones, sums = _tiles(np.ones((len(columns), 1), np.float32)), np.zeros((len(weights), 8))
    bias = np.zeros(len(columns), np.float32)
    _sum_rows(_single(columns), ones, ones, _single(weights), bias, 4, sums)
    return sums[:, 0], sums[:, 4]


def _single(array: Float) -> Floats:
    return np.ascontiguousarray(array, np.float32)


def _fours(count: int) -> int:
    """Return how many features there are with those that fill whole fours."""
    return count + -count % 4


def _tiles(features: Floats) -> Floats:
    """Lay features out as kernels read them: a tile of some of them, of all columns; then the next.

    They are padded to whole fours, and a tile is as many as registers hold; the last may be fewer.
    """
    padded = np.pad(features, ((0, 0), (0, _fours(features.shape[1]) - features.shape[1])))
    starts = range(0, padded.shape[1], IN_REGISTERS)
    tiles = [padded[:, at : at + IN_REGISTERS].ravel() for at in starts]
    return np.concatenate([np.zeros(0, np.float32), *tiles])


@compiled
def _sum_rows(
    columns: Floats,
    singles: Floats,
    products: Floats,
    weights: Floats,
    bias: Floats,
    head: int,
    sums: Float,
) -> None:
    """Add to the sums, a chunk of columns after the other, `ROWS` rows at a time."""
    count, size = columns.shape
    rows, width = sums.shape
    flat = columns.reshape(-1)
    groups = (rows + ROWS - 1) // ROWS
    w = np.zeros((groups, size * ROWS), np.float32)
    for row in range(rows):
        for e in range(size):
            w[row // ROWS, e * ROWS + row % ROWS] = weights[row, e]
    p = np.empty(CHUNK * ROWS, np.float32)
    q = np.empty(CHUNK * ROWS, np.float32)
    bits = np.empty(CHUNK * ROWS, np.int32)
    part = np.empty(width * ROWS, np.float32)
    for start in range(0, count, CHUNK):
        n = min(CHUNK, count - start)
        for group in range(groups):
            of_group = w[group]
            for c in range(n):
                logit = simd.spread_wide(bias[start + c])
                for e in range(size):
                    x = simd.spread_wide(flat[(start + c) * size + e])
                    logit = simd.add_product(logit, x, simd.load_wide(of_group, e * ROWS))
                simd.store(p, c * ROWS, logit)
            _probabilities(p, q, bits, n * ROWS)
            part[:] = 0
            _add(part, p, singles, count, start, n, 0, head)
            _add(part, q, products, count, start, n, head, width)
            for lane in range(min(ROWS, rows - group * ROWS)):
                for f in range(width):
                    sums[group * ROWS + lane, f] += part[f * ROWS + lane]


@compiled
def _probabilities(p: Floats, q: Floats, bits: NDArray[np.int32], n: int) -> None:
    """Replace logits by probabilities p; q becomes p (1 - p).

    exp(y) = 2^whole 2^f with |f| <= 1/2, written so that the loop becomes vector operations.
    """
    power = bits.view(np.float32)
    for c in range(n):
        y = min(max(p[c] * LOG2_E, -LARGEST_EXPONENT), LARGEST_EXPONENT)
        whole = np.floor(y + HALF)
        f = y - whole
        p[c] = ONE + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
        bits[c] = (np.int32(whole) + np.int32(127)) << np.int32(23)
    for c in range(n):
        odds = p[c] * power[c]
        under = ONE / (ONE + odds)
        p[c] = odds * under
        q[c] = odds * under * under


@compiled
def _add(
    part: Floats, p: Floats, tiles: Floats, count: int, start: int, n: int, begin: int, end: int
) -> None:
    """Add p times the features, which are those from `begin` to `end` of the sums."""
    for at in range(begin, end, IN_REGISTERS):
        tile = min(IN_REGISTERS, end - at)
        first = (at - begin) * count + start * tile
        if tile == 24:
            _add_tile(simd.wide_zeros(24), part, p, tiles, first, n, tile, at)
        elif tile == 20:
            _add_tile(simd.wide_zeros(20), part, p, tiles, first, n, tile, at)
        elif tile == 16:
            _add_tile(simd.wide_zeros(16), part, p, tiles, first, n, tile, at)
        elif tile == 12:
            _add_tile(simd.wide_zeros(12), part, p, tiles, first, n, tile, at)
        elif tile == 8:
            _add_tile(simd.wide_zeros(8), part, p, tiles, first, n, tile, at)
        else:
            _add_tile(simd.wide_zeros(4), part, p, tiles, first, n, tile, at)


@compiled
def _add_tile(
    sums: Any, part: Floats, p: Floats, tiles: Floats, first: int, n: int, tile: int, at: int
) -> None:
    """Add to a tile; `sums` are zeros, one for each feature."""
    for c in range(n):
        rows = simd.load_wide(p, c * ROWS)
        sums = simd.add_outer(sums, (rows,), tiles, first + c * tile)
    simd.accumulate(part, at * ROWS, ROWS, sums, 1)
