"""Made-up attackers, each of whom knows a little."""

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
SIZE = 3000


def scores_of(ones: NDArray[np.bool_], shift: tuple[float, ...], seed: int) -> Float:
    """Let attackers know a little each, and independently; the second one on a wild scale."""
    noise = np.random.default_rng(seed).normal(size=(len(ones), len(shift)))
    found = noise + np.outer(ones, shift)
    found[:, 1] = np.sinh(3 * found[:, 1])
    return found


def people(seed: int, size: int = SIZE) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random(size) < 0.3
