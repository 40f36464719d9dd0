"""A lower bound on the loss of any choice of items: the convex relaxation of Sec. 6.2."""

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.information import symmetric_inverse

Float = NDArray[np.float64]

ROUNDING = 1e-12
"""Taken off a bound, as a share of it, so that rounding never lifts it above the truth."""
OVER_RELAXATION = 0.9
"""Power in the multiplicative step; 1/2 is the plain one, 1 the limit of local convergence."""
SMALL = 1e-2
"""Weight, as a share of the average, below which an item is left out until it matters again."""
SMALLEST_SHARE = 1e-200
"""Weight, as a share of the largest, that is none: its inverse is still a number."""
INNER_STEPS = 10
"""Steps on the items that matter, between two looks at all of them."""


def lower_bound(
    vectors: Float, base: Float, budget: int, *, tolerance: float = 3e-4, rounds: int = 60
) -> float:
    """Bound min tr[(A0 + sum_S v_j v_j^T)^-1] over |S| <= budget from below, up to `tolerance`.

    The relaxation lets every item be asked with a weight 0 <= w_j <= 1, sum w = budget. It is
    solved by multiplicative steps until loss and bound are within the tolerance, or the rounds
    are over; the bound is valid in either case (see `certified_bound`), only looser.

    Args:
        vectors: the items that may be asked, v_j. Shape (M, D).
        base: information before asking, A0. Shape (D, D).
        budget: how many items may be asked.
        tolerance: relative distance to the relaxation's optimum that is good enough.
        rounds: how often all items are looked at, at most.
    """
    count = len(vectors)
    budget = min(budget, count)
    weight = np.full(count, budget / count)
    small = SMALL * budget / count
    best = 0.0
    for _ in range(rounds):
        Y = symmetric_inverse(base + (vectors.T * weight) @ vectors)
        bound, influence = certified_bound(vectors, base, budget, Y)
        best = max(best, bound)
        if not np.trace(Y) > best * (1 + tolerance):  # so written, it also ends where Y is nan
            break
        worth = np.partition(influence, -budget)[-budget]
        active = (weight > small) | (influence >= worth)
        weight = np.where(active, np.maximum(weight, small), 0.0)
        weight[active] = _improved(vectors[active], base, budget, weight[active])
    return best


def certified_bound(
    vectors: Float, base: Float, budget: int, Y: Float
) -> tuple[float, NDArray[np.float64]]:
    """Return a lower bound that any symmetric Y proves, and each item's |Y v_j|^2 in it.

    By Cauchy-Schwarz, tr(Y)^2 = tr(A^-1/2 A^1/2 Y)^2 <= tr(A^-1) tr(Y A Y). With
    A = A0 + sum_S v_j v_j^T and |S| <= B, tr(Y A Y) is at most tr(Y A0 Y) plus the B largest
    |Y v_j|^2, so

        tr(A^-1) >= tr(Y)^2 / (tr(Y A0 Y) + sum of the B largest |Y v_j|^2).

    At Y = A(w)^-1 it is never below the linearization of the relaxed loss at w, and at the
    relaxation's optimum it is the optimum.
    """
    moved = vectors @ Y
    influence: Float = np.einsum("ij,ij->i", moved, moved)
    largest = np.partition(influence, -budget)[-budget:] if budget < len(vectors) else influence
    most = float(np.einsum("ij,jk,ki->", Y, base, Y) + largest.sum())
    bound = float(np.trace(Y)) ** 2 / most if most > 0 else 0.0
    return (bound * (1 - ROUNDING) if np.isfinite(bound) else 0.0), influence


def _improved(vectors: Float, base: Float, budget: int, weight: Float) -> Float:
    """Take multiplicative steps w_j <- min(1, l w_j |A(w)^-1 v_j|^2r), with l such that sum w = B.

    With r = 1/2 a step minimizes sum_j w_j^2 |A(w)^-1 v_j|^2 / w'_j over the feasible w', which
    lies above the loss and touches it at w' = w: the loss cannot rise. A larger r goes further.
    """
    for _ in range(INNER_STEPS):
        moved = vectors @ symmetric_inverse(base + (vectors.T * weight) @ vectors)
        influence = np.einsum("ij,ij->i", moved, moved)
        weight = _filled(weight * influence**OVER_RELAXATION, budget)
    return weight


def _filled(level: Float, budget: int) -> Float:
    """Return min(1, l level) with the l for which it sums to the budget. Shape (M,).

    Where no l reaches the budget, since all else is 0 (or as good as), the rest of it is unused.
    """
    share = level / max(float(level.max()), np.finfo(np.float64).tiny)
    share[share < SMALLEST_SHARE] = 0
    if np.count_nonzero(share) <= budget:
        return (share > 0).astype(np.float64)
    order = np.sort(share)[::-1]
    # Tails are summed from their small end: a difference of large sums could be 0 or negative.
    rest = np.cumsum(order[::-1])[::-1][:budget]
    left = budget - np.arange(budget)
    first = int(np.argmax(left * order[:budget] <= rest))  # the fewest items at 1 that fit
    return np.asarray(np.minimum(1.0, left[first] * (share / rest[first])))
