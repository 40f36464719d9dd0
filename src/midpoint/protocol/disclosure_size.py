"""How much is disclosed: in bits, and by Definition 3, where the map between two is code."""

from collections.abc import Callable
from math import comb, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.protocol.full import FullDisclosure
from midpoint.protocol.learning import LearningProtocol
from midpoint.wire import (
    GRAIN,
    ONE,
    Disclosure,
    RatingScale,
    Scheme,
    ValueMap,
    as_rows,
    correction,
    on_grid,
)
from midpoint.wire.positions import MOST_LOGIT

Derivation = Callable[[Disclosure], Disclosure]
Maker = Callable[[Disclosure], NDArray[Any]]

FINEST = 16
"""Bits of a number that is not quantized."""
FLOAT_BITS = 32
"""Bits of each entry of an item profile, as training yields it."""


def bits_per_item(disclosure: Disclosure) -> float:
    """Return how many bits a disclosure spends on an item; see `row_bits`."""
    shape = disclosure.obfuscation, disclosure.n_cells, disclosure.scale, disclosure.bits
    if disclosure.prior is not None:
        d, r = (0 if c is None else len(c[0]) for c in (disclosure.selection, disclosure.taste))
        return row_bits(*shape, selection_factors=d, taste_factors=r)
    if isinstance(disclosure, FullDisclosure):  # one entry is constant; the centre counts for it
        return row_bits(*shape) + FLOAT_BITS * len(disclosure.vectors[0])
    return row_bits(*shape)


def row_bits(
    scheme: Scheme,
    n_cells: int,
    scale: RatingScale,
    bits: int | None = None,
    *,
    selection_factors: int = 0,
    taste_factors: int = 0,
) -> float:
    """Return log2 of the number of rows that a disclosure could hold for an item.

    Counted are the rows that pass a device's checks: offsets of one category follow from those
    of the others; some category always reveals; a level distribution sums to 2^bits. The prior
    of positions, which is disclosed once, is not counted.
    """
    span, whole = scale.high - scale.low, 1 << (bits or FINEST)
    step, levels = _step(span, bits), len(scale.levels or ())
    averages = 1 if scheme.value_map is ValueMap.ITEM_AVERAGE else n_cells
    size = {
        "offset": (n_cells - 1) * log2(2 * (span // step) + 1),
        "reveal": log2(whole**n_cells - (whole - 1) ** n_cells),
        "levels": n_cells * log2(comb(whole + levels - 1, levels - 1)) if levels else 0.0,
        "average": averages * log2(span // step + 1),
        "rate": n_cells * log2(2 * MOST_LOGIT * GRAIN + 1),
        "selection": selection_factors * log2(2 * MOST_LOGIT * GRAIN + 1),
        "base": n_cells * log2(3 * span * GRAIN // ONE + 1),
        "taste": taste_factors * log2(4 * span * GRAIN // ONE + 1),
    }
    columns = scheme.columns_on(unary=scale.is_unary)
    return sum((size[column] for column in sorted(columns)), 0.0)


def derive(a: LearningProtocol, b: LearningProtocol) -> Derivation | None:
    """Return the map phi with L_b = phi(L_a) of Definition 3; None if there is none.

    From level distributions follow the categories' averages, and from averages the offsets: each
    is a function of the class-conditional distributions. Of shrunken estimates the derived ones
    are shrunken in another way than the analyst's own. Coarser numbers follow from the finest
    only: rounding twice is not rounding once.
    """
    if b.name == "full":
        return _same if a.name == "full" else None
    if b.scheme.counterparts:  # the prior of positions follows from no other column
        return _same if a == b else None
    if a.levels != b.levels:  # tables over other levels are shrunken otherwise
        return None
    wanted = b.scheme.columns
    same_numbers = a.estimation == b.estimation and a.bits in {None, b.bits}
    if wanted and not same_numbers:
        return None
    makers = {column: _maker(a, b, column) for column in wanted}
    if any(make is None for make in makers.values()):
        return None

    def phi(disclosure: Disclosure) -> Disclosure:
        filled: dict[str, Any] = {
            name: as_rows(make(disclosure)) for name, make in makers.items() if make
        }
        return Disclosure(
            scheme=b.scheme.name,
            features=disclosure.features,
            scale=disclosure.scale,
            items=disclosure.items,
            bits=b.bits,
            **filled,
        )

    return phi


def discloses_at_least_as_much(a: LearningProtocol, b: LearningProtocol) -> bool:
    """Return whether L_b can be had from L_a (Definition 3)."""
    return derive(a, b) is not None


def discloses_strictly_more(a: LearningProtocol, b: LearningProtocol) -> bool:
    """Return whether L_b can be had from L_a, but not the other way round (Definition 3)."""
    return derive(a, b) is not None and derive(b, a) is None


def _same(disclosure: Disclosure) -> Disclosure:
    return disclosure


def _maker(a: LearningProtocol, b: LearningProtocol, column: str) -> Maker | None:
    """Return how to get one column of b from those of a; None if it cannot be had."""
    coarser = a.bits != b.bits
    if column in a.scheme.columns and _kind(a.scheme, column) == _kind(b.scheme, column):
        if not coarser:
            return lambda disclosure: np.array(getattr(disclosure, column))
        return {"offset": _coarse_offset, "reveal": _coarse_reveal}.get(column, _none)(b.bits)
    if coarser or a.bits is not None:
        return None
    by_category = a.scheme.value_map in (ValueMap.DISCRETE, ValueMap.FEATURE_AVERAGE)
    if column == "offset" and by_category:
        return correction
    if column == "average" and a.scheme.value_map is ValueMap.DISCRETE:
        return _averages if b.scheme.value_map is ValueMap.FEATURE_AVERAGE else None
    return None


def _kind(scheme: Scheme, column: str) -> ValueMap | None:
    """Distinguish the two kinds of averages."""
    return scheme.value_map if column == "average" else None


def _averages(disclosure: Disclosure) -> NDArray[np.int64]:
    """Return each category's mean rating, from its distribution, rounded half up."""
    total = np.array(disclosure.levels) @ np.array(disclosure.scale.levels)
    return np.asarray((2 * total + ONE) // (2 * ONE))


def _coarse_offset(bits: int | None) -> Maker:
    def coarse(disclosure: Disclosure) -> NDArray[np.int64]:
        span = disclosure.scale.high - disclosure.scale.low
        return on_grid(np.array(disclosure.offset), span, bits)

    return coarse


def _coarse_reveal(bits: int | None) -> Maker:
    def coarse(disclosure: Disclosure) -> NDArray[np.int64]:
        return np.maximum(on_grid(np.array(disclosure.reveal), ONE, bits), _step(ONE, bits))

    return coarse


def _none(_: int | None) -> None:
    return None


def _step(span: int, bits: int | None) -> int:
    """Return the step between numbers of so many bits: see `on_grid`."""
    return 1 if bits is None else max(1, span >> bits)
