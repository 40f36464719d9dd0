"""Linear models on products of two dense columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.attackers.attacker import Float
from midpoint.audit.attackers.kernels import ridge
from midpoint.audit.attackers.learned import Answer, Family, Rows
from midpoint.audit.attackers.scaling import Scaling

FARTHEST = 4.0
"""Standard deviations at which outliers are cut, or they rule the products."""


@dataclass(frozen=True)
class Products(Family):
    """Ridge regression on columns and all products of two of them; a setting is the penalty.

    (Z'Z + penalty n I) w = Z'y, all columns of Z standardized
    """

    settings: Sequence[float] = (0.1, 1.0, 10.0)
    """Penalties, as shares of the number of rows."""

    def train(
        self, rows: Rows, ones: NDArray[np.bool_], chosen: Sequence[float], _seed: int, /
    ) -> Answer:
        """Solve for the weights."""
        outer = Scaling.of(rows)
        products = _products(outer(rows))
        inner = Scaling.of(products)
        Z = inner(products)
        A, b = Z.T @ Z, Z.T @ (ones.astype(np.float32) - np.float32(ones.mean()))
        weights = np.stack([ridge(A, b, penalty * len(Z)) for penalty in chosen])

        def answer(new: Rows) -> Float:
            return np.asarray(weights @ inner(_products(outer(new))).T, np.float64)

        return answer


def _products(rows: Rows) -> Rows:
    """Put all products of two columns beside the columns. Shape (n, c + c (c + 1) / 2)."""
    cut = np.clip(rows, -FARTHEST, FARTHEST)
    first, second = np.triu_indices(cut.shape[1])
    return np.hstack([cut, cut[:, first] * cut[:, second]])
