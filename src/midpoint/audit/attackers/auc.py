"""How well scores tell two groups of people apart, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.errors import MidpointError

Float = NDArray[np.float64]
Integers = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Area:
    """Area under the ROC curve over N people, not folded: below 0.5 it is a leak as well."""

    value: float
    """Probability that a person of category 1 scores above one of category 0 of her fold."""
    influence: Float
    """What each person adds to its error; its variance is the sum of squares. Shape (N,)."""
    pairs: int = 0
    """How many pairs of unlike people of one fold there are, nobody in two of them."""

    @property
    def deviation(self) -> float:
        """Standard error."""
        return float(np.sqrt(np.square(self.influence).sum()))

    @property
    def distance(self) -> float:
        """Distance from chance, on either side."""
        return abs(self.value - 0.5)

    @property
    def sign(self) -> float:
        """Say on which side of chance it is: 1.0 above, -1.0 below."""
        return 1.0 if self.value >= 0.5 else -1.0

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the normal confidence interval, cut at 0 and 1; at these an exact one.

        Where everyone is on the right side, nobody's part varies, and the normal one has no width.
        Yet n pairs that share nobody are all in order with probability AUC^n, so that

            AUC >= ((1 - level) / 2)^(1 / n)

        by Clopper and Pearson (1934), whatever the scores are like; likewise at 0.
        """
        if self.pairs and self.distance > 0.5 - 1e-12:
            least = ((1 - level) / 2) ** (1 / self.pairs)
            return (least, 1.0) if self.value > 0.5 else (0.0, 1 - least)
        half = NormalDist().inv_cdf((1 + level) / 2) * self.deviation
        return max(self.value - half, 0.0), min(self.value + half, 1.0)

    @classmethod
    def macro(cls, areas: Sequence[Self], signs: Sequence[float] | None = None) -> Self:
        """Average one-against-rest answers about the same people: 0.5 + mean of |AUC_k - 0.5|.

        Each is turned to the side of 0.5 that it is on, or that `signs` say: otherwise leaks on
        either side would cancel out. A mean of distances is above 0 by chance alone, and has a
        null band of its own. A single answer stays as it is, below 0.5 or above.
        """
        if len(areas) == 1:
            return areas[0]
        turned = signs or [area.sign for area in areas]
        pairs = list(zip(turned, areas, strict=True))
        return cls(
            float(0.5 + np.mean([sign * (area.value - 0.5) for sign, area in pairs])),
            np.mean([sign * area.influence for sign, area in pairs], axis=0),
            min(area.pairs for area in areas),
        )

    @classmethod
    def mean(cls, areas: Sequence[Self]) -> Self:
        """Average one-against-rest answers about the same people, each on the side it is on."""
        return cls.macro(areas, [1.0] * len(areas))


def auc(scores: NDArray[Any], labels: NDArray[Any]) -> float:
    """Return P(score of a 1 > score of a 0) + P(equal) / 2, or 0.5 where a class is missing."""
    positive = np.asarray(labels) == 1
    ones, zeros = int(positive.sum()), int((~positive).sum())
    if not ones or not zeros:
        return 0.5
    above = ranks(scores)[positive].sum() - ones * (ones + 1) / 2
    return float(above / (ones * zeros))


def chance_deviation(labels: NDArray[Any]) -> float:
    """Return the standard error of an AUC where nothing leaks: (n + 1) / 12 n1 n0."""
    ones = int((np.asarray(labels) == 1).sum())
    pairs = ones * (len(labels) - ones)
    return float(np.sqrt((len(labels) + 1) / (12 * pairs))) if pairs else 0.5


def ranks(scores: NDArray[Any]) -> Float:
    """Return ranks from 1, equal scores sharing their mean rank. Same shape."""
    _, group, count = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[group.reshape(-1)])


def area(scores: NDArray[Any], labels: NDArray[Any], folds: Integers | None = None) -> Area:
    """Compare people within their folds, and pool; with DeLong's variance.

    Each fold has an attacker of its own, whose scores need not be on the others' scale:

        AUC = sum_f w_f AUC_f,   w_f = (pairs of unlike people in fold f) / (all such pairs).

    Shapes (N,); all one fold unless given.
    """
    scores, labels = np.asarray(scores), np.asarray(labels)
    if not np.isfinite(scores).all():
        raise MidpointError("an attacker gave a score that is no number; fix its `score`")
    folds = np.zeros(len(scores), dtype=np.int64) if folds is None else folds
    pairs = unlike_pairs(labels, folds)
    value, influence = 0.5 if not pairs.sum() else 0.0, np.zeros(len(scores))
    for fold in np.flatnonzero(pairs):
        inside = folds == fold
        share = pairs[fold] / pairs.sum()
        part, each = _delong(scores[inside], labels[inside])
        value += share * part
        influence[inside] = share * each
    return Area(float(value), influence, _apart(labels, folds))


def unlike_pairs(labels: NDArray[Any], folds: Integers) -> Float:
    """Count the pairs of a one and a zero in each fold. Shape (folds,)."""
    ones = np.bincount(folds, labels == 1)
    return np.asarray(ones * (np.bincount(folds) - ones), np.float64)


def _apart(labels: NDArray[Any], folds: Integers) -> int:
    """Count the pairs of a one and a zero of one fold that share nobody."""
    ones = np.bincount(folds, labels == 1)
    return int(np.minimum(ones, np.bincount(folds) - ones).sum())


def _delong(scores: NDArray[Any], labels: NDArray[Any]) -> tuple[float, Float]:
    """Return the AUC and each person's part in its error (DeLong et al. 1988).

    A one counts the share of zeros below her, a zero the share of ones above.
    """
    positive = labels == 1
    ones, zeros = int(positive.sum()), int((~positive).sum())
    overall, own = ranks(scores), np.empty(len(scores))
    own[positive], own[~positive] = ranks(scores[positive]), ranks(scores[~positive])
    share = (overall - own) / np.where(positive, zeros, ones)
    share[~positive] = 1 - share[~positive]
    value = float(share[positive].mean())
    size = np.where(positive, ones, zeros)
    return value, (share - value) / np.sqrt(size * np.maximum(size - 1, 1))
