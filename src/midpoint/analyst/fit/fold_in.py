"""New users: a profile from a few ratings, and predictions from the profile."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.lapack import dposv

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.fit.set_prior import SetPrior, size_class
from midpoint.analyst.kernels.ridge import check_rows, solve_rows

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
    sets: bool = True,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Estimate many users' profiles from their reports at once, in single precision.

    One person by "map" is solved in double precision, without what only many are worth.

    "map" is the posterior mean under the training users' mean and covariance,

        x = argmin  sum_j w_j (y_j - centre_j - <x, v_j>)^2 / sigma^2 + (x - m)' C^-1 (x - m),

    where m and C are those of people who rated the same set if the profiles know what sets say
    (`set_prior`). "least-squares" is the paper's Eq. 10, to which the prior adds next to nothing.

    Args:
        profiles: The item profiles.
        user_offsets: User i has the ratings `user_offsets[i]:user_offsets[i + 1]`.
        item: Which item each rating is of.
        value: The ratings, as reported.
        method: How to estimate.
        weights: The weight w of each item's ratings, shape (items,); 1 unless given.
        sets: False to leave out what the set says, as if the same prior held for everyone.
        threads: All usable cores unless given.

    Returns:
        The profiles, shape (users, D).
    """
    if sets and method == "map" and profiles.set_prior is not None:
        rows = user_offsets, item, value
        return _by_sets(profiles, profiles.set_prior, rows, weights=weights, threads=threads)
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


def _by_sets(
    profiles: ItemProfiles,
    prior: SetPrior,
    rows: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.floating]],
    **rest: Any,
) -> NDArray[np.float64]:
    """Estimate profiles under each set's own prior, people whose sets are about as large at once.

    In terms of x - W' E[u | S] everyone of one size has the same prior, N(m, C of that size).
    """
    user_offsets, item, value = rows
    check_rows(user_offsets, item, value, profiles.vectors)
    if len(user_offsets) == 2:
        shift = prior.shift(prior.sums(item), len(item))
        left = value - profiles.vectors[item] @ shift
        return shift + estimate_profiles(
            profiles.after(len(item)), user_offsets, item, left, **rest
        )
    count = np.diff(user_offsets)
    user = np.repeat(np.arange(len(count)), count)
    marks = np.ones(len(item), np.float32), item, user_offsets
    sums = sparse.csr_matrix(marks, (len(count), profiles.n_items)) @ prior.factors
    shift = prior.shift(sums.astype(np.float64), count)
    added = np.einsum("nd,nd->n", shift[user], profiles.vectors[item])
    left = np.asarray(value, np.float64) - added
    x = np.empty_like(shift)
    size = np.where(count > 0, size_class(count), -1)
    for kind in np.unique(size):
        own = size == kind
        alike, its = profiles.after(int(count[own][0])), own[user]
        offsets = np.concatenate([[0], np.cumsum(count[own])])
        x[own] = estimate_profiles(alike, offsets, item[its], left[its], **rest)
    return x + shift


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
