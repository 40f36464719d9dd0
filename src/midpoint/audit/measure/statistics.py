"""How sure a number is, and what chance alone would show."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.attackers.auc import ranks, unlike_pairs

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
class NullBand:
    """What the strongest of several attackers reaches where nothing leaks."""

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
    pairs = unlike_pairs(labels, folds)
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
