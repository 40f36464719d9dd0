"""New users: a profile from a few ratings, and predictions from the profile."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.kernels.ridge import solve_rows

Method = Literal["map", "least-squares"]

ALMOST_NONE = 1e-4
"""Weight of the prior under "least-squares": it only settles what the ratings leave open."""


def estimate_profiles(
    profiles: ItemProfiles,
    user_offsets: NDArray[np.int64],
    item: NDArray[np.int32],
    value: NDArray[np.floating],
    *,
    method: Method = "map",
    weights: NDArray[np.float64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Estimate many users' profiles from their reports at once, in single precision.

    One person by "map" is solved in double precision, without what only many are worth.

    "map" is the posterior mean under the training users' mean and covariance,

        x = argmin  sum_j w_j (y_j - centre_j - <x, v_j>)^2 / sigma^2 + (x - m)' C^-1 (x - m),

    "least-squares" the paper's Eq. 10, to which the prior adds next to nothing.

    Args:
        profiles: The item profiles.
        user_offsets: User i has the ratings `user_offsets[i]:user_offsets[i + 1]`.
        item: Which item each rating is of.
        value: The ratings, as reported.
        method: How to estimate.
        weights: The weight w of each item's ratings, shape (items,); 1 unless given.
        threads: All usable cores unless given.

    Returns:
        The profiles, shape (users, D).
    """
    if method == "map" and len(user_offsets) == 2:
        alone = _solve_one(profiles, user_offsets, item, value, weights)
        if alone is not None:
            return np.asarray((profiles.profile_mean + profiles.profile_root @ alone)[None])
    # In terms of z, x = m + L z, the prior is the identity, which single precision resolves.
    vectors, level = profiles.standard_vectors, profiles.typical
    if weights is not None:  # a row times the root of its weight counts with its weight
        root = np.sqrt(weights).astype(np.float32)
        vectors, level, value = vectors * root[:, None], level * root, value * root[item]
    z = solve_rows(
        user_offsets,
        item,
        np.asarray(value, np.float32),
        vectors,
        level=level,
        ridge=profiles.noise_variance * (1.0 if method == "map" else ALMOST_NONE),
        threads=threads,
    )
    return np.asarray(profiles.profile_mean + z @ profiles.profile_root.T)


def _solve_one(
    profiles: ItemProfiles,
    user_offsets: NDArray[np.int64],
    item: NDArray[np.int32],
    value: NDArray[np.floating],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """Return one person's z, x = m + L z; None where that is for the checks of `solve_rows`."""
    n = len(item)
    plain = item.ndim == 1 and item.shape == value.shape
    if not plain or user_offsets[0] != 0 or user_offsets[1] != n or (n and item.min() < 0):
        return None
    if n and item.max() >= profiles.n_items:
        return None
    V = profiles.standard_vectors[item].astype(np.float64)
    rest = value - profiles.typical[item]
    weighed = V if weights is None else V * weights[item, None]
    A = V.T @ weighed
    A.flat[:: len(A) + 1] += profiles.noise_variance
    _, z, failed = dposv(A, rest @ weighed)
    return None if failed else np.asarray(z)


def predict(
    profiles: ItemProfiles,
    x: NDArray[np.floating],
    user: NDArray[np.integer],
    item: NDArray[np.integer],
    added: NDArray[np.floating] | float = 0.0,
) -> NDArray[np.float64]:
    """Predict ratings, on the scale; `added` is what her category adds to each (Eq. 4)."""
    raw = profiles.centre[item] + np.einsum("nd,nd->n", x[user], profiles.vectors[item])
    return np.asarray(profiles.scale.clip(raw + added))
