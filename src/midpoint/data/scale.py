"""The scale that ratings live on: a few levels, or an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.errors import MidpointError

MOST_LEVELS = 128
"""More distinct values than this, or any off a regular grid, are taken as a continuous scale."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What a rating can be."""

    low: float
    """The least rating."""
    high: float
    """The greatest rating."""
    levels: tuple[float, ...] | None = None
    """All possible ratings in ascending order; None on a continuous scale."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise MidpointError(
                f"a scale needs finite bounds, low < high: got {self.low}, {self.high}"
            )
        if self.levels is not None and (
            (self.levels[0], self.levels[-1]) != (self.low, self.high)
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
        return cls.discrete([low + step * k for k in range(round((high - low) / step) + 1)])

    @classmethod
    def continuous(cls, low: float, high: float) -> Self:
        """Make an interval."""
        return cls(float(low), float(high))

    @classmethod
    def guess(cls, values: NDArray[Any]) -> Self:
        """Guess from the ratings seen: steps of one or one half make levels, else an interval."""
        seen = np.unique(values[np.isfinite(values)]).astype(float)
        if len(seen) < 2:
            raise MidpointError("the ratings do not vary, so there is nothing to learn from them")
        for step in (1.0, 0.5):
            count = round((seen[-1] - seen[0]) / step) + 1
            if count <= MOST_LEVELS and np.all(np.mod(seen / step, 1) == 0):
                return cls.stars(float(seen[0]), float(seen[-1]), step)
        return cls.continuous(float(seen[0]), float(seen[-1]))

    @property
    def is_discrete(self) -> bool:
        """Whether ratings come in levels."""
        return self.levels is not None

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

    def clip(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring values into the bounds."""
        return np.asarray(np.clip(values, self.low, self.high))

    def __str__(self) -> str:
        """Say it in a few characters."""
        if self.levels is None:
            return f"{self.low:g} to {self.high:g}, continuous"
        if len(self.levels) <= 6:
            return " ".join(f"{level:g}" for level in self.levels)
        return f"{self.low:g} to {self.high:g} in {len(self.levels)} levels"
