"""What the analyst discloses: its estimates as integers, no more than a scheme needs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from midpoint.analyst.categories.estimates import CategoryEstimates, Estimation
from midpoint.analyst.disclose.leak import LeakBudget
from midpoint.analyst.disclose.levels import level_table
from midpoint.analyst.disclose.positions import position_columns, weighed_for
from midpoint.analyst.disclose.specification import SchemeSpec, reported_levels, require_suited
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data import Scale
from midpoint.errors import MidpointError
from midpoint.wire import (
    ONE,
    SCHEMES,
    Disclosure,
    FeatureNames,
    RatingScale,
    ValueMap,
    as_rows,
    on_grid,
    to_fixed,
)
from midpoint.wire.limits import LEAST_REVEAL, most_spread, spread, spread_of_means

Float = NDArray[np.float64]
Integers = NDArray[np.int64]

"""Schemes that go with unary data, for messages."""
FINEST = 16
"""Most bits of a quantized number: those of a probability in fixed point."""


def disclose(
    profiles: ItemProfiles,
    scheme: str | None = None,
    *,
    estimation: Estimation = "shrunken",
    bits: int | None = None,
    leak: float | None = None,
) -> Disclosure:
    """Compute l = L(V, p), the disclosure of a scheme (Algorithms 1 and 2).

    Devices refuse categories that are said to be too far apart (`wire.limits`); what a few
    ratings of a rare item seem to say beyond that is brought to the limit.

    Args:
        profiles: The item profiles.
        scheme: Name of a scheme, with settings as in `cmp:levels=5:spread=on` (`SchemeSpec`); the
            one chosen in training (`analyst.train`) unless given.
        estimation: Category statistics "plain" as in the paper, or "shrunken".
        bits: Bits for each number, 1 to 16: the paper's closing question. A rating takes steps
            of range / 2^bits then, a probability of 2^-bits. Full fixed point unless given.
        leak: Leak budget: AUC that somebody may reach who knew all errors of what is disclosed,
            under a scheme that withholds ratings (`disclose.leak`). Items then have keep
            probabilities. The one chosen in training unless given; 1 is no budget.
    """
    spec = _require_scheme(profiles, scheme)
    name = spec.name
    if bits is not None and not 1 <= bits <= FINEST:
        raise MidpointError(f"bits must be from 1 to {FINEST}: got {bits}")
    order = profiles.order
    unary = profiles.scale.is_unary
    require_suited(name, profiles.scale)
    columns = SCHEMES[name].columns_on(unary=unary)
    filled: dict[str, Any] = {}
    if SCHEMES[name].counterparts:
        if bits is not None:
            raise MidpointError(f"{name} is disclosed at one precision; ask for dmpss with bits")
        filled = position_columns(profiles, SCHEMES[name], spread=spec.spread, shift=spec.shift)
        columns = columns - filled.keys()
    if columns:
        estimates = profiles.estimates(estimation)
        makers = {
            "offset": lambda: _offset(profiles, estimates, bits),
            "reveal": lambda: _reveal(estimates, bits),
            "levels": lambda: _levels(profiles, estimates, spec, bits),
            "average": lambda: _average(profiles, estimates, name, bits),
        }
        filled |= {column: as_rows(makers[column]()[order]) for column in sorted(columns)}
    filled |= _budget(profiles, spec, leak, bits, estimation)
    if "prior" in filled and "keep" in filled:
        filled["prior"] = weighed_for(filled["keep"], filled["prior"], profiles)
    try:
        return Disclosure(
            scheme=name,
            features=tuple(
                FeatureNames(name=feature, categories=names) for feature, names in profiles.features
            ),
            scale=_scale(profiles.scale, spec),
            items=tuple(profiles.item_ids[order].tolist()),
            bits=bits,
            sets="assigned" if spec.assigned else None,
            **filled,
        )
    except ValidationError as error:  # a name that devices refuse, or a number out of bounds
        first = error.errors()[0]
        raise MidpointError(
            f"devices would refuse this disclosure: {first['msg']}; correct the data, and train"
            " again"
        ) from error


def _require_scheme(profiles: ItemProfiles, scheme: str | None) -> SchemeSpec:
    """Return the scheme named, or the one chosen in training; there is no silent default."""
    name = scheme or profiles.scheme
    if name is None and profiles.statistics is not None:
        raise MidpointError(
            "no scheme was chosen for these profiles: train with midpoint.Analyst.train or"
            " midpoint.analyst.train, which choose the one that protects, or name a scheme"
        )
    if name is None:
        raise MidpointError(
            "the profiles were trained without a private feature; name one to train"
        )
    return SchemeSpec.read(name)


def _budget(
    profiles: ItemProfiles,
    spec: SchemeSpec,
    leak: float | None,
    bits: int | None,
    estimation: Estimation,
) -> dict[str, Any]:
    """Return keep probabilities, and how far errors leak under them; nothing if all is revealed.

    They are the share that devices reveal, times those of a leak budget. Where items are withheld
    by category, too, and numbers are as they were estimated, it is known how far errors alone leak.
    """
    scheme, share = spec.scheme, spec.share
    wanted = leak if leak is not None or not scheme.sub_samples else profiles.leak
    wanted = spec.leak if wanted is None else wanted
    errors_only = scheme.sub_samples and bits is None and estimation == "shrunken"
    if wanted is None or wanted == 1:
        if spec.keep is None:
            return {}
        if not errors_only:
            return {"keep": (int(share * ONE),) * profiles.n_items}
        wanted = 1.0
    if not scheme.sub_samples:
        raise MidpointError(
            f"scheme {scheme.name!r} reveals every rating, so that nothing keeps to a leak of"
            f" {wanted}; ask for one that withholds some, such as dmpss or cmpss"
        )
    if bits is not None:
        raise MidpointError("keep probabilities have one precision; ask for a leak without bits")
    rule = LeakBudget(profiles, share)
    budget = rule.everything() if wanted == 1 else rule.within(wanted)
    # Down, so that rounding does not add to what may leak.
    keep = np.floor(share * budget.keep[profiles.order] * ONE).astype(np.int64)
    return {"keep": tuple(keep.tolist()), "leak": int(np.ceil(budget.leak * ONE))}


def _scale(scale: Scale, spec: SchemeSpec) -> RatingScale:
    reported = reported_levels(scale, spec.levels)
    levels, fewer = (
        None if points is None else tuple(to_fixed(np.array(points)).tolist())
        for points in (scale.levels, reported)
    )
    low, high = to_fixed(np.array([scale.low, scale.high])).tolist()
    return RatingScale(low=low, high=high, levels=levels, reported=fewer)


def _offset(profiles: ItemProfiles, estimates: CategoryEstimates, bits: int | None) -> Integers:
    """Return the offsets that come with the profiles, or plain ones where those are asked for."""
    offset = estimates.offset if estimates.method == "plain" else profiles.offset
    span = _range(profiles.scale)
    rounded, most = on_grid(to_fixed(offset), span, bits), most_spread(span)
    far, step = spread(rounded) > most, 1 if bits is None else max(1, span >> bits)
    exact = offset[far] * ONE
    share = np.minimum(most / np.ptp(exact, axis=1, keepdims=True), 1.0)
    # Towards zero, so that what is brought to the limit does not step over it again.
    rounded[far] = (np.trunc(exact * share / step) * step).astype(np.int64)
    return rounded


def _reveal(estimates: CategoryEstimates, bits: int | None) -> Integers:
    """Return min_k p_k / p_k; what nobody of a category rated in training it always reveals."""
    p = estimates.probability
    least = p.min(axis=1, keepdims=True)
    ratio = np.divide(least, p, out=np.ones_like(p), where=p > 0)
    step = 1 << (FINEST - (bits or FINEST))
    return np.maximum(on_grid(to_fixed(ratio), ONE, bits), max(step, LEAST_REVEAL))


def _levels(
    profiles: ItemProfiles, estimates: CategoryEstimates, spec: SchemeSpec, bits: int | None
) -> Integers:
    """Return distributions in whole units; those too far apart are mixed with their mean."""
    table = level_table(profiles, estimates, spread=spec.spread)
    points, most = to_fixed(np.array(profiles.scale.levels)), most_spread(_range(profiles.scale))
    units = _in_units(table, bits)
    for share in (0.99, 0.0):  # no share of their own where the grid is too coarse for one
        apart = spread_of_means(units, points) / ONE
        far = apart > most
        exact = table[far]
        mean = exact.mean(axis=1, keepdims=True)
        nearer = mean + (exact - mean) * (share * most / apart[far, None, None])
        units[far] = _in_units(nearer, bits)
    return units


def _in_units(distribution: Float, bits: int | None) -> Integers:
    """Return whole units that sum to 2^16 exactly, by largest remainders. Shape (M, K, L)."""
    whole = 1 << (bits or FINEST)
    exact = distribution * whole
    floor = np.floor(exact).astype(np.int64)
    missing = whole - floor.sum(axis=2, keepdims=True)
    rank = np.argsort(np.argsort(floor - exact, axis=2, kind="stable"), axis=2)
    return np.asarray((floor + (rank < missing)) * (ONE // whole))


def _average(
    profiles: ItemProfiles, estimates: CategoryEstimates, scheme: str, bits: int | None
) -> Integers:
    """Return the item's average rating, or each category's (IA and FA in Sec. 7.1)."""
    if SCHEMES[scheme].value_map is ValueMap.ITEM_AVERAGE:
        count = estimates.statistics.count.sum(axis=1, keepdims=True)
        total = estimates.statistics.total.sum(axis=1, keepdims=True)
        average = np.where(count > 0, total / np.maximum(count, 1), estimates.centre[:, None])
    else:
        average = estimates.centre[:, None] + estimates.offset
    scale = profiles.scale
    low, high = to_fixed(np.array([scale.low, scale.high])).tolist()
    average_on_grid = low + on_grid(to_fixed(average) - low, high - low, bits)
    return np.asarray(np.clip(average_on_grid, low, high))


def _range(scale: Scale) -> int:
    return int(to_fixed(np.array([scale.high - scale.low]))[0])
