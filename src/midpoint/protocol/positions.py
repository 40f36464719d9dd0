"""Adjustments of whole populations: the arithmetic of `user.core.counterparts`, many at a time.

People of one category who were asked about everything take their Newton steps together, in compiled
kernels on all cores. Those who are asked about some items each are left to the one-person code.

A device takes eight Newton steps in doubles, which as a rule end at the mode of her position to the
last bits, and all that becomes of it goes by the position rounded to 1/256. So any way to the mode
gives the same integers, unless a mode lies within 1e-10 or so of the middle between two multiples.
Here steps are first taken in single precision, until they are shorter than `NEAR`. Then slopes are
in doubles and the curvature stays as it is, until none is longer than `STILL`. People who have
arrived are left alone. Those who are not near after `STEPS` - 1 steps are left to the one-person
code, for their devices may not reach the mode either: a step of length e ends about e^2 / 2 off the
mode (seen on MovieLens), so that after a step shorter than `NEAR` and one more the device is less
than 1e-10 off. A contract test holds the result to the one-person code.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts.prior import shortened
from midpoint.analyst.kernels.compilation import in_parallel
from midpoint.analyst.kernels.positions.evidence import expected_sums, integer_products, sum_ratings
from midpoint.analyst.kernels.positions.logistic import LogisticSums
from midpoint.analyst.kernels.positions.newton import Curvature, Slope, newton_steps
from midpoint.user import Adjustment, Parameters, adjust, corrections
from midpoint.user.core.counterparts import (
    chance,
    counterparts,
    expected_of,
    kept,
    most_shift,
    residual_of,
    rounded,
    rounded_position,
    stratum_of,
    stretched,
)
from midpoint.user.parameters import PositionModel
from midpoint.wire import GRAIN, ONE, Disclosure
from midpoint.wire.limits import LEAST_REVEAL
from midpoint.wire.positions import (
    FARTHEST_POSITION,
    LONGEST_SPREAD_STEP,
    MOST_LOG_SPREAD,
    SPREAD_STEPS,
    STEPS,
)

Integers = NDArray[np.int64]
Float = NDArray[np.float64]
Index = NDArray[np.intp]

AT_ONCE: Final = 256
"""People whose positions are estimated together."""
NEAR: Final = 4e-3
"""A Newton step shorter than this in every coordinate ends about 1e-5 off the mode."""
STILL: Final = 1e-12
"""Steps shorter than this move nothing."""
REFINEMENTS: Final = 12
"""Steps in doubles, at most; three or four are enough."""


class Group(NamedTuple):
    """Some people of one stratum and category, and their ratings."""

    stratum: int
    """Their stratum of activity."""
    cell: int
    """Their category or joint cell."""
    people: Index
    """Their indices. Shape (n,)."""
    offsets: Integers
    """The ratings of person i among theirs are `offsets[i]:offsets[i + 1]`. Shape (n + 1,)."""
    rating: Index
    """Which ratings are theirs. Shape (ratings,)."""
    item: Index
    """The item of each. Shape (ratings,)."""
    value: Integers
    """The rating, in fixed point. Shape (ratings,)."""


def adjust_population(
    parameters: Parameters,
    starts: NDArray[np.integer],
    item: Index,
    value: Integers,
    category: Sequence[int] | NDArray[np.integer],
    asked: Sequence[Index] | None = None,
) -> Adjustment:
    """Return what becomes of everyone's ratings; the identity under a scheme without counterparts.

    Args:
        parameters: The disclosure, as arrays.
        starts: The ratings of person i are `starts[i]:starts[i + 1]`. Shape (N + 1,).
        item: The item of each rating, by index in the disclosure. Shape (n,).
        value: The ratings, in fixed point. Shape (n,).
        category: Category or joint cell of each person. Shape (N,).
        asked: The items that each person was asked about; all items unless given.
    """
    model, cell = parameters.positions, np.asarray(category, dtype=np.intp)
    if model is None:
        same = Adjustment.identity(parameters, item, np.repeat(cell, np.diff(starts)))
        return Adjustment(same.reveal, same.shift, np.zeros((len(cell), 0), dtype=np.int64))
    reveal, shift = np.full(len(item), ONE), np.zeros(len(item), dtype=np.int64)
    move = np.zeros((len(cell), model.moved), dtype=np.int64)
    everyone = Adjustment(reveal, shift, move)
    if asked is not None:
        for i, (begin, end) in enumerate(pairwise(starts.tolist())):
            if begin == end:
                continue
            hers = adjust(parameters, int(cell[i]), asked[i], item[begin:end], value[begin:end])
            reveal[begin:end], shift[begin:end], move[i] = hers.reveal, hers.shift, hers.move
        return everyone
    items = _Items(parameters, model)

    def work(group: Group) -> None:
        _adjust_group(items, group, everyone)

    in_parallel(work, _groups(model, starts, item, value, cell), None)
    return everyone


def taste_moves(
    disclosure: Disclosure,
    category: NDArray[np.integer],
    starts: NDArray[np.integer],
    given: tuple[Index, Integers],
    sent_starts: NDArray[np.integer],
    sent: tuple[Index, Integers],
) -> Integers:
    """Return `user.taste_move` of everyone, items by index in the disclosure. Shape (N, r).

    Args:
        disclosure: What they answered under.
        category: Category or joint cell of each person. Shape (N,).
        starts: What person i rated is `starts[i]:starts[i + 1]`. Shape (N + 1,).
        given: The items rated, and the ratings.
        sent_starts: Likewise of what was revealed. Shape (N + 1,).
        sent: The items revealed, and as what.
    """
    model, (item, value) = Parameters.of(disclosure).positions, given
    if model is None:
        return np.zeros((len(category), 0), dtype=np.int64)
    cell = np.repeat(category.astype(np.intp), np.diff(starts))
    nothing = np.zeros((len(item), 0), dtype=np.int64)
    own = value - corrections(disclosure, item, cell, nothing)
    said = _tastes(model, sent_starts, *sent)
    return rounded_position(said - _tastes(model, starts, item, own))


def _tastes(
    model: PositionModel, starts: NDArray[np.integer], item: Index, value: Integers
) -> Float:
    """Return `taste_of` what each of N people said, step 7. Shape (N, r)."""
    (people, d), r = (len(starts) - 1, model.selection.shape[1]), model.taste.shape[1]
    pull, gram = np.zeros((people, r)), np.zeros((people, r * (r + 1) // 2))
    unlike = value / ONE - model.base.mean(axis=1)[item] / GRAIN
    taste = model.taste / GRAIN
    whose = starts.astype(np.int64)
    sum_ratings(whose, item, unlike, np.zeros((len(taste), 0)), taste, pull, gram)
    a, b = np.tril_indices(r)
    curvature = np.empty((people, r, r))
    curvature[:, a, b] = curvature[:, b, a] = gram
    curvature = model.precision[0, 0, d:, d:] + curvature / model.noise
    return np.asarray(np.linalg.solve(curvature, pull[:, :, None] / model.noise)[:, :, 0])


_sums: WeakKeyDictionary[PositionModel, LogisticSums] = WeakKeyDictionary()
"""Products of what is disclosed of items, made once for as long as the disclosure is used."""


class _Items:
    """What groups share."""

    def __init__(self, parameters: Parameters, model: PositionModel) -> None:
        self.parameters, self.model = parameters, model
        self.everything = np.arange(parameters.n_items)
        self.selection, self.rate = model.selection / GRAIN, model.rate.T / GRAIN
        self.across = np.ascontiguousarray(self.selection.T)
        self.base, self.taste = model.base / GRAIN, model.taste / GRAIN
        if model not in _sums:
            _sums[model] = LogisticSums(self.selection)
        self.sums = _sums[model]


def _groups(
    model: PositionModel, starts: NDArray[np.integer], item: Index, value: Integers, cell: Index
) -> list[Group]:
    """Put people with ratings of one stratum (step 0) and category together."""
    count = np.diff(starts)
    cell = np.where(count > 0, cell, 0)  # who rated nothing may be of unknown category
    stratum = stratum_of(model, cell, count, expected_of(model, np.arange(len(model.rate))))
    kind = np.where(count > 0, stratum * model.rate.shape[1] + cell, -1)
    groups = []
    for which in np.unique(kind[count > 0]):
        alike = np.flatnonzero(kind == which)
        for begin in range(0, len(alike), AT_ONCE):
            people = alike[begin : begin + AT_ONCE]
            offsets = np.append(0, np.cumsum(count[people]))
            rating = np.arange(offsets[-1]) + np.repeat(
                starts[people] - offsets[:-1], count[people]
            )
            k = divmod(int(which), model.rate.shape[1])
            groups.append(Group(k[0], k[1], people, offsets, rating, item[rating], value[rating]))
    return groups


def _adjust_group(items: _Items, group: Group, everyone: Adjustment) -> None:
    """Write what becomes of a group's ratings, steps 1 to 4."""
    model, person = items.model, np.repeat(np.arange(len(group.people)), np.diff(group.offsets))
    mode, sure = _modes(items, group)
    selection, move = _counterparts(model, group, mode)
    stretch = np.zeros(len(person), dtype=np.int64)
    if model.spread is not None:
        stretch = _stretches(model, model.spread[group.stratum], group, mode, person)
    for i in np.flatnonzero(~sure):
        hers = slice(group.offsets[i], group.offsets[i + 1])
        rated = group.item[hers], group.value[hers]
        alone = counterparts(model, group.cell, items.everything, *rated)
        selection[i], move[i] = alone.selection, alone.move
        if alone.stretch is not None:
            stretch[hers] = alone.stretch
    product = np.empty((len(person), selection.shape[1]), dtype=np.int64)
    integer_products(model.selection, group.item, selection, person, product)
    logit = (model.rate[group.item] * GRAIN + product) / ONE
    p = chance(logit)
    ratio = p.min(axis=1) / p[:, group.cell]
    reveal = np.maximum(np.floor(ratio * ONE + 0.5), LEAST_REVEAL).astype(np.int64)
    everyone.reveal[group.rating] = kept(items.parameters, group.item, reveal)
    everyone.move[group.people] = move
    if items.parameters.is_unary:
        return  # no value moves
    shift = np.empty((len(person), 1), dtype=np.int64)
    integer_products(model.taste, group.item, move[:, None], person, shift)
    most = most_shift(items.parameters)
    by_taste = np.clip(shift[:, 0], -most, most)
    everyone.shift[group.rating] = np.clip(by_taste + stretch, -most, most)


def _stretches(
    model: PositionModel, spread: Float, group: Group, mode: Float, person: Index
) -> Integers:
    """Return how far scaled residuals move the values of a group, step 5. Shape (ratings,)."""
    z = rounded_position(mode)
    residual = residual_of(model, group.cell, group.item, group.value, z[person])
    square = np.bincount(person, np.square(residual / ONE), len(group.people)) / model.noise
    factor = spread_factors(spread, group.cell, np.diff(group.offsets), square)
    return stretched(residual, factor[person])


def spread_factors(spread: Float, cell: int, n_rated: Index, square: Float) -> Integers:
    """Return `spread_factor` of N people of one category. Shape (N,)."""
    mean, deviation = spread.T
    weight, w = 1 / deviation[cell] ** 2, np.full(len(n_rated), mean[cell])
    for _ in range(SPREAD_STEPS):
        seen = square * np.exp(-2 * w)
        step = (seen - n_rated - weight * (w - mean[cell])) / (weight + 2 * seen)
        w = w + np.clip(step, -LONGEST_SPREAD_STEP, LONGEST_SPREAD_STEP)
    w = rounded(w) / GRAIN
    others = mean + deviation / deviation[cell] * (w - mean[cell])[:, None]
    change = rounded(np.clip(others.mean(axis=1) - w, -MOST_LOG_SPREAD, MOST_LOG_SPREAD)) / GRAIN
    return np.floor(np.exp(change) * ONE + 0.5).astype(np.int64)


def _modes(items: _Items, group: Group) -> tuple[Float, NDArray[np.bool_]]:
    """Climb to the modes of a group's positions, step 1; say of whom it is sure. (n, D), (n,)."""
    model, (stratum, k, people, *_) = items.model, group
    n, d, r = len(people), model.selection.shape[1], model.taste.shape[1]
    pull, gram = np.zeros((n, d + r)), np.zeros((n, r * (r + 1) // 2))
    rest = group.value / ONE - items.base[group.item, k]
    sum_ratings(group.offsets, group.item, rest, items.selection, items.taste, pull, gram)
    pull[:, d:] /= model.noise
    rate, mean = np.ascontiguousarray(items.rate[k]), model.mean[stratum, k]
    start = items.sums.packed(mean[None, :d], rate)  # all begin at the mean: one sum for everyone
    expected, curved = (np.repeat(sum_, n, axis=0) for sum_ in start)
    rated, precision = gram / model.noise, model.precision[stratum, k]
    z, near, still = np.tile(mean, (n, 1)), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)

    def move(some: Index, first: Float) -> Float:
        """Let some people take a step; return how long it is in its longest coordinate."""
        curvature = Curvature(precision, curved[some], rated[some])
        given = np.hstack([pull[some, :d] - first, pull[some, d:]])
        newton = newton_steps(curvature, Slope(mean, given, z[some]), doubt=False)
        step = shortened(newton.step, items.selection)
        z[some] += step
        return np.asarray(np.abs(step).max(axis=1))

    for step in range(STEPS - 1):
        some = np.flatnonzero(~near)
        if step and len(some):
            expected[some], curved[some] = items.sums.packed(z[some, :d], rate)
        near[some] = move(some, expected[some]) < NEAR
    for _ in range(REFINEMENTS):
        some = np.flatnonzero(near & ~still)
        exact = np.zeros((len(some), d))
        expected_sums(rate, items.across, z[some, :d], exact)
        still[some] = move(some, exact) < STILL
    return z, still


def _counterparts(model: PositionModel, group: Group, mode: Float) -> tuple[Integers, Integers]:
    """Round positions and map them to the other categories, step 2. Shapes (n, K, d), (n, r)."""
    z = rounded_position(mode) / GRAIN
    mean, d = model.mean[group.stratum], model.selection.shape[1]
    there = model.map[group.stratum, group.cell]
    others = mean + np.einsum("kde,ne->nkd", there, z - mean[group.cell])
    others = np.clip(others, -FARTHEST_POSITION, FARTHEST_POSITION)
    move = z if model.weight else others[:, :, d:].mean(axis=1) - z[:, d:]
    return rounded(others[:, :, :d]), rounded(move)
