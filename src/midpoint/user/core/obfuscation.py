"""Obfuscation: a pure function on flat arrays, for one person or many."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from midpoint.errors import MidpointError
from midpoint.user.core.coins import MIX, PURPOSES, REVEAL, SPLIT, VALUE
from midpoint.user.core.counterparts import Adjustment
from midpoint.user.core.discrete import discrete_midpoint, split
from midpoint.user.parameters import Parameters
from midpoint.wire import ONE, ValueMap

Integers = NDArray[np.int64]
Float = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Obfuscated:
    """What is revealed of n ratings."""

    keep: NDArray[np.bool_]
    """Whether the rating is revealed at all. Shape (n,)."""
    value: Integers
    """What it is revealed as, fixed point; without meaning where it is withheld. Shape (n,)."""


def obfuscate(
    item: Index,
    value: Integers,
    cell: Index | int,
    parameters: Parameters,
    uniform: Float,
    adjustment: Adjustment,
    alpha: float = 1.0,
) -> Obfuscated:
    """Apply Algorithm 1 or 2, or another scheme of Section 7.1, with given uniforms.

    With probability alpha a rating is obfuscated, else it is released as it is (Section 7.2).
    Given that it is obfuscated, u_mix / alpha is uniform again, and decides which neighbouring
    level a moved value goes to.

    Args:
        item: The items, by index in the disclosure. Shape (n,).
        value: The ratings, in fixed point. Shape (n,).
        cell: Category or joint cell of who rated, or one for all. Shape (n,).
        parameters: The disclosure, as arrays.
        uniform: Coins, their columns in the order of `PURPOSES`. Shape (n, 4).
        adjustment: What `adjust` returns of these ratings.
        alpha: Share of ratings to obfuscate.
    """
    if uniform.shape != (len(item), len(PURPOSES)):
        raise MidpointError(f"uniforms must have shape ({len(item)}, {len(PURPOSES)})")
    if not 0 <= alpha <= 1:
        raise MidpointError(f"alpha is a probability, not {alpha}")
    if not adjustment.reveal.shape == adjustment.shift.shape == item.shape:
        raise MidpointError(f"the adjustment must be of these {len(item)} ratings")
    cells = np.broadcast_to(np.asarray(cell, dtype=np.intp), item.shape)
    rating = np.asarray(value, dtype=np.int64)
    chosen = uniform[:, MIX] < alpha
    moved = _moved(rating, adjustment.shift, parameters, uniform[:, MIX] / (alpha or 1))
    after = _value(item, moved, cells, parameters, uniform)
    keep = ~chosen | (uniform[:, REVEAL] * ONE < adjustment.reveal)
    return Obfuscated(keep, np.where(chosen, after, rating))


def illegal(value: Integers, parameters: Parameters) -> NDArray[np.bool_]:
    """Return which values are not ratings on the scale. Same shape."""
    if parameters.points is None:
        return (value < parameters.low) | (value > parameters.high)
    return np.asarray(parameters.points[_level(value, parameters.points)] != value)


def _moved(value: Integers, shift: Integers, parameters: Parameters, uniform: Float) -> Integers:
    """Move ratings towards their counterparts', each to a neighbouring level by a coin."""
    if not shift.any():
        return value
    if parameters.positions is None:
        raise MidpointError(f"scheme {parameters.scheme.name!r} moves no values")
    if parameters.points is None or illegal(value, parameters).any():
        raise MidpointError("a rating that is not a level of the scale cannot be moved")
    target = np.clip(value + shift, parameters.low, parameters.high)
    return split(target, parameters.points, uniform)


def _value(
    item: Index, value: Integers, cell: Index, parameters: Parameters, uniform: Float
) -> Integers:
    """Turn ratings into what is reported, by the scheme's map of values."""
    p = parameters
    if p.is_unary:
        if (wrong := illegal(value, p)).any():
            raise MidpointError(f"{value[wrong][0] / ONE:g} is not a level of the scale")
        return value  # an item is in her set: there is one value, and it says nothing
    match p.scheme.value_map:
        case ValueMap.AS_IS:
            return value
        case ValueMap.SHIFTED if p.offset is not None:
            return _shifted(item, value - p.offset[item, cell], p)
        case ValueMap.ROUNDED if p.offset is not None and p.points is not None:
            shifted = np.clip(value - p.offset[item, cell], p.low, p.high)
            return split(shifted, p.points, uniform[:, SPLIT])
        case ValueMap.ITEM_AVERAGE | ValueMap.FEATURE_AVERAGE if p.average is not None:
            choices = p.average.shape[1]
            drawn = np.floor(uniform[:, VALUE] * choices).astype(np.intp)
            return np.asarray(p.average[item, drawn])
        case ValueMap.DISCRETE if p.cumulative is not None and p.points is not None:
            if (wrong := illegal(value, p)).any():
                raise MidpointError(f"{value[wrong][0] / ONE:g} is not a level of the scale")
            level, coins = _level(value, p.points), (uniform[:, VALUE], uniform[:, SPLIT])
            return discrete_midpoint(
                p.cumulative, p.points, item, level, cell, *coins, reported=p.reported
            )
    # Never fall back to the rating as it is.
    raise MidpointError(f"these parameters lack the column that scheme {p.scheme.name!r} needs")


def _shifted(item: Index, shifted: Integers, p: Parameters) -> Integers:
    """Bring y = r - offset into what all categories can reach, on a continuous scale.

    A scale has ends: one category's y would go up to high - offset, beyond all that another can
    report, and show her there. On a discrete scale a plain shift protects nothing anyway.
    """
    if p.least is None or p.most is None:
        return shifted
    return np.asarray(np.clip(shifted, p.least[item], p.most[item]))


def _level(value: Integers, points: Integers) -> Index:
    """Return the index of each rating among the levels; the last one for what is beyond."""
    return np.minimum(np.searchsorted(points, value), len(points) - 1)
