"""The distribution of discrete midpoints, worked out exactly: what the theorem is held to."""

from itertools import pairwise
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from midpoint.wire import ONE

Integers = NDArray[np.int64]


def output_distribution(levels: Integers, points: Integers) -> tuple[Integers, int]:
    """Return the exact distribution of answers per category, and the whole it is a part of.

    For one item: levels (K, L) -> masses (K, L), with whole = 2^16 K lcm(gaps) / gcd(gaps),
    which is 2^16 K on a scale of equal steps. Row k is computed from
    category k's own ratings, so equal rows are a finding.
    """
    K, L = levels.shape
    C = levels.cumsum(axis=1)
    gaps = np.diff(points).tolist()
    points = (points - points[0]) // gcd(*gaps)
    unit = lcm(*gaps) // gcd(*gaps)
    masses = np.zeros((K, L), dtype=np.int64)
    cuts = np.unique(np.append(C, 0))
    for start, end in pairwise(cuts):
        S = sum(int(points[np.searchsorted(C[k], start, side="right")]) for k in range(K))
        m = min(int(np.searchsorted(K * points, S, side="right")) - 1, L - 2)
        up = (S - K * int(points[m])) * (unit // int(points[m + 1] - points[m]))
        for k in range(K):
            for level in range(L):
                left = C[k, level] - levels[k, level]
                shared = max(0, min(end, C[k, level]) - max(start, left))
                masses[k, m] += shared * (K * unit - up)
                masses[k, m + 1] += shared * up
    return masses, ONE * K * unit
