"""Adjustments of whole populations: the arithmetic of `user.core.counterparts`, many at a time.

Newton steps of people who were asked the same are taken together, so that the sums over items are
products of matrices. A contract test holds the result to the one-person code.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.user import Adjustment, Parameters
from midpoint.user.core.counterparts import (
    adjustment_of,
    chance,
    counterparts_at,
    evidence_of,
    expected_of,
    stratum_of,
)
from midpoint.user.parameters import PositionModel
from midpoint.wire import GRAIN, ONE
from midpoint.wire.positions import LONGEST_STEP, STEPS

Integers = NDArray[np.int64]
Float = NDArray[np.float64]
Index = NDArray[np.intp]

AT_ONCE = 2**19
"""People times items whose positions are estimated in one step."""
PAIRING = 8
"""From so many people on it pays to multiply all pairs of selection factors first."""
MOST_PAIRS = 2**24
"""Products of selection factors, at most, that are kept for that: 128 MB."""


class Answers(NamedTuple):
    """What one person rated."""

    cell: int
    """Her category or joint cell."""
    item: Index
    """The items, by index in the disclosure. Shape (n,)."""
    value: Integers
    """Her ratings, in fixed point. Shape (n,)."""


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
    everything = np.arange(parameters.n_items)
    reveal, shift = np.full(len(item), ONE), np.zeros(len(item), dtype=np.int64)
    move = np.zeros((len(cell), model.taste.shape[1]), dtype=np.int64)
    part = [slice(*ends) for ends in pairwise(starts.tolist())]
    rated = [i for i in range(len(part)) if part[i].start < part[i].stop]
    size = max(1, AT_ONCE // parameters.n_items) if asked is None else 1
    for first in range(0, len(rated), size):
        group = rated[first : first + size]
        about = everything if asked is None else asked[group[0]]
        people = [Answers(int(cell[i]), item[part[i]], value[part[i]]) for i in group]
        strata = _strata(model, about, people)
        modes = _modes(model, about, people, strata)
        for i, person, stratum, mode in zip(group, people, strata, modes, strict=True):
            other = counterparts_at(model, stratum, person.cell, mode)
            hers = adjustment_of(parameters, person.cell, person.item, other)
            reveal[part[i]], shift[part[i]], move[i] = hers.reveal, hers.shift, hers.move
    return Adjustment(reveal, shift, move)


def _strata(model: PositionModel, asked: Index, people: Sequence[Answers]) -> list[int]:
    """Return the strata of people who were asked the same."""
    expected = expected_of(model, asked)
    return [stratum_of(model, p.cell, len(p.item), expected[p.cell]) for p in people]


def _modes(
    model: PositionModel, asked: Index, people: Sequence[Answers], strata: Sequence[int]
) -> Float:
    """Climb to the modes of the positions of people who were asked the same. Shape (N, D)."""
    d, cell = model.selection.shape[1], [person.cell for person in people]
    selection, rate = model.selection[asked] / GRAIN, model.rate[asked][:, cell].T / GRAIN
    evidence = [
        evidence_of(model, stratum, *person) for person, stratum in zip(people, strata, strict=True)
    ]
    pull, fixed = (np.stack(parts) for parts in zip(*evidence, strict=True))
    gram, z = _gram_of(selection, len(people)), model.mean[strata, cell]
    for _ in range(STEPS):
        p = chance(rate + z[:, :d] @ selection.T)
        gradient = pull - (fixed @ z[:, :, None])[:, :, 0]
        gradient[:, :d] -= p @ selection
        curvature = fixed.copy()
        curvature[:, :d, :d] += gram(p * (1 - p))
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        z = z + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
    return z


def _gram_of(selection: Float, people: int) -> Callable[[Float], Float]:
    """Return what sums w_j selection_j selection_j' with each person's weights. Shape (N, d, d)."""
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
