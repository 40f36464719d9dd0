"""Measures of an attack beside its AUC: how often it is right when it is confident.

A person is named if the judge's odds for one category are nine to one or more, both categories
having the same prior probability. The judge was calibrated in nested folds, so about nine in ten of
those whom it names should be classified rightly.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.measure.statistics import PERMUTATION_SEED

Float = NDArray[np.float64]
Ones = NDArray[np.bool_]
RATES = (0.01, 0.001)
"""False positive rates at which the true positive rate is read off."""
SURE = 0.9
"""Confidence with which a category is named."""
DRAWINGS = 200
"""Samples of people by which intervals are found."""
POINTS = 201
"""Points of a drawn ROC curve, at most."""


class Measured(NamedTuple):
    """A number with its 95 % interval, people drawn again within their categories."""

    value: float
    """The number."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""


class Curve(NamedTuple):
    """A ROC curve."""

    false: tuple[float, ...]
    """False positive rates, ascending from 0 to 1."""
    true: tuple[float, ...]
    """True positive rates at them."""


def curve(scores: Float, ones: Ones) -> Curve:
    """Return the ROC curve of scores, people of equal scores being taken together. Shapes (N,)."""
    false, true = Thresholds.of(scores, ones).rates(np.ones(len(scores)))
    if len(false) > POINTS:  # where it is steep, near 0, points lie closer
        at = np.union1d(np.linspace(0, 1, POINTS // 2), np.geomspace(1e-4, 1, POINTS // 2))
        true, false = np.append(0.0, np.interp(at, false, true)), np.append(0.0, at)
    return Curve(tuple(false.tolist()), tuple(true.tolist()))


def true_positives(scores: Float, ones: Ones, rates: Sequence[float] = RATES) -> list[Measured]:
    """Return the share of a category that is found while a share of the others is taken for it.

    Of the two categories, the one that is found more often: an attacker looks for either.
    """
    sides = [Thresholds.of(sign * scores, who) for sign, who in ((1.0, ones), (-1.0, ~ones))]
    shares = np.array(
        [[np.interp(rates, *side.rates(weight)) for side in sides] for weight in _drawn(ones)]
    )
    better = shares[0].argmax(axis=0)
    return [_interval(shares[:, better[k], k]) for k in range(len(rates))]


def balanced_accuracy(log_odds: Float, ones: Ones) -> Measured:
    """Return the mean over both categories of the share that is held for what it is."""
    right = np.where(log_odds == 0, 0.5, (log_odds > 0) == ones)
    return _interval(
        np.array(
            [
                np.mean([weight[who] @ right[who] / max(who.sum(), 1) for who in (ones, ~ones)])
                for weight in _drawn(ones)
            ]
        )
    )


def named(log_odds: Float, ones: Ones) -> tuple[Measured, float | None]:
    """Return the share of people who are named with confidence, and how many of them rightly."""
    sure = np.abs(log_odds) >= np.log(SURE / (1 - SURE)) - 1e-12
    right = float(((log_odds > 0) == ones)[sure].mean()) if sure.any() else None
    return _interval(np.array([weight @ sure / len(ones) for weight in _drawn(ones)])), right


class Thresholds(NamedTuple):
    """People in the order of their scores, those of equal scores together."""

    order: NDArray[np.intp]
    """Indices of the people, the highest score first. Shape (N,)."""
    last: NDArray[np.intp]
    """Index in that order of the last one of each score."""
    ones: Ones
    """Who is of the target category. Shape (N,)."""

    @classmethod
    def of(cls, scores: Float, ones: Ones) -> "Thresholds":
        """Sort people."""
        order = np.argsort(-scores, kind="stable")
        return cls(order, np.flatnonzero(np.append(np.diff(scores[order]) != 0, True)), ones)

    def rates(self, weight: Float) -> tuple[Float, Float]:
        """Return false and true positive rates as the threshold falls, from 0 to 1."""
        totals = [
            np.cumsum((weight * who)[self.order])[self.last] for who in (~self.ones, self.ones)
        ]
        false, true = (np.append(0.0, total / max(total[-1], 1e-300)) for total in totals)
        return false, true


def _drawn(ones: Ones) -> Iterator[Float]:
    """Say how often each person is drawn: everybody once, then at random in each category."""
    rng, weight = np.random.default_rng(PERMUTATION_SEED), np.ones(len(ones))
    yield weight
    for _ in range(DRAWINGS):
        weight = np.empty(len(ones))
        for who in (ones, ~ones):
            count = int(who.sum())
            weight[who] = np.bincount(rng.integers(max(count, 1), size=count), minlength=count)
        yield weight


def _interval(shares: Float) -> Measured:
    low, high = np.quantile(shares[1:], (0.025, 0.975))
    return Measured(float(shares[0]), float(low), float(high))
