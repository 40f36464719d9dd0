"""Information matrices A = sum v v^T: their loss and their inverse."""

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

SINGULAR = 1e-12
"""Information below this share of the largest counts as none: in the loss, in the search for a
start, and in least squares. Sums of rounded products leave about 1e-15 where there is none."""


def a_criterion(information: Float) -> float:
    """Return tr(A^-1), the loss of Sec. 5 without sigma^2; infinite where A is singular."""
    eigenvalues = np.linalg.eigvalsh(information)
    if eigenvalues[0] <= SINGULAR * max(eigenvalues[-1], 0.0):
        return float("inf")
    return float((1 / eigenvalues).sum())


def symmetric_inverse(information: Float) -> Float:
    """Return A^-1, symmetric to the last bit."""
    inverse = np.linalg.inv(information)
    return np.asarray((inverse + inverse.T) / 2)
