"""What every contestant gets: three columns, one row a rating, in no order."""

from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class Columns(NamedTuple):
    """Ratings as three arrays of one length."""

    users: NDArray[np.int32]
    """The number of the user."""
    items: NDArray[np.int32]
    """The number of the item."""
    values: NDArray[np.float32]
    """The rating."""

    def take(self, rows: NDArray[np.intp]) -> "Columns":
        """Return these rows."""
        return Columns(self.users[rows], self.items[rows], self.values[rows])


class RandomSplit(NamedTuple):
    """Ratings to learn from and ratings to predict, the same arrays for all."""

    train: Columns
    """Nine in ten, shuffled: SGD needs that, and nobody profits from sorted input."""
    test: Columns
    """The others."""

    @classmethod
    def draw(cls, everything: Columns, *, share: float, seed: int) -> Self:
        """Shuffle the rows, then cut them."""
        order = np.random.default_rng(seed).permutation(len(everything.values))
        cut = round(share * len(order))
        return cls(everything.take(order[:cut]), everything.take(order[cut:]))

    def save(self, path: Path) -> None:
        """Write both parts into one file."""
        np.savez(path, *self.train, *self.test)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        with np.load(path) as file:
            arrays = [file[f"arr_{k}"] for k in range(6)]
        return cls(Columns(*arrays[:3]), Columns(*arrays[3:]))


def rmse(predicted: NDArray[np.floating], values: NDArray[np.float32]) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean(np.square(predicted.astype(np.float64) - values))))
