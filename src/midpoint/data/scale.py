"""The scale of ratings: a few levels, an interval, or one level (used or liked)."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.data.plausibility import Values, require_plausible, step_of
from midpoint.errors import MidpointError

MOST_LEVELS = 128
"""More distinct values than this are no levels: they are rounded to those of a fine scale."""
FINEST = 100
"""Steps of a fine scale, at most."""
LIKED = 0.75
"""A rating at least this far up the scale says that somebody liked an item: 4 of 1 to 5 stars."""
CROWDED = 0.5
"""Where a step of a fine scale holds a larger share of the ratings, they are counts."""
ROUNDED = (
    "%s: the %d ratings have %s different values, so they are rounded to %s, steps of %g: the"
    " digits of a rating that is not rounded can give the private feature away. --levels makes"
    " fewer levels, --scale LOW:HIGH:STEP names the true ones"
)
"""What is said where ratings come in no levels."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scale:
    """What a rating can be."""

    low: float
    """The least rating."""
    high: float
    """The greatest rating."""
    levels: tuple[float, ...] | None = None
    """All possible ratings in ascending order; None on a continuous scale.

    One level, the upper end, is that of unary data: sets of items that people used or liked."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise MidpointError(
                f"a scale needs finite bounds, low < high: got {self.low}, {self.high}"
            )
        if self.levels is not None and (
            (self.levels[0], self.levels[-1]) not in {(self.low, self.high), (self.high, self.high)}
            or (len(self.levels) == 1 and self.low != 0)
            or any(a >= b for a, b in zip(self.levels, self.levels[1:], strict=False))
        ):
            raise MidpointError(f"levels must ascend from low to high: got {self.levels}")

    @classmethod
    def discrete(cls, levels: Sequence[float]) -> Self:
        """Make a scale of these levels."""
        ordered = tuple(sorted({float(level) for level in levels}))
        if len(ordered) < 2:
            raise MidpointError(f"a discrete scale needs at least two levels: got {list(levels)}")
        return cls(ordered[0], ordered[-1], ordered)

    @classmethod
    def stars(cls, low: float, high: float, step: float = 1.0) -> Self:
        """Make a scale of equal steps, such as one to five stars."""
        count = round((high - low) / step) + 1
        # Rounded, so that three steps of 0.1 make 0.3 and not 0.30000000000000004.
        return cls.discrete([round(low + step * k, 12) for k in range(count)])

    @classmethod
    def unary(cls) -> Self:
        """Make the scale of unary data: an item is in a person's set, 1, or nothing is known."""
        return cls(0.0, 1.0, (1.0,))

    @classmethod
    def continuous(cls, low: float, high: float) -> Self:
        """Make an interval."""
        return cls(float(low), float(high))

    @classmethod
    def fine(cls, low: float, high: float) -> Self:
        """Make levels of an interval: all multiples of a round step that cover it.

        The step is 1, 2 or 5 times a power of ten, the least that makes at most `FINEST` steps:
        -9.8 to 9.93 becomes -9.8, -9.6 ... 10.
        """
        exponent = floor(np.log10((high - low) / FINEST)) - 1
        for step in (float(f"{m}e{exponent + k}") for k in range(4) for m in (1, 2, 5)):
            first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
            if last - first <= FINEST:
                break
        return cls.discrete([float(f"{step * k:.12g}") for k in range(first, last + 1)])

    @classmethod
    def guess(
        cls,
        values: NDArray[Any],
        where: str = "ratings",
        locate: Callable[[int], str] | None = None,
        counts: NDArray[np.int64] | None = None,
    ) -> Self:
        """Guess from the ratings seen; values that come in levels must not pass for an interval.

        Few distinct values make levels: in equal steps where they fit, else the values themselves
        if they repeat. Otherwise the scale is a fine one, to which ratings are to be brought
        (`nearest`), with a warning in the log. Ratings that are no part of it are refused (see
        `plausibility`): one 50 among ratings from 0 to 4 is a slip of the pen, and 99 or -1 a code
        for no answer. Ratings that are all 1 are unary data.

        Args:
            values: The ratings.
            where: The file's name for messages.
            locate: Says for the index of a value which file and line it is from.
            counts: How many ratings there are of each value, where each is given once.
        """
        finite = np.isfinite(values)
        seen, count = np.unique(values[finite].astype(np.float32), return_counts=True)
        if counts is not None:
            count = counts[finite][np.argsort(values[finite])]
        total = int(count.sum())
        if len(seen) == 1 and seen[0] == 1:
            return cls.unary()
        if len(seen) < 2:
            raise MidpointError(
                f"{where}: the ratings do not vary, so there is nothing to learn from them; if each"
                " only says that somebody used or liked an item, write 1, or name the table's"
                " column of counts by --count-column"
            )
        require_plausible(Values(values, seen, count, locate or (lambda _: where)))
        if len(seen) <= MOST_LEVELS:
            levels = _steps_through(seen)
            if levels is not None:
                return cls.discrete(levels)
            if 2 * len(seen) <= total:
                return cls.discrete([_shortest(value) for value in seen])
        fine = cls.fine(_shortest(seen[0]), _shortest(seen[-1]))
        often = np.bincount(fine.level_of(fine.nearest(seen)), count)
        if len(seen) > MOST_LEVELS and often.max() > CROWDED * total:
            raise MidpointError(
                f"{where}: most of the {len(seen)} different values lie close together, and a few"
                f" reach to {fine.high:g}; if they count plays or clicks name their column by"
                f" --count-column, else name the scale: --scale {fine.low:g}:{fine.high:g}:0"
            )
        logger.warning(ROUNDED, where, total, len(seen), fine, fine.step)
        return fine

    @property
    def is_discrete(self) -> bool:
        """Whether ratings come in levels."""
        return self.levels is not None

    @property
    def is_unary(self) -> bool:
        """Whether there is one level: data are sets of items that people used or liked."""
        return self.levels is not None and len(self.levels) == 1

    @property
    def step(self) -> float:
        """How far apart levels in equal steps are."""
        steps = len(self.levels or ()) - 1
        return float(f"{(self.high - self.low) / steps:.9g}")

    def nearest(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Bring finite values to the nearest level, halves up; on a continuous scale all stay."""
        single = np.asarray(values, dtype=np.float32)
        if self.levels is None:
            return single
        points = np.array(self.levels)
        chosen = np.searchsorted((points[1:] + points[:-1]) / 2, single, side="right")
        return np.where(np.isfinite(single), points[chosen].astype(np.float32), single)

    def contains(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell for each value whether it is a legal rating; NaN is not."""
        if self.levels is None:
            return (values >= self.low) & (values <= self.high)
        # Ratings are kept in single precision, where 0.1 is not the 0.1 of double precision.
        single = np.asarray(values, dtype=np.float32)
        legal = np.zeros(single.shape, dtype=np.bool_)
        for level in self.levels:
            legal |= single == np.float32(level)
        return legal

    def level_of(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Return the index of the least level at or above each value, or of the last one."""
        if self.levels is None:
            raise MidpointError("a continuous scale has no levels")
        levels, single = (np.asarray(part, dtype=np.float32) for part in (self.levels, values))
        return np.minimum(np.searchsorted(levels, single), len(levels) - 1)

    @property
    def liked(self) -> float:
        """The rating from which on an item counts as liked: three quarters up the scale."""
        return self.low + LIKED * (self.high - self.low)

    def clip(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring values into the bounds."""
        return np.asarray(np.clip(values, self.low, self.high))

    @property
    def digested(self) -> str:
        """All of it as text, for the digest of ratings."""
        return f"Scale(low={self.low!r}, high={self.high!r}, levels={self.levels!r})"

    def __repr__(self) -> str:
        """Write bounds and levels; of many levels, how many."""
        return f"<Scale {self}>"

    def __str__(self) -> str:
        """Say it in a few characters."""
        if self.levels is None:
            return f"{self.low:g} to {self.high:g}, continuous"
        if self.is_unary:
            return "unary: sets of items"
        if len(self.levels) <= 6:
            return " ".join(f"{level:g}" for level in self.levels)
        return f"{self.low:g} to {self.high:g} in {len(self.levels)} levels"


def _steps_through(seen: NDArray[np.float32]) -> list[float] | None:
    """Return all multiples of the coarsest step from the first value to the last, if not many."""
    step = step_of(seen)
    if step is None:
        return None
    first, last = (round(float(end) / step) for end in (seen[0], seen[-1]))
    if last - first >= MOST_LEVELS:
        return None
    # Rounded, so that three steps of 0.1 make 0.3 and not 0.30000000000000004.
    return [round(k * step, 12) for k in range(first, last + 1)]


def _shortest(value: np.float32) -> float:
    """Return the shortest decimal that is this value in single precision, such as 0.1."""
    return float(str(value))
