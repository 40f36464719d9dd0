"""Definition 2: how accurate protocols are in the worst case, exactly or within bounds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import inf

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import expected_loss
from midpoint.protocol.learning import LearningProtocol
from midpoint.wire import ValueMap

Float = NDArray[np.float64]
MOST_COINS = 12
"""With more items that may be withheld, the sets are too many to go through: bounds are given."""


@dataclass(frozen=True, eq=False)
class Setting:
    """The items that a person rates, S_0 with S items, and the linear model of Eq. 7."""

    vectors: Float
    """Item profiles v_j. Shape (S, D)."""
    offset: Float
    """What each category adds to a rating. Shape (S, K)."""
    noise_variance: float
    """Variance of a rating: sigma^2."""
    reveal: Float | None = None
    """Probability of revealing each item, by category; always unless given. Shape (S, K)."""
    disclosed: Float | None = None
    """Offsets as disclosed, if they were quantized. Shape (S, K)."""
    step: float = 1.0
    """Widest gap between neighbouring levels, which rounding bridges."""


@dataclass(frozen=True)
class Loss:
    """The worst case over all x and x0 of E |x-hat - x|^2, given S_0."""

    least: float
    """It is at least this."""
    most: float
    """It is at most this; the same where it is known exactly."""
    under: str = "the linear model"
    """What the figures assume."""


def worst_case_loss(protocol: LearningProtocol, setting: Setting) -> Loss:
    """Return sup over x, x0 of E |x-hat - x|^2 on a given V (Definition 2).

    For ratings sent as they are or shifted, with q_j the probability that one is shifted,

        sigma^2 tr A^-1 + |A^-1 sum (o_j - q_j l_j) v_j|^2 + sum q_j (1 - q_j) l_j^2 |A^-1 v_j|^2

    where A = sum v v^T over what is revealed, o are the true offsets and l the disclosed ones;
    its expectation is taken over the set that is revealed. For MP it is Eq. 12. It is infinite
    where, with any probability, some direction of x leaves no trace, and for the MAP estimator,
    whose pull to the prior has no bound over all x. Rounding adds at most step^2 / 4 to sigma^2.
    """
    kind = protocol.scheme.value_map
    if protocol.estimator == "map" or protocol.name == "nothing":
        return Loss(inf, inf)
    if protocol.alpha > 0 and kind in (ValueMap.ITEM_AVERAGE, ValueMap.FEATURE_AVERAGE):
        return Loss(inf, inf)
    if protocol.alpha > 0 and kind is ValueMap.DISCRETE:
        return Loss(0.0, inf, "nothing: levels do not follow the linear model; it is measured")
    loss = _over_categories(protocol, setting)
    if protocol.alpha > 0 and kind is ValueMap.ROUNDED:
        noisier = replace(setting, noise_variance=setting.noise_variance + setting.step**2 / 4)
        most = _over_categories(protocol, noisier).most
        return Loss(loss.least, most, "the linear model, where nothing is cut off at the ends")
    return loss


def more_accurate(a: LearningProtocol, b: LearningProtocol, setting: Setting) -> bool | None:
    """Return whether a's worst-case loss is at most b's on this V; None if it cannot be said."""
    first, second = worst_case_loss(a, setting), worst_case_loss(b, setting)
    if first.most <= second.least:
        return True
    return False if first.least > second.most else None


def _over_categories(protocol: LearningProtocol, s: Setting) -> Loss:
    """Return the larger of the categories' losses."""
    sub_samples, shifts = protocol.scheme.sub_samples, protocol.scheme.value_map
    alpha = protocol.alpha if sub_samples or shifts is not ValueMap.AS_IS else 0.0
    disclosed = s.offset if s.disclosed is None else s.disclosed
    losses = []
    for k in range(s.offset.shape[1]):
        rho = s.reveal[:, k] if sub_samples and s.reveal is not None else np.ones(len(s.vectors))
        keep = 1 - alpha * (1 - rho)  # exactly 1 where rho is
        q = np.where(keep > 0, alpha * rho / np.maximum(keep, 1e-300), 0.0)
        if shifts is ValueMap.AS_IS:
            q = np.zeros_like(q)
        bias = s.offset[:, k] - q * disclosed[:, k]
        spread = q * (1 - q) * disclosed[:, k] ** 2
        losses.append(_expected(s.vectors, bias, s.noise_variance, spread, keep))
    return Loss(max(low for low, _ in losses), max(high for _, high in losses))


def _expected(
    V: Float, bias: Float, noise: float, spread: Float, keep: Float
) -> tuple[float, float]:
    """Return bounds of the expected loss when item j is revealed with probability keep_j.

    Below by convexity, tr E[A]^-1 <= E tr A^-1; above by what is revealed for certain, since A
    only grows with more. If that is singular the loss is infinite with positive probability.
    """
    certain = keep >= 1
    core = V[certain].T @ V[certain]
    worst = expected_loss(core, 1.0) if certain.any() else inf
    if worst == inf:
        return inf, inf
    if (~certain).sum() <= MOST_COINS:
        exact = sum(p * _given(V[m], bias[m], noise, spread[m]) for p, m in _sets(keep))
        return exact, exact
    least = expected_loss(V.T @ (keep[:, None] * V), noise)
    smallest = float(np.linalg.eigvalsh(core)[0])
    return least, (noise + float(spread.max())) * worst + float(bias @ bias) / smallest


def _sets(keep: Float) -> Iterator[tuple[float, NDArray[np.bool_]]]:
    """Go through the sets that may be revealed, with their probabilities."""
    open_items = np.flatnonzero(keep < 1)
    for choice in product((False, True), repeat=len(open_items)):
        mask = keep >= 1
        mask[open_items] = choice
        p = np.where(choice, keep[open_items], 1 - keep[open_items]).prod()
        if p > 0:
            yield float(p), mask


def _given(V: Float, bias: Float, noise: float, spread: Float) -> float:
    """Return the loss of least squares on these items."""
    inverse = np.linalg.inv(V.T @ V)
    pull = V @ inverse
    moved = bias @ pull
    return float(noise * np.trace(inverse) + moved @ moved + spread @ (pull**2).sum(axis=1))
