"""Midpoint, in the shape of a contestant, and its way with new users."""

# ruff: noqa: PLC0415 - imported at its first use, which is part of the cold start.

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.columns import Columns
from benchmarks.peers.contestant import DIMENSION, Contestant

if TYPE_CHECKING:
    from midpoint.analyst.fit.als import Regularization
    from midpoint.analyst.fit.factorizer import Factorizer
    from midpoint.analyst.fit.profiles import ItemProfiles
    from midpoint.data import Ratings

REGULARIZATION: "Regularization" = "learned"


@dataclass(frozen=True)
class Midpoint:
    """Biased matrix factorization by ALS, compiled by numba."""

    iterations: int
    kind: str
    regularization: "Regularization" = REGULARIZATION
    environment: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @property
    def name(self) -> str:
        """What it is called in the table."""
        return f"Midpoint, {self.kind}"

    @property
    def setting(self) -> str:
        """How it is set."""
        return f"{self.iterations} iterations, λ {self.regularization}"

    def build(self, train: Columns) -> Any:
        """Make `Ratings`."""
        from midpoint.data import Ratings, Scale

        return Ratings.from_columns(*train, scale=Scale.stars(1, 5))

    def fit(self, data: Any) -> Any:
        """Factorize; what users are like is part of the fit, as it is of the peers'.

        What a revealed set says of somebody new is left out: peers learn no such thing.
        """
        plan = factorizer(self.iterations, self.regularization, sets=False)
        return plan.train(data), data.user_ids

    def predict(self, model: Any, test: Columns) -> NDArray[np.floating]:
        """Predict centre_j + <x_u, v_j>; an unknown user is the mean one, an unknown item 3."""
        (profiles, users), user_ids = model
        user_rows, item_rows = _rows(test.users, user_ids), _rows(test.items, profiles.item_ids)
        vectors = np.vstack([users, profiles.profile_mean])[user_rows]
        scores = profiles.centre[item_rows] + np.einsum(
            "nd,nd->n", vectors, profiles.vectors[item_rows]
        )
        return np.where(item_rows >= 0, scores, 3.0)


def factorizer(
    iterations: int, regularization: "Regularization" = REGULARIZATION, *, sets: bool = True
) -> "Factorizer":
    """Set up a factorization that uses all ratings it is given."""
    from midpoint.analyst.fit.factorizer import Factorizer

    return Factorizer(
        dimension=DIMENSION,
        iterations=iterations,
        regularization=regularization,
        validation=0.0,
        sets=sets,
        seed=0,
    )


def profile_new_users(
    profiles: "ItemProfiles", given: "Ratings", *, threads: int | None = None
) -> NDArray[np.float64]:
    """Profile all these users in one call. Shape (users, D)."""
    from midpoint.analyst.fit.fold_in import estimate_profiles

    return estimate_profiles(profiles, given.user_offsets, given.item, given.value, threads=threads)


def predict_new_users(
    profiles: "ItemProfiles", users: NDArray[np.float64], hidden: "Ratings"
) -> NDArray[np.float64]:
    """Predict the hidden ratings, within the scale."""
    from midpoint.analyst.fit.fold_in import predict

    return predict(profiles, users, hidden.user, hidden.item)


def _rows(names: NDArray[np.int32], known: NDArray[np.str_]) -> NDArray[np.intp]:
    """Look up row numbers; -1 where a name is unknown."""
    numbers = known.astype(np.int64)
    order = np.argsort(numbers)
    rows = order[np.minimum(np.searchsorted(numbers[order], names), len(order) - 1)]
    return np.where(numbers[rows] == names, rows, -1)


OURS: Mapping[str, Contestant] = MappingProxyType(
    {
        "midpoint": Midpoint(iterations=3, kind="quick"),
        "midpoint-best": Midpoint(iterations=15, kind="best"),
    }
)
"""By the name to choose it by."""
