"""A stack: the scores of several attackers combined into one answer."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, ndtri

from midpoint.analyst.kernels.compilation import one_blas_thread
from midpoint.audit.attackers.auc import auc, ranks
from midpoint.audit.attackers.learned import SHARED

Float = NDArray[np.float64]
Ones = NDArray[np.bool_]
PENALTIES = (1.0, 0.03, 0.001)
"""Penalties to choose from, the strongest first: it weights attackers by their own AUCs."""
CUTS = 4
"""Cuts of the people it learns from, by which it chooses the penalty and is calibrated."""
STEEPEST = 50.0
"""Slope of the calibration at most, where people are distinguished without a doubt."""


class Gauge(NamedTuple):
    """Brings an attacker's scores to a common scale: the normal score of their rank."""

    at: Float
    """Scores that were seen, ascending, each once."""
    normal: Float
    """The normal quantile of the rank of each."""

    @classmethod
    def of(cls, scores: Float) -> "Gauge":
        """Learn the scale from scores of shape (n,)."""
        at, first = np.unique(scores, return_index=True)
        return cls(at, ndtri(ranks(scores)[first] / (len(scores) + 1)))

    def __call__(self, scores: Float) -> Float:
        """Measure scores on it; beyond what was seen they go on, ever more slowly.

        An attacker that learned from more people is surer, so many of its scores may lie beyond;
        were they cut there, the order of people would be lost. An outlier stays harmless.
        """
        unit = max(float(self.at[-1] - self.at[0]), np.finfo(np.float64).tiny)
        above = np.log1p(np.maximum(scores - self.at[-1], 0) / unit)
        below = np.log1p(np.maximum(self.at[0] - scores, 0) / unit)
        return np.asarray(np.interp(scores, self.at, self.normal) + above - below)


@dataclass(frozen=True, eq=False)
class Stack:
    """Weighs the scores of A attackers, and says how sure it is.

    log-odds = intercept + slope sum_a w_a z_a,   w = argmin over w >= 0, b of
    mean_i log(1 + exp(-y_i (<w, z_i> + b))) + penalty |w|^2 / 2

    z_a are normal scores of attacker a, both classes weigh the same, and the log-odds are those of
    somebody who holds either category for equally likely before.
    """

    gauges: tuple[Gauge, ...]
    """The scale of each attacker."""
    weights: Float
    """Their weights, none below zero: each attacker chose its own sign. Shape (A,)."""
    slope: float
    """How much the weighed sum counts, as people it was not learned from show."""
    intercept: float
    """Log-odds where the weighed sum is zero."""

    @classmethod
    def fit(cls, scores: Float, group: NDArray[np.intp], ones: Ones) -> "Stack":
        """Learn from people of nested folds whom the attackers were not fitted to.

        Args:
            scores: What each attacker says of them. Shape (n, A).
            group: The nested fold in which each attacker judged them; its scores are compared
                inside it. Shape (n, A).
            ones: Who has the category that is looked for. Shape (n,).
        """
        Z = np.empty(scores.shape)
        for a, column in enumerate(scores.T):
            for inside in (group[:, a] == one for one in np.unique(group[:, a])):
                Z[inside, a] = Gauge.of(column[inside])(column[inside])
        with one_blas_thread():
            tried = [_across(Z, ones, penalty) for penalty in PENALTIES]
            best = int(np.argmax([auc(one, ones) for one in tried]))
            weights = _weights(Z, ones, PENALTIES[best])
            slope, intercept = _calibration(tried[best], ones)
        gauges = tuple(Gauge.of(column) for column in scores.T)
        return cls(gauges, weights, slope, intercept)

    def __call__(self, scores: Float) -> Float:
        """Return the log-odds of people by their attackers' scores. (N, A) to (N,)."""
        pairs = zip(self.weights, self.gauges, scores.T, strict=True)
        total = np.sum([weight * gauge(column) for weight, gauge, column in pairs], axis=0)
        return np.asarray(self.intercept + self.slope * total, np.float64)


def _across(Z: Float, ones: Ones, penalty: float) -> Float:
    """Combine scores by weights of the other cuts; the sums are of unit length. Shape (n,)."""
    sums, cut = np.zeros(len(Z)), cuts(ones)
    for number in range(CUTS):
        judged = cut == number
        sums[judged] = Z[judged] @ _weights(Z[~judged], ones[~judged], penalty)
    return sums


def cuts(ones: Ones) -> NDArray[np.int64]:
    """Cut people at random, each class in proportion. Shape (n,)."""
    order = np.random.default_rng(SHARED).permutation(len(ones))
    order = order[np.argsort(ones[order], kind="stable")]
    cut = np.empty(len(ones), dtype=np.int64)
    cut[order] = np.arange(len(ones)) % CUTS
    return cut


def _weights(Z: Float, ones: Ones, penalty: float) -> Float:
    """Minimize the penalized loss, both classes weighing the same; to unit length. Shape (A,)."""
    y, share = np.where(ones, 1.0, -1.0), _equal_shares(ones)

    def loss(w: Float) -> tuple[float, Float]:
        margin = y * (Z @ w[1:] + w[0])
        pull = -y * expit(-margin) * share
        slope = np.append(pull.sum(), Z.T @ pull + penalty * w[1:])
        return float(share @ np.logaddexp(0, -margin) + penalty * w[1:] @ w[1:] / 2), slope

    bounds = [(None, None)] + [(0.0, None)] * Z.shape[1]
    start = np.zeros(1 + Z.shape[1])
    weights = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x[1:]
    length = float(np.sqrt(weights @ weights))
    # Where nothing leaks to any attacker, all count alike.
    return weights / length if length > 1e-9 else np.full(len(weights), len(weights) ** -0.5)


def _calibration(total: Float, ones: Ones) -> tuple[float, float]:
    """Fit log-odds = intercept + slope total, both classes weighing the same (Platt 1999)."""
    y, share = np.where(ones, 1.0, -1.0), _equal_shares(ones)

    def loss(w: Float) -> tuple[float, Float]:
        margin = y * (w[0] * total + w[1])
        pull = -y * expit(-margin) * share
        return float(share @ np.logaddexp(0, -margin)), np.array([pull @ total, pull.sum()])

    bounds = [(0.0, STEEPEST), (None, None)]
    slope, intercept = minimize(loss, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=bounds).x
    # Where nothing can be read the slope is 0, and ranks would be lost: keep them, and no doubt.
    return max(float(slope), 1e-6), float(intercept)


def _equal_shares(ones: Ones) -> Float:
    """Weigh people so that both classes have half of the weight. Shape (n,)."""
    return np.where(ones, 0.5 / max(int(ones.sum()), 1), 0.5 / max(int((~ones).sum()), 1))
