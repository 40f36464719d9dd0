"""Counterparts: whoever lies in another category as she lies in her own.

The discrete midpoint blinds every item on its own; which items go together, how many, and where
the estimated taste lies still tell. So the device first estimates its user's own place
z = (t, x), selection and taste factors (`wire.positions`), and treats her as it would treat her
counterparts:

- item j is revealed with probability min_m p_jm / p_jk, each category's p at its counterpart's
  selection factors: p_jm = 1 / (1 + exp(-(rate_jm + <selection_j, t_m>))), the exponent cut to
  [-30, 30];
- its value moves by <x_mean - x, taste_j> towards the mean of the counterparts' tastes, and then
  goes through the discrete midpoint.

If places, sets and ratings follow the disclosed law and the place is hers, whatever is sent then
has one law for all categories, jointly (docs/protocol.md). To the last bit:

0. Her activity is 256 (n + 8) / (e + 8), rounded half up: n items she rated of those she was asked
   about, and e the sum over these of 1 / (1 + exp(-rate_jk)). Her stratum is the last whose least
   activity in her category k it reaches; mean, P and map below are that stratum's.
1. z starts at mean_k. Eight times, over the items asked about and those of them that were rated,
       g = P_k (mean_k - z) + (sum_rated selection_j - sum_asked p_jk selection_j,
                               sum_rated taste_j (r_j - base_jk - <taste_j, x>) / noise)
       H = P_k + diag(sum_asked p_jk (1 - p_jk) selection_j selection_j',
                      sum_rated taste_j taste_j' / noise)
   and z += H^-1 g, each entry cut to [-2, 2]: Newton steps to the mode of her place, in doubles.
2. z is cut to [-64, 64] and rounded to 1/256, half up; so is every counterpart
   mean_m + map_km (z - mean_k), and then the move, which is their mean less z, of tastes. From
   here on sums are integers, below 2^53.
3. A reveal probability is rounded to 2^-16, half up, and is at least 1/64.
4. A value moves by at most 3/8 of the scale, so that two categories' are at most 3/4 apart, is
   cut to the scale, and goes to one of its two neighbouring levels by a coin (`obfuscation`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.errors import MidpointError
from midpoint.user.parameters import Parameters, PositionModel
from midpoint.wire import GRAIN, ONE
from midpoint.wire.limits import LEAST_REVEAL, most_spread
from midpoint.wire.positions import DAMPING, FARTHEST_POSITION, LONGEST_STEP, STEPS

Integers = NDArray[np.int64]
Float = NDArray[np.float64]
Index = NDArray[np.intp]

SUREST = 30.0
"""Log odds beyond this count as this."""
AT_ONCE = 2**19
"""People times items that are looked at in one go."""
PAIRING = 8
"""From so many people on it pays to multiply all pairs of selection factors first."""
MOST_PAIRS = 2**24
"""Products of selection factors, at most, that are kept for that: 128 MB."""


class Answers(NamedTuple):
    """What one person rated."""

    cell: int
    """Her category or joint cell."""
    item: Index
    """The items, by their place in the disclosure. Shape (n,)."""
    value: Integers
    """Her ratings, in fixed point. Shape (n,)."""


class Counterparts(NamedTuple):
    """Where one person's counterparts lie, in 1/256."""

    selection: Integers
    """Selection factors of her counterpart in each category. Shape (K, d)."""
    move: Integers
    """How her tastes are moved: to the mean of the counterparts'. Shape (r,)."""


@dataclass(frozen=True, eq=False)
class Adjustment:
    """What becomes of n ratings of N people because of their places; fixed point."""

    reveal: Integers
    """Probability of revealing each. Shape (n,)."""
    shift: Integers
    """By how much each value moves. Shape (n,)."""
    move: Integers
    """How each person's tastes are moved, in 1/256. Shape (N, r)."""


def adjustments(
    parameters: Parameters,
    starts: NDArray[np.integer],
    item: Index,
    value: Integers,
    category: Sequence[int] | Index,
    asked: Sequence[Index] | None = None,
) -> Adjustment | None:
    """Find everyone's counterparts; None under a scheme that does not ask for them.

    Args:
        parameters: The disclosure, as arrays.
        starts: The ratings of person i are `starts[i]:starts[i + 1]`. Shape (N + 1,).
        item: The item of each rating, by its place in the disclosure. Shape (n,).
        value: The ratings, in fixed point. Shape (n,).
        category: Category or joint cell of each person. Shape (N,).
        asked: The items that each person was asked about; all items unless given.
    """
    model = parameters.positions
    if model is None:
        return None
    everything = np.arange(parameters.n_items)
    reveal, shift = np.full(len(item), ONE), np.zeros(len(item), dtype=np.int64)
    move = np.zeros((len(category), model.taste.shape[1]), dtype=np.int64)
    part = [slice(*ends) for ends in pairwise(starts.tolist())]
    rated = [i for i in range(len(part)) if part[i].start < part[i].stop]
    size = max(1, AT_ONCE // parameters.n_items) if asked is None else 1
    for first in range(0, len(rated), size):
        group = rated[first : first + size]
        about = everything if asked is None else asked[group[0]]
        people = [Answers(int(category[i]), item[part[i]], value[part[i]]) for i in group]
        strata = _strata(model, about, people)
        places = _modes(model, about, people, strata)
        for i, one, stratum, place in zip(group, people, strata, places, strict=True):
            found = _carried(model, stratum, one.cell, place)
            mine = adjustment_of(parameters, one.cell, one.item, found)
            reveal[part[i]], shift[part[i]], move[i] = mine.reveal, mine.shift, found.move
    return Adjustment(reveal, shift, move)


def adjustment_of(
    parameters: Parameters, cell: int, item: Index, found: Counterparts
) -> Adjustment:
    """Return what becomes of one person's ratings of some items, given her counterparts."""
    if parameters.positions is None:
        raise MidpointError(f"scheme {parameters.scheme.name!r} has no counterparts")
    reveal = reveal_probability(parameters.positions, cell, item, found.selection)
    return Adjustment(reveal, value_shift(parameters, found.move, item), found.move[None])


def counterparts(
    model: PositionModel, cell: int, asked: Index, rated: Index, value: Integers
) -> Counterparts:
    """Estimate one person's place by steps 0 to 2; return her counterparts."""
    people = [Answers(cell, rated, value)]
    (stratum,) = strata = _strata(model, asked, people)
    return _carried(model, stratum, cell, _modes(model, asked, people, strata)[0])


def _strata(model: PositionModel, asked: Index, people: Sequence[Answers]) -> list[int]:
    """Return the strata of people who were asked the same, step 0."""
    expected = _chance(model.rate[asked] / GRAIN).sum(axis=0)
    cell, n = [one.cell for one in people], np.array([len(one.item) for one in people])
    activity = np.floor(GRAIN * (n + DAMPING) / (expected[cell] + DAMPING) + 0.5)
    reached = (model.least[:, cell] <= activity).sum(axis=0)
    strata: list[int] = np.maximum(reached - 1, 0).tolist()
    return strata


def _carried(model: PositionModel, stratum: int, cell: int, mode: Float) -> Counterparts:
    """Round the mode of someone's place and carry it to the other categories, step 2."""
    place = _round(np.clip(mode, -FARTHEST_POSITION, FARTHEST_POSITION)) / GRAIN
    mean = model.mean[stratum]
    others = mean + model.map[stratum, cell] @ (place - mean[cell])
    others = np.clip(others, -FARTHEST_POSITION, FARTHEST_POSITION)
    d = model.selection.shape[1]
    move = others[:, d:].mean(axis=0) - place[d:]
    return Counterparts(selection=_round(others[:, :d]), move=_round(move))


def reveal_probability(
    model: PositionModel, cell: int, item: Index, selection_factors: Integers
) -> Integers:
    """Return min_m p_jm / p_jk of some items at the counterparts' selection factors, step 3. Shape (n,)."""
    logit = (model.rate[item] * GRAIN + model.selection[item] @ selection_factors.T) / ONE
    p = _chance(logit)
    ratio = p.min(axis=1) / p[:, cell]
    return np.asarray(np.maximum(np.floor(ratio * ONE + 0.5), LEAST_REVEAL), dtype=np.int64)


def value_shift(parameters: Parameters, move: Integers, item: Index) -> Integers:
    """Return <move, taste_j> of some items, at most 3/8 of the scale, step 4. Shape (n,).

    The move is one person's, (r,), or one for each item, (n, r).
    """
    if parameters.positions is None:
        raise MidpointError(f"scheme {parameters.scheme.name!r} moves no values")
    most = most_spread(parameters.high - parameters.low) // 2
    shift: Integers = np.clip((parameters.positions.taste[item] * move).sum(axis=1), -most, most)
    return shift


def _modes(
    model: PositionModel, asked: Index, people: Sequence[Answers], strata: Sequence[int]
) -> Float:
    """Climb to the modes of the places of people who were asked the same. Shape (N, D)."""
    d, cell = model.selection.shape[1], [one.cell for one in people]
    selection, rate = model.selection[asked] / GRAIN, model.rate[asked][:, cell].T / GRAIN
    seen = [_seen(model, *one) for one in zip(people, strata, strict=True)]
    pull, fixed = np.stack([one[0] for one in seen]), np.stack([one[1] for one in seen])
    gram, z = _gram_of(selection, len(people)), model.mean[strata, cell]
    for _ in range(STEPS):
        p = _chance(rate + z[:, :d] @ selection.T)
        gradient = pull - (fixed @ z[:, :, None])[:, :, 0]
        gradient[:, :d] -= p @ selection
        curvature = fixed.copy()
        curvature[:, :d, :d] += gram(p * (1 - p))
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        z = z + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
    return z


def _seen(model: PositionModel, person: Answers, stratum: int) -> tuple[Float, Float]:
    """Return of step 1 what no step changes: of g what z is not in, of H all but what p is in."""
    cell, rated, value = person
    d, precision = model.selection.shape[1], model.precision[stratum, cell]
    taste = model.taste[rated] / GRAIN
    pull, fixed = precision @ model.mean[stratum, cell], precision.copy()
    pull[:d] += (model.selection[rated] / GRAIN).sum(axis=0)
    pull[d:] += taste.T @ (value / ONE - model.base[rated, cell] / GRAIN) / model.noise
    fixed[d:, d:] += taste.T @ taste / model.noise
    return pull, fixed


def _gram_of(selection: Float, people: int) -> Callable[[Float], Float]:
    """Return what sums w_j selection_j selection_j' for the weights of each person. Shape (N, d, d)."""
    d = selection.shape[1]
    if people < PAIRING or selection.size * d > 2 * MOST_PAIRS:
        return lambda weight: (selection.T * weight[:, None, :]) @ selection
    a, b = np.triu_indices(d)
    products = selection[:, a] * selection[:, b]

    def gram(weight: Float) -> Float:
        square = np.empty((people, d, d))
        square[:, a, b] = square[:, b, a] = weight @ products
        return square

    return gram


def _chance(logit: Float) -> Float:
    """Return 1 / (1 + exp(-logit)), for log odds up to 30: nothing is surer than that."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -SUREST, SUREST))))


def _round(numbers: Float) -> Integers:
    """Return numbers in 1/256, rounded half up."""
    return np.floor(numbers * GRAIN + 0.5).astype(np.int64)
