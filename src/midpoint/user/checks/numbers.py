"""What a device refuses of a disclosure's numbers. Consistency is checked, not truth."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from midpoint.user.parameters import Parameters, PositionModel
from midpoint.wire import GRAIN, ONE, Disclosure, Refusal, RefusedError
from midpoint.wire.limits import LEAST_REVEAL, most_spread, spread, spread_of_means
from midpoint.wire.positions import (
    FARTHEST_POSITION,
    LEAST_PRECISION,
    MOST_ACTIVITY,
    MOST_LOGIT,
    MOST_PRECISION,
    QUIETEST,
)


def check_numbers(disclosure: Disclosure) -> None:
    """Refuse numbers that no honest analyst sends, whatever its data.

    Offsets are within the scale's range R, as are their differences (so there are values that all
    categories can report), and are centred: they sum to 0 over the categories, up to rounding (K
    units, or K R / 2^bits when quantized). A level distribution has no negative mass and sums to
    2^16. A reveal probability is in 1 .. 2^16, and the category that rates an item least, which
    always reveals, has 2^16. Averages are on the scale. Beyond what `wire.limits` allows, one
    answer would leak too much: a reveal probability below 1/64, or means of categories, by offsets
    or by levels, that are further apart than 3/4 of the scale. Of counterparts see
    `_require_positions`; an adjustment has the same two limits.
    """
    p, items = Parameters.of(disclosure), disclosure.items
    span = p.high - p.low
    if p.offset is not None:
        wide = (np.abs(p.offset).max(axis=1) > span) | (spread(p.offset) > span)
        _require(~wide, Refusal.OFFSET_TOO_LARGE, "an offset beyond what the scale allows", items)
        slack = p.n_cells * (1 if disclosure.bits is None else max(1, span >> disclosure.bits))
        centred = np.abs(p.offset.sum(axis=1)) <= slack
        _require(centred, Refusal.OFFSET_NOT_CENTRED, "offsets that do not sum to zero", items)
    if p.levels is not None:
        inside = (p.levels >= 0) & (p.levels <= ONE)
        fine = inside.all(axis=(1, 2)) & (p.levels.sum(axis=2) == ONE).all(axis=1)
        _require(fine, Refusal.BAD_DISTRIBUTION, "levels that are no distribution", items)
    if p.reveal is not None:
        fine = ((p.reveal >= 1) & (p.reveal <= ONE)).all(axis=1)
        _require(fine, Refusal.REVEAL_OUT_OF_RANGE, "a reveal probability out of range", items)
        fine = p.reveal.max(axis=1) == ONE
        _require(fine, Refusal.REVEAL_INCONSISTENT, "no category that always reveals", items)
    if p.positions is not None:
        _require_positions(p.positions, p, items)
    if p.average is not None:
        fine = ((p.average >= p.low) & (p.average <= p.high)).all(axis=1)
        _require(fine, Refusal.AVERAGE_OUT_OF_RANGE, "an average off the scale", items)
    _require_limits(p, items)


def _require_limits(p: Parameters, items: Sequence[str]) -> None:
    """Refuse categories that are further apart than in any data (`wire.limits`)."""
    most = most_spread(p.high - p.low)
    if p.offset is not None:
        fine = spread(p.offset) <= most
        _require(fine, Refusal.TOO_TELLING, "categories too far apart", items)
    if p.levels is not None and p.points is not None:
        fine = spread_of_means(p.levels, p.points) <= most * ONE
        _require(fine, Refusal.TOO_TELLING, "categories too far apart", items)
    if p.reveal is not None:
        fine = p.reveal.min(axis=1) >= LEAST_REVEAL
        _require(fine, Refusal.TOO_TELLING, "a category that hardly ever reveals it", items)


def _require_positions(model: PositionModel, p: Parameters, items: Sequence[str]) -> None:
    """Refuse a prior of positions that is not a distribution, or numbers beyond their limits.

    Strata ascend from an activity of 0 to at most 2^32. A precision is symmetric and positive
    definite, a category's map to itself changes nothing, the noise deviates by at least 1/64 of
    the range. A base is on the scale or at most its range beyond. Log odds, and what a selection
    factor adds to them, go up to 32, a taste factor up to twice the range, means and maps up to
    64. So all sums of a device stay exact, and none of its steps fails.
    """
    span = (p.high - p.low) * GRAIN // ONE
    sizes = (
        (model.rate, MOST_LOGIT * GRAIN),
        # Taste factors that decide what is rated stand among the selection factors.
        (model.selection, max(MOST_LOGIT * GRAIN, 2 * span)),
        (model.taste, 2 * span),
        (2 * model.base - (p.low + p.high) * GRAIN // ONE, 3 * span),
    )
    for numbers, most in sizes:
        fine = np.abs(numbers).max(axis=1, initial=0) <= most
        _require(fine, Refusal.BAD_POSITIONS, "numbers of positions out of range", items)
    itself = np.diagonal(model.map, axis1=1, axis2=2).transpose(0, 3, 1, 2)
    sound = (
        model.noise * QUIETEST**2 >= ((p.high - p.low) / ONE) ** 2
        and np.abs(model.precision).max() <= MOST_PRECISION
        and np.abs(model.mean).max() <= FARTHEST_POSITION
        and np.abs(model.map).max() <= FARTHEST_POSITION
        and (itself == np.eye(model.mean.shape[2])).all()
        and (model.precision == model.precision.swapaxes(2, 3)).all()
        and all(_is_definite(precision) for prior in model.precision for precision in prior)
        and (model.least[0] == 0).all()
        and (np.diff(model.least, axis=0) >= 0).all()
        and model.least.max() <= MOST_ACTIVITY
    )
    if not sound:
        raise RefusedError(
            Refusal.BAD_POSITIONS,
            "the prior of positions is not a distribution, or beyond its limits",
        )


def _is_definite(precision: NDArray[np.float64]) -> bool:
    """Return whether a precision is at least LEAST_PRECISION in all directions."""
    try:
        np.linalg.cholesky(precision - LEAST_PRECISION * np.eye(len(precision)))
    except np.linalg.LinAlgError:
        return False
    return True


def _require(
    fine: NDArray[np.bool_] | np.bool_, code: Refusal, what: str, items: Sequence[str]
) -> None:
    if not fine.all():
        raise RefusedError(code, f"item {items[int(np.argmin(fine))]!r} has {what}")
