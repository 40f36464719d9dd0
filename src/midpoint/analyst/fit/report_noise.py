"""Ratings that are noisier than others by a known variance: reports, among raw ratings.

A report is a rating at the midpoint, with noise of variance sigma^2 + c. The c that coins add is
known from the disclosure (`score.weights.coin_noise`), and sigma^2 is learned. So such a rating
counts with the weight

    w = sigma^2 / (sigma^2 + c),

which it has in a regression if its row and target are multiplied by sqrt(w). c has few values,
`CLASSES` at most, so that vectors are multiplied once for each value and not for each rating.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
CLASSES: Final = 2
"""Values of c above 0, at most. People need their vector in each: 16 cost twice the time where they
rate little, and predict no better than 2."""


class Pairs(NamedTuple):
    """Every vector in each class in which ratings need it; P pairs, n ratings."""

    vector: NDArray[np.intp]
    """Index of the vector. Shape (P,)."""
    kind: NDArray[np.intp]
    """Class of the ratings. Shape (P,)."""
    pair_of: NDArray[np.int32]
    """Which pair each rating belongs to. Shape (n,)."""
    rating_kind: NDArray[np.integer]
    """Class of each rating. Shape (n,)."""


@dataclass(frozen=True, eq=False)
class ReportNoise:
    """What is known of each rating beside its value; n ratings, C classes."""

    kind: NDArray[np.int8]
    """Class of each rating. Shape (n,)."""
    variance: Float
    """c of each class; 0 for class 0, the raw ratings. Shape (C,)."""
    presence: Float
    """Number of ratings that each stands for, withheld ones like it included. Shape (n,)."""

    @classmethod
    def of(cls, variance: Float, presence: Float) -> Self:
        """Sort ratings into classes by the variance that coins added to each. Shapes (n,)."""
        most = max(float(variance.max(initial=0.0)), 1e-12)
        kind = np.ceil(np.clip(variance / most, 0, 1) * CLASSES).astype(np.int8)
        count = np.maximum(np.bincount(kind, minlength=CLASSES + 1), 1)
        mean = np.bincount(kind, variance, CLASSES + 1) / count
        return cls(kind, mean, presence)

    def scaled(self, factor: float) -> "ReportNoise":
        """Return the same for ratings that were multiplied by the root of a factor."""
        return ReportNoise(self.kind, factor * self.variance, self.presence)

    def weights(self, noise: float) -> Float:
        """Return w of each class. Shape (C,)."""
        return np.asarray(noise / (noise + self.variance))

    def pairs(self, vector: NDArray[np.integer], kind: NDArray[np.integer]) -> Pairs:
        """List the vectors in the classes in which ratings need them.

        Args:
            vector: Which vector each rating belongs to, in any order of the ratings. Shape (n,).
            kind: Class of each rating, in the same order. Shape (n,).
        """
        C = len(self.variance)
        code = vector.astype(np.int64) * C + kind
        needed = np.bincount(code) > 0
        pair = np.flatnonzero(needed)
        index = (np.cumsum(needed) - 1).astype(np.int32)
        return Pairs(pair // C, pair % C, index[code], kind)
