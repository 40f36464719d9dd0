"""Counterparts: the people of the other categories who correspond to her.

The discrete midpoint blinds every item on its own. Which items go together, how many there are and
what taste they show may still leak. So the device first estimates its user's position z = (t, x),
selection and taste factors (`wire.positions`), and answers as her counterparts would:

- item j is revealed with probability min_m p_jm / p_jk, each category's p at its counterpart's
  selection factors: p_jm = 1 / (1 + exp(-(rate_jm + <selection_j, t_m>))), the exponent cut to
  [-30, 30];
- its value moves by <x_mean - x, taste_j> towards the mean of the counterparts' taste factors, and
  then goes through the discrete midpoint;
- where log spreads are disclosed, its residual is scaled first, from her spread to the mean of the
  counterparts': categories may differ in how far they use the scale.

If positions, sets and ratings follow the disclosed prior and the estimated position is hers, all
that is sent has one joint distribution for all categories (docs/explanation/protocol.md). To the
last bit:

0. Her activity is 256 (n + 8) / (e + 8), rounded half up: n items she rated of those she was asked
   about, and e the sum over these of 1 / (1 + exp(-rate_jk)). Her stratum is the last whose least
   activity in her category k it reaches; mean, P and map below are that stratum's. It is reached
   as well where 256 (n + 8) is twice what it takes in some category, the least activity times
   (e + 8): false rates must not part the strata of categories.
1. z starts at mean_k. Eight times, over the items asked about and those of them that were rated,
       g = P_k (mean_k - z) + (sum_rated selection_j - sum_asked p_jk selection_j,
                               sum_rated taste_j (r_j - base_jk - <taste_j, x>) / noise)
       H = P_k + diag(sum_asked p_jk (1 - p_jk) selection_j selection_j',
                      sum_rated taste_j taste_j' / noise)
   and z += H^-1 g, multiplied by 5 / c where this changes some <selection_j, t> of the items asked
   about by c > 5: Newton steps to the mode of her position, in doubles.
2. z is cut to [-64, 64] and rounded to 1/256, half up; so is every counterpart
   mean_m + map_km (z - mean_k), and then the move, which is their mean less z, of taste factors.
   From here on sums are integers, below 2^53.
3. A reveal probability is rounded to 2^-16, half up, and is at least 1/64. Under a leak budget it
   is then multiplied by the item's keep probability, which is everyone's, and rounded again.
4. A value moves by at most 3/8 of the scale, so that two categories' are at most 3/4 apart, is
   cut to the scale, and goes to one of its two neighbouring levels by a coin (`obfuscation`).
5. With log spreads of mean mu and deviation s: her residuals e_j = r_j - base_jk - <taste_j, x>, x
   rounded, are cut to 2^20. w starts at mu_k; sixteen times, with S = sum e_j^2 / noise over the n
   items that she rated,
       w += (S exp(-2 w) - n - (w - mu_k) / s_k^2) / (1 / s_k^2 + 2 S exp(-2 w)),
   each step cut to [-2, 2]: the mode of her log spread, in doubles. It is rounded to 1/256, half
   up, and so is c, the mean over m of mu_m + (s_m / s_k)(w - mu_k) less w, cut to [-1/4, 1/4]. Her
   values move by e_j (f - 1) more, f = exp(c) rounded to 2^-16 and the product as well; the limit
   of 4 holds for both moves together.
6. Of sets no value moves. Where the prior has a weight, a device keeps z instead of a move, and
   adds weight p_jk, rounded half up, to the score of item j: what all that she gave says of it, the
   withheld items included. The exponent is rate_jk + <selection_j, t>, t as rounded in step 2.
7. What coins changed and what is withheld is lost to the analyst, not to her. Of graded ratings a
   device keeps x(revealed, y) - x(rated, r - c), cut and rounded as z in step 2: what its answers y
   say of her taste, less what her ratings r say, with c_jk what her category adds to a score. Here
       x(S, v) = (P + sum_S taste_j taste_j' / noise)^-1 sum_S taste_j (v_j - b_j) / noise,
   b_j the mean of base_j over categories, and P the taste factors' block of the precision of the
   first category and stratum, for everyone. Its product with taste_j, within the limit of 4, is
   taken off the score of item j.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.errors import MidpointError
from midpoint.user.parameters import Parameters, PositionModel
from midpoint.wire import GRAIN, ONE
from midpoint.wire.limits import LEAST_REVEAL, MOST_STRATUM_RATIO, most_spread
from midpoint.wire.positions import (
    DAMPING,
    FARTHEST_POSITION,
    FARTHEST_RESIDUAL,
    LONGEST_SPREAD_STEP,
    MOST_CHANGE,
    MOST_LOG_SPREAD,
    SPREAD_STEPS,
    STEPS,
    SUREST,
)

Integers = NDArray[np.int64]
Float = NDArray[np.float64]
Index = NDArray[np.intp]


class Counterparts(NamedTuple):
    """Positions of one person's counterparts, in 1/256."""

    selection: Integers
    """Selection factors of her counterpart in each category. Shape (K, d)."""
    move: Integers
    """From her taste factors to the mean of the counterparts'; of sets her position. Shape (r,)."""
    stretch: Integers | None = None
    """How far scaled residuals move each value that she rated, if they are scaled. Shape (n,)."""


class Sums(NamedTuple):
    """The part of step 1 that no Newton step changes."""

    pull: Float
    """The terms of the gradient g without z. Shape (D,)."""
    curvature: Float
    """The terms of H without p. Shape (D, D)."""


@dataclass(frozen=True, eq=False)
class Adjustment:
    """What a scheme does to n ratings of one person or of N people; fixed point.

    Without counterparts it is the identity: the disclosed reveal probabilities and no move.
    """

    reveal: Integers
    """Probability of revealing each rating. Shape (n,)."""
    shift: Integers
    """How far each value moves. Shape (n,)."""
    move: Integers
    """How taste factors move, in 1/256; r = 0 without counterparts. Shape (r,) or (N, r).
    Where probabilities count in scores (step 6) it is her position t instead, r = d."""

    @classmethod
    def identity(cls, parameters: Parameters, item: Index, cell: Index | int) -> Self:
        """Return the disclosed reveal probabilities of these ratings, and no move."""
        if parameters.positions is not None:
            raise MidpointError(
                f"scheme {parameters.scheme.name!r} adjusts to each person; give her adjustment"
            )
        always = np.broadcast_to(np.int64(ONE), item.shape)
        reveal = always if parameters.reveal is None else parameters.reveal[item, cell]
        reveal = kept(parameters, item, reveal)
        return cls(reveal, np.broadcast_to(np.int64(0), item.shape), np.zeros(0, dtype=np.int64))

    def of(self, some: Index | slice) -> "Adjustment":
        """Return that of some of the ratings."""
        return Adjustment(self.reveal[some], self.shift[some], self.move)


def adjust(
    parameters: Parameters, cell: int, asked: Index, rated: Index, value: Integers
) -> Adjustment:
    """Return what becomes of one person's ratings, steps 0 to 5; the identity if nothing does.

    Args:
        parameters: The disclosure, as arrays.
        cell: Her category or joint cell.
        asked: All items that she was asked about, by index; the rated ones among them.
        rated: The items that she rated, by index. Shape (n,).
        value: Her ratings of them, in fixed point. Shape (n,).
    """
    model = parameters.positions
    if model is None:
        return Adjustment.identity(parameters, rated, cell)
    if not len(rated):
        none = np.zeros(0, dtype=np.int64)
        return Adjustment(none, none, np.zeros(model.moved, dtype=np.int64))
    hers = counterparts(model, cell, asked, rated, value)
    adjustment = adjustment_of(parameters, cell, rated, hers)
    if hers.stretch is None:
        return adjustment
    most = most_shift(parameters)
    return replace(adjustment, shift=np.clip(adjustment.shift + hers.stretch, -most, most))


def counterparts(
    model: PositionModel, cell: int, asked: Index, rated: Index, value: Integers
) -> Counterparts:
    """Estimate one person's position and find her counterparts, steps 0 to 2."""
    stratum = int(stratum_of(model, cell, len(rated), expected_of(model, asked)))
    mode = _mode(model, stratum, cell, asked, evidence_of(model, stratum, cell, rated, value))
    others = counterparts_at(model, stratum, cell, mode)
    if model.spread is None:
        return others
    residual = residual_of(model, cell, rated, value, rounded_position(mode))
    square = float(np.square(residual / ONE).sum()) / model.noise
    factor = spread_factor(model.spread[stratum], cell, len(rated), square)
    return others._replace(stretch=stretched(residual, factor))


def residual_of(
    model: PositionModel, cell: int, item: Index, value: Integers, position: Integers
) -> Integers:
    """Return what a position, (D,) or one for each of n ratings, leaves unexplained, step 5."""
    factors = position[..., model.selection.shape[1] :]
    explained = model.base[item, cell] * GRAIN + (model.taste[item] * factors).sum(axis=1)
    residual: Integers = np.clip(value - explained, -FARTHEST_RESIDUAL, FARTHEST_RESIDUAL)
    return residual


def spread_factor(spread: Float, cell: int, n_rated: int, square: float) -> int:
    """Return what residuals of someone who rated n items are multiplied by, step 5."""
    mean, deviation = spread.T
    weight, w = 1 / deviation[cell] ** 2, mean[cell]
    for _ in range(SPREAD_STEPS):
        seen = square * np.exp(-2 * w)
        step = (seen - n_rated - weight * (w - mean[cell])) / (weight + 2 * seen)
        w = w + np.clip(step, -LONGEST_SPREAD_STEP, LONGEST_SPREAD_STEP)
    w = rounded(w) / GRAIN
    others = mean + deviation / deviation[cell] * (w - mean[cell])
    change = rounded(np.clip(others.mean() - w, -MOST_LOG_SPREAD, MOST_LOG_SPREAD)) / GRAIN
    return int(np.floor(np.exp(change) * ONE + 0.5))


def stretched(residual: Integers, factor: Integers | int) -> Integers:
    """Return (factor - 1) residual, rounded half up. Shape (n,)."""
    return np.floor((factor - ONE) * residual / ONE + 0.5).astype(np.int64)


def expected_of(model: PositionModel, asked: Index) -> Float:
    """Return how many of these items each category rates at selection factors of 0. Shape (K,)."""
    return np.asarray(chance(model.rate[asked] / GRAIN).sum(axis=0))


def stratum_of(
    model: PositionModel, cell: Index | int, n_rated: Integers | int, expected: Float
) -> Integers:
    """Return the activity stratum of one person, or of many asked about the same, step 0."""
    rated = GRAIN * (np.asarray(n_rated) + DAMPING)
    activity = np.floor(rated / (expected[cell] + DAMPING) + 0.5)
    latest = MOST_STRATUM_RATIO * (model.least * (expected + DAMPING)).min(axis=1)
    reached = (model.least[:, cell] <= activity) | np.less_equal.outer(latest, rated)
    return np.asarray(np.maximum(reached.sum(axis=0) - 1, 0))


def evidence_of(
    model: PositionModel, stratum: int, cell: int, rated: Index, value: Integers
) -> Sums:
    """Sum up what a person rated, and how."""
    d, precision = model.selection.shape[1], model.precision[stratum, cell]
    taste = model.taste[rated] / GRAIN
    pull, curvature = precision @ model.mean[stratum, cell], precision.copy()
    pull[:d] += (model.selection[rated] / GRAIN).sum(axis=0)
    pull[d:] += taste.T @ (value / ONE - model.base[rated, cell] / GRAIN) / model.noise
    curvature[d:, d:] += taste.T @ taste / model.noise
    return Sums(pull, curvature)


def _mode(model: PositionModel, stratum: int, cell: int, asked: Index, evidence: Sums) -> Float:
    """Climb to the mode of one person's position, step 1. Shape (D,)."""
    d = model.selection.shape[1]
    z: Float = model.mean[stratum, cell]
    selection, rate = model.selection[asked] / GRAIN, model.rate[asked, cell] / GRAIN
    for _ in range(STEPS):
        p = chance(rate + selection @ z[:d])
        gradient, curvature = evidence.pull - evidence.curvature @ z, evidence.curvature.copy()
        gradient[:d] -= p @ selection
        curvature[:d, :d] += (selection.T * (p * (1 - p))) @ selection
        step = np.linalg.solve(curvature, gradient)
        change = np.abs(selection @ step[:d]).max(initial=MOST_CHANGE)
        z = z + step * (MOST_CHANGE / change)
    return z


def counterparts_at(model: PositionModel, stratum: int, cell: int, mode: Float) -> Counterparts:
    """Round a person's position and map it to the other categories, step 2."""
    z = rounded_position(mode) / GRAIN
    mean, d = model.mean[stratum], model.selection.shape[1]
    others = mean + model.map[stratum, cell] @ (z - mean[cell])
    others = np.clip(others, -FARTHEST_POSITION, FARTHEST_POSITION)
    move = z if model.weight else others[:, d:].mean(axis=0) - z[d:]
    return Counterparts(selection=rounded(others[:, :d]), move=rounded(move))


def rounded_position(mode: Float) -> Integers:
    """Return a position in 1/256, step 2. Same shape."""
    return rounded(np.clip(mode, -FARTHEST_POSITION, FARTHEST_POSITION))


def adjustment_of(parameters: Parameters, cell: int, item: Index, hers: Counterparts) -> Adjustment:
    """Return what becomes of one person's ratings of some items, steps 3 and 4."""
    if parameters.positions is None:
        raise MidpointError(f"scheme {parameters.scheme.name!r} has no counterparts")
    reveal = reveal_probability(parameters.positions, cell, item, hers.selection)
    reveal = kept(parameters, item, reveal)
    return Adjustment(reveal, value_shift(parameters, hers.move, item), hers.move)


def reveal_probability(
    model: PositionModel, cell: int, item: Index, selection_factors: Integers
) -> Integers:
    """Return min_m p_jm / p_jk of items at the counterparts' selection factors, step 3. (n,)."""
    logit = (model.rate[item] * GRAIN + model.selection[item] @ selection_factors.T) / ONE
    p = chance(logit)
    ratio = p.min(axis=1) / p[:, cell]
    return np.asarray(np.maximum(np.floor(ratio * ONE + 0.5), LEAST_REVEAL), dtype=np.int64)


def kept(parameters: Parameters, item: Index, reveal: Integers) -> Integers:
    """Return keep_j times the probability of revealing items, rounded half up, step 3. (n,)."""
    if parameters.keep is None:
        return reveal
    return np.asarray((reveal * parameters.keep[item] + ONE // 2) // ONE, dtype=np.int64)


def value_shift(parameters: Parameters, move: Integers, item: Index) -> Integers:
    """Return <move, taste_j> of some items, at most 3/8 of the scale, step 4. Shape (n,).

    The move is one person's, (r,), or one for each item, (n, r); nothing moves if r = 0.
    """
    if not move.shape[-1] or parameters.is_unary:
        return np.zeros(len(item), dtype=np.int64)
    if parameters.positions is None:
        raise MidpointError(f"scheme {parameters.scheme.name!r} moves no values")
    most = most_shift(parameters)
    shift: Integers = np.clip((parameters.positions.taste[item] * move).sum(axis=1), -most, most)
    return shift


def taste_of(model: PositionModel, item: Index, value: Integers) -> Float:
    """Return x(S, v): what values of some items say of taste factors, step 7. Shape (r,)."""
    d, taste = model.selection.shape[1], model.taste[item] / GRAIN
    unlike = value / ONE - model.base[item].mean(axis=1) / GRAIN
    curvature = model.precision[0, 0, d:, d:] + taste.T @ taste / model.noise
    return np.asarray(np.linalg.solve(curvature, taste.T @ unlike / model.noise))


def own_part(
    parameters: Parameters, cell: Index | int, position: Integers, item: Index
) -> Integers:
    """Return weight p_jk at her position, rounded half up, step 6; 0 without a weight. Shape (n,).

    The position is one person's, (d,), or one for each item, (n, d); d = 0 if she gave nothing.
    """
    model = parameters.positions
    if model is None or not model.weight or not position.shape[-1]:
        return np.zeros(len(item), dtype=np.int64)
    product = np.einsum("...d,...d->...", model.selection[item], position)
    p = chance((model.rate[item, cell] * GRAIN + product) / ONE)
    return np.floor(model.weight * p + 0.5).astype(np.int64)


def most_shift(parameters: Parameters) -> int:
    """Return how far a value moves at most, step 4: 3/8 of the scale."""
    return most_spread(parameters.high - parameters.low) // 2


def chance(logit: Float) -> Float:
    """Return 1 / (1 + exp(-logit)), with log odds cut to [-30, 30]."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -SUREST, SUREST))))


def rounded(numbers: Float) -> Integers:
    """Return numbers in 1/256, rounded half up."""
    return np.floor(numbers * GRAIN + 0.5).astype(np.int64)
