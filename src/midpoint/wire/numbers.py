"""What the numbers of a disclosure can be: analysts check it before they publish, devices again.

One implementation serves both. It proves consistency, not truth.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.wire.disclosure import Disclosure
from midpoint.wire.fixed import GRAIN, ONE, from_fixed
from midpoint.wire.limits import (
    LEAST_REVEAL,
    LEAST_STRETCH,
    MOST_STRETCH,
    are_strata_alike,
    most_number_ratio,
    most_spread,
    spread,
    spread_of_means,
)
from midpoint.wire.positions import (
    DAMPING,
    FARTHEST_LOG_SPREAD,
    FARTHEST_POSITION,
    LEAST_DEVIATION,
    LEAST_PRECISION,
    MOST_ACTIVITY,
    MOST_DEVIATION,
    MOST_LOG_SPREAD,
    MOST_LOGIT,
    MOST_PRECISION,
    MOST_WEIGHT,
    QUIETEST,
    SUREST,
    Prior,
)
from midpoint.wire.refusal import Refusal, RefusedError

Integers = NDArray[np.int64]
Rows = tuple[Any, ...]


def check_numbers(disclosure: Disclosure) -> None:
    """Refuse numbers that no honest analyst sends, whatever its data.

    Offsets lie within the scale's range R, as do their differences (so there are values that all
    categories can report), and are centred: they sum to 0 over the categories, up to rounding (K
    units, or K R / 2^bits when quantized). A level distribution has no negative mass and sums to
    2^16. A reveal probability is in 1 .. 2^16, and the category that rates an item least, which
    always reveals, has 2^16. A keep probability, which is the same for all, is in 0 .. 2^16.
    Averages lie on the scale. Beyond what `wire.limits` allows, one answer would show too much: a
    reveal probability below 1/64, or means of categories, by offsets or by levels, that are further
    apart than 3/4 of the scale, or log spreads that are over 1/4 apart. For counterparts see
    `_require_positions`; what becomes of a rating because of them has the same first two limits.
    """
    items, scale = disclosure.items, disclosure.scale
    span = scale.high - scale.low
    if disclosure.offset is not None:
        _require_offsets(np.array(disclosure.offset, np.int64), disclosure, span)
    if disclosure.levels is not None:
        _require_levels(np.array(disclosure.levels, np.int64), items)
    if disclosure.reveal is not None:
        _require_reveal(np.array(disclosure.reveal, np.int64), items)
    if disclosure.keep is not None:
        keep = np.array(disclosure.keep, np.int64)
        _require(
            (keep >= 0) & (keep <= ONE),
            Refusal.REVEAL_OUT_OF_RANGE,
            "a keep probability out of range",
            items,
        )
    if disclosure.prior is not None:
        _require_positions(disclosure, span)
        _require_prior(disclosure.prior, span)
        _require_numbers(disclosure, disclosure.prior)
        _require_spread(disclosure.prior)
        _require_weight(disclosure.prior, unary=scale.is_unary)
    if disclosure.average is not None:
        average = np.array(disclosure.average, np.int64)
        fine = ((average >= scale.low) & (average <= scale.high)).all(axis=1)
        _require(fine, Refusal.AVERAGE_OUT_OF_RANGE, "an average off the scale", items)
    _require_limits(disclosure, span)


def _require_offsets(offset: Integers, disclosure: Disclosure, span: int) -> None:
    items, bits = disclosure.items, disclosure.bits
    wide = (np.abs(offset).max(axis=1) > span) | (spread(offset) > span)
    _require(~wide, Refusal.OFFSET_TOO_LARGE, "an offset beyond what the scale allows", items)
    slack = disclosure.n_cells * (1 if bits is None else max(1, span >> bits))
    centred = np.abs(offset.sum(axis=1)) <= slack
    _require(centred, Refusal.OFFSET_NOT_CENTRED, "offsets that do not sum to zero", items)


def _require_levels(levels: Integers, items: Sequence[str]) -> None:
    inside = (levels >= 0) & (levels <= ONE)
    fine = inside.all(axis=(1, 2)) & (levels.sum(axis=2) == ONE).all(axis=1)
    _require(fine, Refusal.BAD_DISTRIBUTION, "levels that are no distribution", items)


def _require_reveal(reveal: Integers, items: Sequence[str]) -> None:
    fine = ((reveal >= 1) & (reveal <= ONE)).all(axis=1)
    _require(fine, Refusal.REVEAL_OUT_OF_RANGE, "a reveal probability out of range", items)
    fine = reveal.max(axis=1) == ONE
    _require(fine, Refusal.REVEAL_INCONSISTENT, "no category that always reveals", items)


def _require_limits(disclosure: Disclosure, span: int) -> None:
    """Refuse categories that are said to be further apart than anybody's data says."""
    items, most = disclosure.items, most_spread(span)
    if disclosure.offset is not None:
        fine = spread(np.array(disclosure.offset, np.int64)) <= most
        _require(fine, Refusal.TOO_TELLING, "categories too far apart", items)
    if disclosure.levels is not None and disclosure.scale.levels is not None:
        points = np.array(disclosure.scale.levels, np.int64)
        fine = spread_of_means(np.array(disclosure.levels, np.int64), points) <= most * ONE
        _require(fine, Refusal.TOO_TELLING, "categories too far apart", items)
    if disclosure.reveal is not None:
        fine = np.array(disclosure.reveal, np.int64).min(axis=1) >= LEAST_REVEAL
        _require(fine, Refusal.TOO_TELLING, "a category that hardly ever reveals it", items)


def _require_positions(disclosure: Disclosure, span: int) -> None:
    """Refuse numbers of items that are beyond all measure, where there are counterparts.

    Bases lie on the scale or at most its range beyond; log odds, and what a selection factor adds
    to them, up to 32, a taste factor up to twice the range. So all sums of a device stay exact.
    """
    low, high = disclosure.scale.low, disclosure.scale.high
    range_ = span * GRAIN // ONE
    taste, base = _array(disclosure.taste), _array(disclosure.base)
    selection = [_array(disclosure.selection)] + [taste] * disclosure.taste_selects
    sizes = (
        (_array(disclosure.rate), MOST_LOGIT * GRAIN),
        *((factors, max(MOST_LOGIT * GRAIN, 2 * range_)) for factors in selection),
        (taste, 2 * range_),
        (2 * base - (low + high) * GRAIN // ONE, 3 * range_),
    )
    for numbers, most in sizes:
        fine = np.abs(numbers).max(axis=1, initial=0) <= most
        _require(fine, Refusal.BAD_POSITIONS, "numbers of positions out of range", disclosure.items)


def _require_prior(prior: Prior, span: int) -> None:
    """Refuse a prior of positions that is none, so that no step of a device fails.

    Strata ascend from an activity of 0 to at most 2^32. A precision is symmetric and positive
    definite, a category's map to itself changes nothing, the noise deviates by at least 1/64 of the
    range; means are at most 64. Maps keep to their limits (`wire.limits`).
    """
    least = np.array(prior.least, dtype=np.int64)
    mean, precision = from_fixed(prior.mean), from_fixed(prior.precision)
    maps = from_fixed(prior.map)
    turns = (maps + maps.swapaxes(3, 4)).reshape(-1, *maps.shape[3:])
    itself = np.diagonal(maps, axis1=1, axis2=2).transpose(0, 3, 1, 2)
    sound = (
        prior.noise / ONE * QUIETEST**2 >= (span / ONE) ** 2
        and np.abs(precision).max() <= MOST_PRECISION
        and np.abs(mean).max() <= FARTHEST_POSITION
        and np.abs(maps).max() <= MOST_STRETCH
        and all(_is_definite(turn, 2 * LEAST_STRETCH) for turn in turns)
        and (itself == np.eye(mean.shape[2])).all()
        and (precision == precision.swapaxes(2, 3)).all()
        and all(_is_definite(p, LEAST_PRECISION) for matrices in precision for p in matrices)
        and (least[0] == 0).all()
        and (np.diff(least, axis=0) >= 0).all()
        and least.max() <= MOST_ACTIVITY
    )
    if not sound:
        raise RefusedError(
            Refusal.BAD_POSITIONS,
            "the prior of positions is no distribution, or has numbers out of range",
        )


def _require_numbers(disclosure: Disclosure, prior: Prior) -> None:
    """Refuse categories that rate far more items than others, or whose strata begin later.

    An activity is compared with what is expected of a category. So where rates are false, strata
    of equal activity begin at other numbers of items. And where means are false, one category
    withholds what the other reveals. Both are held to their limits (`wire.limits`) for somebody who
    is asked about everything.
    """
    least = np.array(prior.least, dtype=np.int64)
    rate = np.zeros((1, disclosure.n_cells))
    if disclosure.rate is not None:
        rate = _array(disclosure.rate) / GRAIN
    factors = [_array(disclosure.selection)] + [_array(disclosure.taste)] * disclosure.taste_selects
    selection = np.hstack(factors) / GRAIN
    means = from_fixed(prior.mean)[:, :, : selection.shape[1]]
    if not (are_strata_alike(least) and are_strata_alike(least * _expected(rate))):
        raise RefusedError(
            Refusal.TOO_TELLING, "a stratum begins later in one category than in another"
        )
    at_means = np.array([_expected(rate + selection @ mean.T) for mean in means])
    if not are_strata_alike(at_means, most_number_ratio(disclosure.n_cells)):
        raise RefusedError(
            Refusal.TOO_TELLING,
            "one category is said to rate far more items than another; if it does, merge"
            " categories, or choose a scheme without counterparts",
        )


def _expected(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many items each category rates, damped as an activity is; fixed point. (K,)."""
    chance = 1 / (1 + np.exp(-np.clip(logit, -SUREST, SUREST)))
    return np.asarray(np.floor(chance * ONE + 0.5).sum(axis=0) + DAMPING * ONE)


def _require_spread(prior: Prior) -> None:
    """Refuse log spreads that no device could use, or whose means are over 1/4 apart."""
    if prior.spread is None:
        return
    mean, deviation = np.moveaxis(from_fixed(prior.spread), 2, 0)
    within = (deviation >= LEAST_DEVIATION) & (deviation <= MOST_DEVIATION)
    if not (within & (np.abs(mean) <= FARTHEST_LOG_SPREAD)).all():
        raise RefusedError(Refusal.BAD_POSITIONS, "log spreads are out of range")
    if np.ptp(mean, axis=1).max() > MOST_LOG_SPREAD:
        raise RefusedError(Refusal.TOO_TELLING, "categories' spreads are too far apart")


def _require_weight(prior: Prior, *, unary: bool) -> None:
    """Refuse a weight of her own probabilities that is out of range, or on a scale with values."""
    if prior.weight is None:
        return
    if not unary or not 0 < prior.weight <= MOST_WEIGHT * ONE:
        raise RefusedError(Refusal.BAD_POSITIONS, "the weight of probabilities is out of range")


def _is_definite(matrix: NDArray[np.float64], least: float) -> bool:
    """Tell whether a symmetric matrix is at least so much in all directions."""
    try:
        np.linalg.cholesky(matrix - least * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return False
    return True


def _array(rows: Rows | None) -> Integers:
    """Return a column, or one without numbers where a scheme has none."""
    return np.zeros((1, 0), np.int64) if rows is None else np.array(rows, dtype=np.int64)


def _require(
    fine: NDArray[np.bool_] | np.bool_, code: Refusal, what: str, items: Sequence[str]
) -> None:
    if not fine.all():
        raise RefusedError(code, f"item {items[int(np.argmin(fine))]!r} has {what}")
