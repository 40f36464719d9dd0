"""Profile and category fitted together, as the paper's analyst does (LSE, Eq. 6).

Ours has a prior of profiles. The paper's is least squares, which leaves a profile open where
somebody gave fewer ratings than there are dimensions; the paper does not say what its analyst does
then. So there are both: the profile of minimum norm, and the one that the fit of the items would
have found, with its penalty.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, estimate_profiles
from midpoint.audit.attackers.view import View
from midpoint.errors import MidpointError
from midpoint.protocol import Reports

Float = NDArray[np.float64]
SMALL = 1e-5
"""Singular values below this share of the greatest are taken to be 0."""
REMEMBERED = 64
"""Views whose regressions are kept, since several tasks of a fold ask for the same."""


class JointFit(NamedTuple):
    """What each category makes of N people's reports."""

    loss: Float
    """Of each person under each category. Shape (N, K)."""
    profile: Float
    """The best profile under each category. Shape (K, N, D)."""


def joint_fit(profiles: ItemProfiles, reports: Reports) -> JointFit:
    """Fit a profile under each category, and say how well it explains what was reported.

    loss_k = min_x sum_j (y_j - centre_j - offset_jk - <x, v_j>)^2 / sigma^2
                   + (x - m)' C^-1 (x - m)
    """
    counts, item = np.diff(reports.user_offsets), reports.item
    user = np.repeat(np.arange(len(counts)), counts)
    losses, best = [], []
    for k in range(profiles.offset.shape[1]):
        left = reports.value - profiles.offset[item, k]
        x = estimate_profiles(profiles, reports.user_offsets, item, left, sets=False, threads=1)
        taste = np.einsum("nd,nd->n", x[user], profiles.vectors[item])
        error = np.square(left - profiles.centre[item] - taste)
        away = np.linalg.solve(profiles.profile_root, (x - profiles.profile_mean).T)
        explained = np.bincount(user, error, len(counts)) / profiles.noise_variance
        losses.append(explained + np.square(away).sum(axis=0))
        best.append(x)
    if not best:
        return JointFit(np.zeros((len(counts), 0)), np.zeros((0, len(counts), profiles.dimension)))
    return JointFit(np.stack(losses, axis=1), np.stack(best))


def infer(
    profiles: ItemProfiles, reports: Reports, fitted: JointFit
) -> tuple[NDArray[np.intp], Float]:
    """Infer category and profile together, as the paper's analyst does (Eq. 6).

    The category is that of the least loss, each with its own best x, as `fitted` has them. Who sent
    no rating is taken to be of the commonest category. Shapes (users,) and (users, D).
    """
    guess = np.argmin(fitted.loss, axis=1)
    guess[np.diff(reports.user_offsets) == 0] = _commonest(profiles)
    if reports.profile is not None:
        return guess, reports.profile
    return guess, fitted.profile[guess, np.arange(len(guess))]


def _commonest(profiles: ItemProfiles) -> int:
    statistics = profiles.statistics
    return 0 if statistics is None else int(np.argmax(statistics.users))


class Regressions(NamedTuple):
    """What least squares makes of N people's reports under each of K categories, both ways."""

    minimum_norm: JointFit
    """Without a penalty (Eq. 6); of all profiles that fit equally well the shortest."""
    penalized: JointFit
    """With the penalty of the fit."""
    blind: Float
    """The profile of minimum norm with no category at all: x-hat of Eq. 11. Shape (N, D)."""


def regress(profiles: ItemProfiles, reports: Reports, penalty: float) -> Regressions:
    """Solve the linear regressions of Eq. 6, one for each category, person by person.

    loss_k = min_x sum_j (y_j - centre_j - offset_jk - <x, v_j>)^2 + penalty n |x|^2

    Gradient descent takes a step of -penalty x for each rating, hence the factor n, the number of
    her ratings. Without a penalty, x is of minimum norm.
    """
    n_users, n_cells = len(reports.user_offsets) - 1, profiles.offset.shape[1]
    shape = n_cells + 1, n_users, profiles.dimension
    plain, ridge = np.zeros(shape), np.zeros(shape)
    losses = np.zeros((2, n_users, n_cells + 1))
    V = profiles.vectors.astype(np.float64)
    known = np.hstack([profiles.offset, np.zeros((profiles.n_items, 1))])  # the last: no category
    for person in range(n_users):
        rated = slice(reports.user_offsets[person], reports.user_offsets[person + 1])
        item = reports.item[rated]
        if not len(item):
            continue
        y = (reports.value[rated] - profiles.centre[item])[:, None] - known[item]
        U, s, W = np.linalg.svd(V[item], full_matrices=False)
        along, much = U.T @ y, penalty * len(item)
        inverse = np.where(s > SMALL * s[0], 1 / np.maximum(s, SMALL * s[0]), 0.0)
        plain[:, person] = (along * inverse[:, None]).T @ W
        ridge[:, person] = (along * (s / (s**2 + much))[:, None]).T @ W
        beyond = np.square(y).sum(axis=0)
        losses[0, person] = beyond - np.square(along[inverse > 0]).sum(axis=0)
        losses[1, person] = beyond - (np.square(along) * (s**2 / (s**2 + much))[:, None]).sum(
            axis=0
        )
    losses = np.maximum(losses, 0.0)  # of what is fitted exactly, rounding may leave less
    return Regressions(
        JointFit(losses[0, :, :-1], plain[:-1]),
        JointFit(losses[1, :, :-1], ridge[:-1]),
        plain[-1],
    )


@lru_cache(maxsize=REMEMBERED)
def regressions(view: View) -> Regressions:
    """Regress what a view shows, with the penalty that its profiles were fitted with."""
    return regress(view.profiles, view.reports, penalty_of(view.profiles))


def penalty_of(profiles: ItemProfiles) -> float:
    """Return the penalty that gradient descent was made with."""
    penalty = profiles.provenance.configuration.get("regularization")
    if not isinstance(penalty, int | float):
        raise MidpointError("these profiles have no penalty of gradient descent; fit with sgd")
    return float(penalty)


def least_squares_errors(view: View) -> Float:
    """Return minus half the least squared error under each category (LSE, Eq. 6). Shape (N, K)."""
    return -regressions(view).minimum_norm.loss / 2


def penalized_errors(view: View) -> Float:
    """Return the same where the profile has the penalty of the fit. Shape (N, K)."""
    return -regressions(view).penalized.loss / 2
