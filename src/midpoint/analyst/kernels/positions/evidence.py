"""Compiled sums over what people rated and over what they were asked, in double precision.

One person's sums do not touch another's, hence they are the same bit for bit however many threads
share the people.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels.compilation import compiled

Float = NDArray[np.float64]
Integers = NDArray[np.int64]

CHUNK: Final = 256
"""Items whose probabilities are worked out in one go."""
SUREST: Final = 30.0
"""Log odds are cut to this, as devices cut them."""
LOG2_E: Final = 1.4426950408889634
ROUND: Final = 6755399441055744.0
"""1.5 * 2^52: a number added to it is rounded, and stands in its last bits as an integer."""
LN2_HIGH: Final = 0.693147180369123816490
LN2_LOW: Final = 1.90821492927058770002e-10
"""ln(2) in two parts, so that a whole number of them is taken off exactly."""


@compiled
def sum_ratings(
    offsets: Integers,
    item: NDArray[np.integer],
    rest: Float,
    selection: Float,
    taste: Float,
    pull: Float,
    gram: Float,
) -> None:
    """Add up Σ s, then Σ rest g, in `pull`, and in `gram` the lower triangle of Σ g g'.

    The sums are over each person's ratings, with s and g the selection and the taste factors of
    their items.
    """
    d, r = selection.shape[1], taste.shape[1]
    for i in range(len(offsets) - 1):
        for at in range(offsets[i], offsets[i + 1]):
            j = item[at]
            for a in range(d):
                pull[i, a] += selection[j, a]
            row = 0
            for a in range(r):
                x = taste[j, a]
                pull[i, d + a] += rest[at] * x
                for b in range(a + 1):
                    gram[i, row + b] += x * taste[j, b]
                row += a + 1


@compiled
def expected_sums(rate: Float, selection: Float, t: Float, sums: Float) -> None:
    """Add to `sums` Σ p_j s_j over all items, p_j = 1 / (1 + exp(-rate_j - <s_j, t_i>)).

    Args:
        rate: Shape (M,).
        selection: The s, an item in each column. Shape (d, M).
        t: Shape (n, d).
        sums: Shape (n, d).
    """
    (d, items), people = selection.shape, len(t)
    p, bits = np.empty(CHUNK), np.empty(CHUNK, np.int64)
    for start in range(0, items, CHUNK):
        n = min(CHUNK, items - start)
        for i in range(people):
            p[:n] = rate[start : start + n]
            for a in range(d):
                x, some = t[i, a], selection[a, start : start + n]
                for c in range(n):
                    p[c] += x * some[c]
            _probabilities(p, bits, n)
            for a in range(d):
                total, some = 0.0, selection[a, start : start + n]
                for c in range(n):
                    total += p[c] * some[c]
                sums[i, a] += total


@compiled
def _probabilities(p: Float, bits: Integers, n: int) -> None:
    """Replace logits by probabilities; exp(y) = 2^whole exp(f) with |f| <= ln(2) / 2.

    Thirteen terms of the series leave less than the last bit. Written so that the loops become
    vector operations.
    """
    power = bits.view(np.float64)
    for c in range(n):
        power[c] = min(max(p[c], -SUREST), SUREST) * LOG2_E + ROUND
        p[c] = min(max(p[c], -SUREST), SUREST)
    for c in range(n):
        whole = np.float64(np.int32(bits[c]))
        bits[c] = (np.int64(np.int32(bits[c])) + 1023) << 52
        f = (p[c] - whole * LN2_HIGH) - whole * LN2_LOW
        e = 1 / 6227020800.0
        e = e * f + 1 / 479001600.0
        e = e * f + 1 / 39916800.0
        e = e * f + 1 / 3628800.0
        e = e * f + 1 / 362880.0
        e = e * f + 1 / 40320.0
        e = e * f + 1 / 5040.0
        e = e * f + 1 / 720.0
        e = e * f + 1 / 120.0
        e = e * f + 1 / 24.0
        e = e * f + 1 / 6.0
        e = e * f + 0.5
        e = e * f + 1.0
        p[c] = e * f + 1.0
    for c in range(n):
        odds = p[c] * power[c]
        p[c] = odds / (1.0 + odds)


@compiled
def draw_parts(offsets: Integers, uniform: Float, size: Integers, drawn: NDArray[np.bool_]) -> None:
    """Mark of each person's ratings the `size` whose uniform numbers are least."""
    for i in range(len(offsets) - 1):
        own = uniform[offsets[i] : offsets[i + 1]]
        if size[i] <= 0:
            drawn[offsets[i] : offsets[i + 1]] = False
            continue
        most = np.sort(own)[min(size[i], len(own)) - 1]
        for at in range(len(own)):
            drawn[offsets[i] + at] = own[at] <= most


@compiled
def integer_products(
    table: Integers, item: NDArray[np.integer], rows: Integers, person: Integers, result: Integers
) -> None:
    """Write <table_j, rows_ik> for each rating, j its item and i its person.

    Args:
        table: Shape (M, d).
        item: Shape (n,).
        rows: Shape (N, K, d).
        person: Shape (n,).
        result: Shape (n, K).
    """
    for at in range(len(item)):
        for k in range(rows.shape[1]):
            total = 0
            for a in range(rows.shape[2]):
                total += table[item[at], a] * rows[person[at], k, a]
            result[at, k] = total
