"""How well scores tell categories apart, how sure that is, and what chance alone would show."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.attackers.auc import ranks
from midpoint.errors import MidpointError

Float = NDArray[np.float64]
Integers = NDArray[np.integer]

PERMUTATIONS = 1000
"""Enough for a band to within about 0.001."""
DRAWINGS = 500
"""Samples of users by which the interval of a ratio is found."""
NORMAL_95 = 1.959964
WIDER = 2**0.5
"""By this the band is widened that verdicts go by.

Permutations keep the scores, and so the trained attackers, as they are. Yet the people of one fold
are what attackers of the others learned from, so that the folds' errors go together: on noise, the
cross-validated AUC of attackers trained again has up to twice the variance (see test_null_band).
"""
PERMUTATION_SEED = 20_140_131
"""Fixed, so that all attackers on a data set, whenever they ran, meet the same permutations."""


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


@dataclass(frozen=True, eq=False)
class NullBand:
    """What the strongest of several attackers reads where there is nothing to read."""

    distance: Float
    """Greatest |AUC - 0.5| over the attackers, in each permutation, ascending."""
    level: float
    """How much of chance the band holds."""

    @property
    def half_width(self) -> float:
        """Distance from 0.5 that the strongest of them exceeds with probability 1 - level."""
        return float(np.quantile(self.distance, self.level))

    @property
    def low(self) -> float:
        """Lower end of the band."""
        return 0.5 - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the band."""
        return 0.5 + self.half_width

    @property
    def judged_half_width(self) -> float:
        """The same with attackers trained again on other labels (see WIDER)."""
        return WIDER * self.half_width

    def p_value(self, area: float) -> float:
        """Return how often chance takes the strongest at least this far, by the wider band."""
        as_far = int((WIDER * self.distance >= abs(area - 0.5) - 1e-12).sum())
        return (1 + as_far) / (1 + len(self.distance))


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
    pairs = _pairs(labels, folds)
    value, influence = 0.5 if not pairs.sum() else 0.0, np.zeros(len(scores))
    for fold in np.flatnonzero(pairs):
        inside = folds == fold
        share = pairs[fold] / pairs.sum()
        part, each = _delong(scores[inside], labels[inside])
        value += share * part
        influence[inside] = share * each
    return Area(float(value), influence, _apart(labels, folds))


def null_band(
    scores: NDArray[Any],
    category: Integers,
    folds: Integers,
    *,
    macro: bool = False,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
) -> NullBand:
    """Permute categories within folds, the same way for all attackers, on fixed scores.

    Args:
        scores: Of each attacker, for category 1 against 0: shape (attackers, N); or for each of
            K categories against the rest: shape (attackers, N, K).
        category: Shape (N,).
        folds: Shape (N,).
        macro: Whether an attacker is judged by the mean of its K distances from 0.5, and not by
            the greatest.
        level: How much of chance the band is to hold.
        permutations: How many.
    """
    scores = np.asarray(scores, dtype=np.float64)
    wanted = range(1, 2) if scores.ndim == 2 else range(scores.shape[2])
    columns = scores[:, :, None] if scores.ndim == 2 else scores
    distance = np.zeros((permutations, len(scores)))
    for column, target in enumerate(wanted):
        areas = permuted_areas(columns[:, :, column], category, folds, permutations, target)
        away = np.abs(areas - 0.5)
        distance = distance + away / len(wanted) if macro else np.maximum(distance, away)
    return NullBand(np.sort(distance.max(axis=1, initial=0.0)), level)


def permuted_areas(
    scores: Float, category: Integers, folds: Integers, permutations: int, wanted: int = 1
) -> Float:
    """Return each attacker's pooled AUC under each permutation. Shape (permutations, attackers).

    An AUC is linear in the ranks of the ones, so all permutations are one product of matrices.
    """
    labels = np.asarray(category) == wanted
    pairs = _pairs(labels, folds)
    if not pairs.sum():
        return np.full((permutations, len(scores)), 0.5)
    total = np.zeros((permutations, len(scores)))
    for fold in np.flatnonzero(pairs):
        inside = np.flatnonzero(folds == fold)
        order = _permutations(len(inside), int(fold), permutations)
        ones = labels[inside][order].astype(np.float32)
        ranked = np.stack([ranks(row[inside]) for row in scores], axis=1)
        above = ones @ (ranked - ranked.mean()).astype(np.float32)
        total += above / pairs.sum() + 0.5 * pairs[fold] / pairs.sum()
    return total


def root_mean(squares: Float, count: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return sqrt(sum of squares / count) with the interval that users as a sample give it."""
    total = max(int(count.sum()), 1)
    mean = float(squares.sum()) / total
    deviation = float(np.sqrt(np.square(squares - mean * count).sum())) / total
    value = float(np.sqrt(mean))
    half = NORMAL_95 * deviation / (2 * max(value, 1e-12))
    return value, max(value - half, 0.0), value + half


def paired_cost(squares: Float, other: Float, *, level: float = 0.95) -> tuple[float, float, float]:
    """Return by what share an error exceeds another of the same predictions, with its interval.

    sqrt(sum of squares / sum of the others) - 1, users drawn again and again, each with both of
    her sums: what she is hard to predict by counts on both sides. Shapes (users,).
    """
    rng = np.random.default_rng(PERMUTATION_SEED)
    ones = np.ones((1, len(squares)))
    drawn = rng.multinomial(len(squares), ones[0] / len(squares), DRAWINGS)
    ratio = [_ratio(weight @ squares, weight @ other) for weight in (ones, drawn)]
    low, high = np.quantile(ratio[1], [(1 - level) / 2, (1 + level) / 2]).tolist()
    return float(ratio[0][0]), low, high


def _ratio(squares: Float, other: Float) -> Float:
    return np.asarray(np.sqrt(squares / np.maximum(other, 1e-300)) - 1)


def _permutations(size: int, fold: int, count: int) -> NDArray[np.int64]:
    """Return permutations that depend on nothing but a fold's size and number. (count, size)."""
    rng = np.random.default_rng([PERMUTATION_SEED, fold, size])
    return rng.permuted(np.tile(np.arange(size), (count, 1)), axis=1)


def _pairs(labels: NDArray[Any], folds: Integers) -> Float:
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
