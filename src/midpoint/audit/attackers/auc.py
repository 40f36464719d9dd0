"""How well scores tell two groups of people apart, in one number."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


def auc(scores: NDArray[Any], labels: NDArray[Any]) -> float:
    """Return P(score of a 1 > score of a 0) + P(equal) / 2, or 0.5 where a class is missing."""
    positive = np.asarray(labels) == 1
    ones, zeros = int(positive.sum()), int((~positive).sum())
    if not ones or not zeros:
        return 0.5
    above = ranks(scores)[positive].sum() - ones * (ones + 1) / 2
    return float(above / (ones * zeros))


def chance_deviation(labels: NDArray[Any]) -> float:
    """Return the standard error of an AUC where there is nothing to read: (n + 1) / 12 n1 n0."""
    ones = int((np.asarray(labels) == 1).sum())
    pairs = ones * (len(labels) - ones)
    return float(np.sqrt((len(labels) + 1) / (12 * pairs))) if pairs else 0.5


def ranks(scores: NDArray[Any]) -> Float:
    """Return ranks from 1, equal scores sharing their mean rank. Same shape."""
    _, group, count = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[group.reshape(-1)])
