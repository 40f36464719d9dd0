"""New users: a profile from a few ratings, and predictions from the profile."""

from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.analyst.fit.priors.set_prior import SetPrior, size_class
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.kernels.ridge import check_rows, solve_rows
from midpoint.analyst.kernels.single import NormalPrior, posterior_mean

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
    if method == "map" and len(user_offsets) == 2:
        alone = _estimate_single(profiles, user_offsets, item, value, weights=weights, sets=sets)
        if alone is not None:
            return alone
    if sets and method == "map" and profiles.set_prior is not None:
        rows = user_offsets, item, value
        return _by_sets(profiles, profiles.set_prior, rows, weights=weights, threads=threads)
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


def _estimate_single(
    profiles: ItemProfiles,
    user_offsets: NDArray[np.int64],
    item: NDArray[np.int32],
    value: NDArray[np.floating],
    *,
    weights: NDArray[np.float64] | None,
    sets: bool,
) -> NDArray[np.float64] | None:
    """Return one person's profile, (1, D); None where that is for the checks of `solve_rows`."""
    n = len(item)
    plain = item.ndim == 1 and item.shape == value.shape
    if not plain or user_offsets[0] != 0 or user_offsets[1] != n:
        return None
    prior = _normal_prior(profiles, n if sets else None)
    if weights is not None:
        prior = prior._replace(weights=_fixed(weights))
    # Copies, since a kernel is compiled for one kind of array.
    x = posterior_mean(prior, np.array(item, np.int32), np.array(value, np.float64))
    return x[None] if len(x) else None


def _normal_prior(profiles: ItemProfiles, count: int | None) -> NormalPrior:
    """Return the prior of people who revealed so many items, or of everyone; made once."""
    known = _priors.setdefault(profiles, {})
    sets = None if count is None else profiles.set_prior
    key = None if sets is None else count
    if key not in known:
        alike, d = profiles if key is None else profiles.after(key), profiles.dimension
        known[key] = NormalPrior(
            vectors=_fixed(alike.standard_vectors),
            typical=_fixed(alike.typical),
            weights=_fixed(np.empty(0)),
            root=_fixed(alike.profile_root),
            mean=_fixed(alike.profile_mean),
            noise=float(alike.noise_variance),
            set_factors=_fixed(np.empty((0, 0), np.float32) if sets is None else sets.factors),
            pseudo_count=_fixed(np.empty(0) if sets is None else sets.pseudo_count),
            set_weights=_fixed(np.empty((0, d)) if sets is None else sets.weights),
        )
    return known[key]


_priors: WeakKeyDictionary[ItemProfiles, dict[int | None, NormalPrior]] = WeakKeyDictionary()


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, row by row: the one kind of array the kernel is compiled for."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


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
