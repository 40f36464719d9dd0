"""Models of dense columns that more than weigh them: products of two, and small networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from midpoint.audit.attackers.attacker import Float
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
        eye = np.eye(len(A), dtype=np.float32) * len(Z)
        weights = np.stack(
            [linalg.solve(A + penalty * eye, b, assume_a="pos") for penalty in chosen]
        )

        def answer(new: Rows) -> Float:
            return np.asarray(weights @ inner(_products(outer(new))).T, np.float64)

        return answer


@dataclass(frozen=True)
class Networks(Family):
    """Small neural networks (multilayer perceptrons) on the logistic loss; a setting is epochs.

    Several are trained from different starts, and their log-odds averaged.
    """

    settings: Sequence[int] = (3, 10, 25)
    """Passes over the rows, ascending."""
    hidden: int = 32
    """Units of the one hidden layer."""
    networks: int = 2
    """How many networks."""
    batch: int = 128
    """Rows of a step."""
    penalty: float = 0.1
    """L2 penalty of the weights."""

    def train(
        self, rows: Rows, ones: NDArray[np.bool_], chosen: Sequence[int], seed: int, /
    ) -> Answer:
        """Train for the greatest number of epochs, keeping the networks of each number."""
        scaled = Scaling.of(rows)
        X, y = scaled(rows), ones.astype(np.int64)
        kept = [self._stages(X, y, chosen, seed + start) for start in range(self.networks)]

        def answer(new: Rows) -> Float:
            Z = scaled(new)
            each = [[_log_odds(layers, Z) for layers in stages] for stages in kept]
            return np.asarray(np.mean(each, axis=0), np.float64)

        return answer

    def _stages(
        self, X: Rows, y: NDArray[np.int64], chosen: Sequence[int], seed: int
    ) -> list[list[tuple[Float, Float]]]:
        """Train one network; return its layers after each number of epochs."""
        network: Any = import_module("sklearn.neural_network").MLPClassifier(
            (self.hidden,), alpha=self.penalty, batch_size=min(self.batch, len(y)),
            random_state=seed % 2**31,
        )  # fmt: skip
        stages: dict[int, list[tuple[Float, Float]]] = {}
        for epoch in range(1, max(chosen) + 1):
            network.partial_fit(X, y, classes=np.array([0, 1]))
            if epoch in chosen:
                layers = zip(network.coefs_, network.intercepts_, strict=True)
                stages[epoch] = [(weights.copy(), bias.copy()) for weights, bias in layers]
        return [stages[epochs] for epochs in chosen]


def _log_odds(layers: Sequence[tuple[Float, Float]], rows: Rows) -> Float:
    """Pass rows through rectified layers. Shape (n,)."""
    *inner, (weights, bias) = layers
    for before, by in inner:
        rows = np.maximum(rows @ before + by, 0)
    return np.asarray((rows @ weights + bias)[:, 0], np.float64)


def _products(rows: Rows) -> Rows:
    """Put all products of two columns beside the columns. Shape (n, c + c (c + 1) / 2)."""
    cut = np.clip(rows, -FARTHEST, FARTHEST)
    first, second = np.triu_indices(cut.shape[1])
    return np.hstack([cut, cut[:, first] * cut[:, second]])
