"""Compiled sums over many probabilities at once: what Newton's method asks of a logistic model.

`WIDTH` rows are summed side by side, each in a lane of its own, and their running sums stay in
registers while the columns pass by. Rows do not touch each other, hence the result is the same bit
for bit however many threads share them.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels import simd
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.simd import WIDTH

Floats = NDArray[np.float32]
Float = NDArray[np.float64]

CHUNK: Final = 128
"""Columns summed in one go: short sums keep float32 exact, and stay in the nearest cache."""
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

    def __init__(self, columns: Float) -> None:
        """Take the x_c, shape (C, E)."""
        self._size = columns.shape[1]
        self._head = self._size + -self._size % 4
        self._lower = a, b = np.tril_indices(self._size)
        # Single columns and products each fill whole tiles of four.
        self._features = np.zeros((len(columns), self._head + len(a) + -len(a) % 4), np.float32)
        self._features[:, : self._size] = columns
        self._features[:, self._head : self._head + len(a)] = columns[:, a] * columns[:, b]

    def __call__(self, weights: Float, bias: Float) -> tuple[Float, Float]:
        """Sum for all rows.

        Args:
            weights: The w. Shape (R, E).
            bias: Shape (C,).

        Returns:
            first, shape (R, E), and second, shape (R, E, E).
        """
        rows, size, head, (a, b) = len(weights), self._size, self._head, self._lower
        sums = np.empty((rows, self._features.shape[1]))
        _sum_rows(self._features, _single(weights), _single(bias), head, sums)
        second = np.empty((rows, size, size))
        second[:, a, b] = second[:, b, a] = sums[:, head : head + len(a)]
        return sums[:, :size], second


def _single(array: Float) -> Floats:
    return np.ascontiguousarray(array, np.float32)


@compiled
def _sum_rows(features: Floats, weights: Floats, bias: Floats, head: int, sums: Float) -> None:
    """Sum p times the first `head` features of each column, p (1 - p) times the others."""
    count, width = features.shape
    flat = features.reshape(-1)
    rows, size = weights.shape
    w = np.zeros(size * WIDTH, np.float32)
    p = np.empty(CHUNK * WIDTH, np.float32)
    q = np.empty(CHUNK * WIDTH, np.float32)
    bits = np.empty(CHUNK * WIDTH, np.int32)
    part = np.empty(width * WIDTH, np.float32)
    total = np.empty(width * WIDTH, np.float64)
    for group in range(0, rows, WIDTH):
        present = min(WIDTH, rows - group)
        for lane in range(present):
            for e in range(size):
                w[e * WIDTH + lane] = weights[group + lane, e]
        total[:] = 0
        for start in range(0, count, CHUNK):
            n = min(CHUNK, count - start)
            for c in range(n):
                logit = simd.spread(bias[start + c])
                for e in range(size):
                    x = simd.spread(flat[(start + c) * width + e])
                    logit = simd.add_product(logit, x, simd.load(w, e * WIDTH))
                simd.store(p, c * WIDTH, logit)
            _probabilities(p, q, bits, n * WIDTH)
            part[:] = 0
            _add(part, p, flat, start, n, width, 0, head)
            _add(part, q, flat, start, n, width, head, width)
            for f in range(width * WIDTH):
                total[f] += part[f]
        for lane in range(present):
            for f in range(width):
                sums[group + lane, f] = total[f * WIDTH + lane]


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
    part: Floats, p: Floats, flat: Floats, start: int, n: int, width: int, begin: int, end: int
) -> None:
    """Add p times the features from `begin` to `end`, as many at a time as registers hold."""
    at = begin
    while at < end:
        if end - at >= 8:
            _add_tile(simd.zeros(8), part, p, flat, start, n, width, at)
            at += 8
        else:
            _add_tile(simd.zeros(4), part, p, flat, start, n, width, at)
            at += 4


@compiled
def _add_tile(
    sums: Any, part: Floats, p: Floats, flat: Floats, start: int, n: int, width: int, at: int
) -> None:
    """Add to a tile; `sums` are zeros, one for each feature."""
    for c in range(n):
        sums = simd.add_outer(sums, (simd.load(p, c * WIDTH),), flat, (start + c) * width + at)
    simd.accumulate(part, at * WIDTH, WIDTH, sums, 1)
