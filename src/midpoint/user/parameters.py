"""A disclosure as arrays, built once and used for one rating or for millions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from midpoint.wire import ONE, Disclosure, Scheme, from_fixed

Integers = NDArray[np.int64]
Float = NDArray[np.float64]
T = TypeVar("T")


def made_once(make: Callable[[Disclosure], T]) -> Callable[[Disclosure], T]:
    """Make something of a disclosure once, and keep it for as long as that is used.

    One that was received is known by its bytes, so that copies share what was made of it. Of one
    that was made here nobody asked for bytes as yet, and to write them takes longer.
    """
    of_bytes: WeakKeyDictionary[Disclosure, T] = WeakKeyDictionary()
    of_object: dict[int, tuple[ref[Disclosure], T]] = {}

    def get(disclosure: Disclosure) -> T:
        at = id(disclosure)
        if at not in of_object:
            known = of_bytes.get(disclosure) if disclosure.has_bytes else None
            made = make(disclosure) if known is None else known
            if disclosure.has_bytes:
                of_bytes.setdefault(disclosure, made)
            of_object[at] = ref(disclosure, lambda _: of_object.pop(at, None)), made
        return of_object[at][1]

    return get


@dataclass(frozen=True, eq=False)
class PositionModel:
    """What counterparts are found by; numbers about items in 1/256, D dimensions."""

    rate: Integers
    """Log odds that each category rates the item, at selection factors of 0. Shape (M, K)."""
    selection: Integers
    """What each selection factor adds to them; d = 0 where sets are not protected. Shape (M, d)."""
    base: Integers
    """What each category rates the item at taste factors of 0. Shape (M, K)."""
    taste: Integers
    """What each taste factor adds to it. Shape (M, r)."""
    least: Integers
    """Least activity of each stratum, by category. Shape (G, K)."""
    mean: Float
    """Mean position of each category, by stratum. Shape (G, K, D)."""
    precision: Float
    """Inverse covariance of its positions. Shape (G, K, D, D)."""
    map: Float
    """How positions of one category are mapped to another's. Shape (G, K, K, D, D)."""
    noise: float
    """Variance of a rating around base + <taste, x>."""
    spread: Float | None
    """Mean and deviation of log spreads of each category, by stratum. Shape (G, K, 2)."""
    weight: int
    """For sets: weight of her own probability of an item in its score; 0 if it does not count."""

    @property
    def moved(self) -> int:
        """How many numbers a device keeps for its correction: see `Adjustment.move`."""
        return int((self.selection if self.weight else self.taste).shape[1])

    @classmethod
    def of(cls, disclosure: Disclosure) -> Self | None:
        """Read a disclosure's; None under a scheme without counterparts."""
        prior = disclosure.prior
        base, taste = _array(disclosure.base), _array(disclosure.taste)
        if prior is None or base is None or taste is None:
            return None
        none = np.zeros((len(base), 0), dtype=np.int64)
        choosing = taste if disclosure.taste_selects else none
        rate, selection = _array(disclosure.rate), _array(disclosure.selection)
        return cls(
            rate=np.zeros_like(base) if rate is None else rate,
            selection=np.hstack([none if selection is None else selection, choosing]),
            base=base,
            taste=taste,
            least=np.array(prior.least, dtype=np.int64),
            mean=from_fixed(prior.mean),
            precision=from_fixed(prior.precision),
            map=from_fixed(prior.map),
            noise=prior.noise / ONE,
            spread=None if prior.spread is None else from_fixed(prior.spread),
            weight=prior.weight or 0,
        )


@dataclass(frozen=True, eq=False)
class Parameters:
    """What obfuscation reads, in fixed point; M items, K cells, L levels."""

    scheme: Scheme
    """What is done to ratings."""
    n_items: int
    """M."""
    n_cells: int
    """K."""
    low: int
    """The least rating."""
    high: int
    """The greatest rating."""
    points: Integers | None
    """The ratings of a discrete scale, ascending. Shape (L,)."""
    reported: Integers | None
    """The levels that reports are on: all of the points, or fewer. Shape (R,)."""
    offset: Integers | None
    """What each category adds to a rating. Shape (M, K)."""
    least: Integers | None
    """max_k(low - offset_k): what every category can go down to, on a continuous scale. (M,)."""
    most: Integers | None
    """min_k(high - offset_k): what every category can go up to, on a continuous scale. (M,)."""
    reveal: Integers | None
    """Probability of revealing. Shape (M, K)."""
    keep: Integers | None
    """With what probability a rating goes on to be revealed; None if always. Shape (M,)."""
    levels: Integers | None
    """Each category's distribution over the levels. Shape (M, K, L)."""
    cumulative: Integers | None
    """C_k(l): what category k gives to level l and those below it. Shape (M, K, L)."""
    average: Integers | None
    """The item's average, or each category's. Shape (M, 1) or (M, K)."""
    positions: PositionModel | None
    """What counterparts are found by, under a scheme that asks for them."""

    @property
    def is_unary(self) -> bool:
        """Whether there is one level: what is rated is a set of items."""
        return self.points is not None and len(self.points) == 1

    @staticmethod
    def of(disclosure: Disclosure) -> "Parameters":
        """Read a disclosure's columns, once."""
        return _parameters(disclosure)

    @classmethod
    def read(cls, disclosure: Disclosure) -> Self:
        """Read a disclosure's columns."""
        scale = disclosure.scale
        offset, levels = _array(disclosure.offset), _array(disclosure.levels)
        smooth = None if scale.levels else offset
        return cls(
            scheme=disclosure.obfuscation,
            n_items=len(disclosure.items),
            n_cells=disclosure.n_cells,
            low=scale.low,
            high=scale.high,
            points=_array(scale.levels),
            reported=_array(scale.report_levels),
            offset=offset,
            least=None if smooth is None else _frozen(scale.low - smooth.min(axis=1)),
            most=None if smooth is None else _frozen(scale.high - smooth.max(axis=1)),
            reveal=_array(disclosure.reveal),
            keep=_array(disclosure.keep),
            levels=levels,
            cumulative=None if levels is None else _frozen(levels.cumsum(axis=2)),
            average=_array(disclosure.average),
            positions=PositionModel.of(disclosure),
        )


_parameters = made_once(Parameters.read)


def _array(column: tuple[Any, ...] | None) -> Integers | None:
    return None if column is None else _frozen(np.array(column, dtype=np.int64))


def _frozen(array: Integers) -> Integers:
    array.setflags(write=False)
    return array
