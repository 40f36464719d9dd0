"""The one shape of a contestant, and what most of them have in common."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.columns import Columns

DIMENSION = 20


class Contestant(Protocol):
    """A library that factorizes; it is imported at its first use, as part of the cold start."""

    @property
    def name(self) -> str:
        """What it is called in the table."""
        ...

    @property
    def setting(self) -> str:
        """How it is set, for the reader."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """What its process must find in the environment."""
        ...

    def build(self, train: Columns) -> Any:
        """Make the library's own data set."""
        ...

    def fit(self, data: Any) -> Any:
        """Factorize."""
        ...

    def predict(self, model: Any, test: Columns) -> NDArray[np.floating] | None:
        """Predict ratings; None where the library fits something else."""
        ...


class BiasedFactors(NamedTuple):
    """A fitted model r = mean + b_u + b_j + <x_u, v_j>, by the library's own row numbers."""

    mean: float
    user_biases: NDArray[np.floating]
    item_biases: NDArray[np.floating]
    user_vectors: NDArray[np.floating]
    item_vectors: NDArray[np.floating]

    def predict(
        self, user_rows: NDArray[np.integer], item_rows: NDArray[np.integer]
    ) -> NDArray[np.floating]:
        """Predict row by row; -1 is somebody or something unknown, of which terms are left out."""
        knows_user, knows_item = user_rows >= 0, item_rows >= 0
        vectors = self.user_vectors[user_rows], self.item_vectors[item_rows]
        predicted: NDArray[np.floating] = (
            self.mean
            + knows_user * self.user_biases[user_rows]
            + knows_item * self.item_biases[item_rows]
            + knows_user * knows_item * np.einsum("nd,nd->n", *vectors)
        )
        return predicted


def rows_of(names: NDArray[np.int32], row: Mapping[int, int]) -> NDArray[np.int64]:
    """Look up row numbers; -1 where a name is unknown."""
    return np.array([row.get(name, -1) for name in names.tolist()], dtype=np.int64)
