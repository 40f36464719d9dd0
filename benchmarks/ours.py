"""Midpoint, in the shape of a contestant, and its way with new users."""

# ruff: noqa: PLC0415 - imported at its first use, which is part of the cold start.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from columns import Columns
from contestant import DIMENSION, Contestant

if TYPE_CHECKING:
    from midpoint.analyst.profiles import ItemProfiles
    from midpoint.data import Ratings

REGULARIZATION = 0.07


@dataclass(frozen=True)
class Midpoint:
    """Biased matrix factorisation by ALS, compiled by numba."""

    iterations: int
    kind: str
    regularization: float = REGULARIZATION
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
        """Factorise; what users are like is part of the fit, as it is of the peers'."""
        profiles, users = factorizer(self.iterations, self.regularization).fit_with_users(data)
        return profiles, users, data.user_ids

    def predict(self, model: Any, test: Columns) -> NDArray[np.floating]:
        """Predict centre_j + <x_u, v_j>; an unknown user is the mean one, an unknown item 3."""
        profiles, users, user_ids = model
        user_rows, item_rows = _rows(test.users, user_ids), _rows(test.items, profiles.item_ids)
        vectors = np.vstack([users, profiles.profile_mean])[user_rows]
        scores = profiles.centre[item_rows] + np.einsum(
            "nd,nd->n", vectors, profiles.vectors[item_rows]
        )
        return np.where(item_rows >= 0, scores, 3.0)


def factorizer(iterations: int, regularization: float = REGULARIZATION) -> Any:
    """Set up a factorisation that uses all ratings it is given."""
    from midpoint.analyst import Factorizer

    return Factorizer(
        dimension=DIMENSION,
        iterations=iterations,
        regularization=regularization,
        validation=0.0,
        seed=0,
    )


def profile_new_users(
    profiles: ItemProfiles, given: Ratings, *, threads: int | None = None
) -> NDArray[np.float32]:
    """Profile each user by her ratings and the training users' distribution, in one call.

        x = m + argmin_z Σ (r_j - centre_j - <m, v_j> - <z, v_j>)² + σ² z' C⁻¹ z

    with the mean m and covariance C of the training profiles. Shape (users, d).
    """
    from midpoint.analyst.least_squares import solve_rows

    expected = profiles.centre + profiles.vectors @ profiles.profile_mean
    deviations = solve_rows(
        given.user_offsets,
        given.item,
        (given.value - expected[given.item]).astype(np.float32),
        profiles.vectors,
        ridge=profiles.noise_variance * np.linalg.pinv(profiles.profile_covariance),
        threads=threads,
    )
    return (deviations + profiles.profile_mean).astype(np.float32)


def predict_new_users(
    profiles: ItemProfiles, users: NDArray[np.float32], hidden: Ratings
) -> NDArray[np.floating]:
    """Predict the hidden ratings, within the scale."""
    scores = profiles.centre[hidden.item] + np.einsum(
        "nd,nd->n", users[hidden.user], profiles.vectors[hidden.item]
    )
    return np.asarray(profiles.scale.clip(scores))


def _rows(names: NDArray[np.int32], known: NDArray[np.str_]) -> NDArray[np.intp]:
    """Look up row numbers; -1 where a name is unknown."""
    numbers = known.astype(np.int64)
    order = np.argsort(numbers)
    rows = order[np.minimum(np.searchsorted(numbers[order], names), len(order) - 1)]
    return np.where(numbers[rows] == names, rows, -1)


OURS: Mapping[str, Contestant] = MappingProxyType(
    {
        "midpoint": Midpoint(iterations=7, kind="quick"),
        "midpoint-best": Midpoint(iterations=15, kind="best"),
    }
)
"""By the name to choose it by."""
