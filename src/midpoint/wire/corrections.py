"""What each category adds to a score: a function of the disclosure alone, the same everywhere."""

import numpy as np
from numpy.typing import NDArray

from midpoint.wire.disclosure import Disclosure
from midpoint.wire.fixed import ONE
from midpoint.wire.scheme import ValueMap

Integers = NDArray[np.int64]


def correction(disclosure: Disclosure) -> Integers:
    """Return what each category adds to a score made from obfuscated ratings. Shape (M, K).

    That is the disclosed offset where there is one. From level distributions it is
    mean_k - (mean over categories), and from category averages likewise, rounded half up.
    """
    if disclosure.offset is not None:
        return np.array(disclosure.offset, dtype=np.int64)
    if disclosure.levels is not None:
        levels = np.array(disclosure.levels, dtype=np.int64)
        return deviation(levels @ np.array(disclosure.scale.levels, dtype=np.int64), ONE)
    if disclosure.obfuscation.value_map is ValueMap.FEATURE_AVERAGE:
        return deviation(np.array(disclosure.average, dtype=np.int64), 1)
    return np.zeros((len(disclosure.items), disclosure.n_cells), dtype=np.int64)


def deviation(total: Integers, unit: int) -> Integers:
    """Return (total - its row's mean) / unit, rounded half up. Same shape, (M, K).

    floor((2 a + K unit) / (2 K unit)) with a = K total - (sum of the row), in steps that stay
    below 2^53 for totals below 2^48 and K up to 1024, since a browser has no larger integers:
    the quotient and the remainder by `unit` are centred each for itself.
    """
    K = total.shape[1]
    quotient, remainder = (_centred(part) for part in np.divmod(total, unit))
    whole, rest = np.divmod(quotient, K)
    return np.asarray(whole + (2 * (rest * unit + remainder) + K * unit) // (2 * K * unit))


def _centred(part: Integers) -> Integers:
    """Return K times the deviation from the row's mean."""
    return np.asarray(part.shape[1] * part - part.sum(axis=1, keepdims=True))
