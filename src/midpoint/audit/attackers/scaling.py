"""Columns scaled to a common size, dense or sparse."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.audit.attackers.learned import Rows

RARE = 0.02
"""A sparse column filled less often than this is scaled as if it were as often."""
TINY = 1e-5
"""A column that deviates less than this is taken as constant."""
FARTHEST = 6.0
"""Standard deviations at which new rows are cut in dense columns.

Where everyone rates everything, what is learned of the items alone is nearly the same for all of a
training part, and another number for those who are attacked: a hundred deviations away, all of them
would be equally unlike anybody known.
"""


@dataclass(frozen=True, eq=False)
class Scaling:
    """Divides columns by their standard deviations; dense ones are centred too."""

    mean: NDArray[np.float32]
    """Of each column. Shape (c,)."""
    factor: NDArray[np.float32]
    """One by its standard deviation. Shape (c,)."""

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Learn from rows of shape (n, c)."""
        if sparse.issparse(rows):
            mean, square = column_means(rows), column_means(rows.multiply(rows))
            filled = np.bincount(rows.indices, minlength=rows.shape[1]) / max(rows.shape[0], 1)
            square *= np.maximum(filled, RARE) / np.maximum(filled, TINY)
            deviation = np.sqrt(np.maximum(square - mean**2, 0))
        else:
            mean, deviation = rows.mean(axis=0), rows.std(axis=0)
        factor = 1 / np.where(deviation > TINY, deviation, 1.0)
        return cls(mean.astype(np.float32), factor.astype(np.float32))

    def __call__(self, rows: Rows) -> Rows:
        """Scale rows. Same shape, single precision."""
        if not sparse.issparse(rows):
            scaled = (rows - self.mean) * self.factor
            return np.clip(scaled, -FARTHEST, FARTHEST).astype(np.float32)
        scaled = rows.astype(np.float32)
        scaled.data *= self.factor[scaled.indices]
        return scaled


def column_means(rows: Rows) -> NDArray[np.float64]:
    """Return the mean of each column of a sparse matrix. Shape (c,)."""
    return np.asarray(rows.mean(axis=0), np.float64).reshape(-1)
