"""Midpoint, in the shape of a contestant."""

# ruff: noqa: PLC0415 - imported at its first use, which is part of the cold start.

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from columns import Columns
from contestant import Contestant

ITERATIONS = 10
REGULARIZATION = 0.07


@dataclass(frozen=True)
class Midpoint:
    """Biased matrix factorisation by ALS, compiled by numba."""

    iterations: int = ITERATIONS
    regularization: float = REGULARIZATION
    environment: ClassVar[Mapping[str, str]] = MappingProxyType({})
    name: str = "Midpoint"

    @property
    def setting(self) -> str:
        """How it is set."""
        return f"{self.iterations} iterations, λ {self.regularization}"

    def build(self, train: Columns) -> Any:
        """Make `Ratings`."""
        from midpoint.data import Ratings, Scale

        return Ratings.from_columns(*train, scale=Scale.stars(1, 5))

    def fit(self, data: Any) -> Any:
        """Factorise."""
        raise NotImplementedError

    def predict(self, model: Any, test: Columns) -> NDArray[np.floating]:
        """Predict for the users of the training data."""
        raise NotImplementedError


OURS: Mapping[str, Contestant] = MappingProxyType({"midpoint": Midpoint()})
"""By the name to choose it by."""
