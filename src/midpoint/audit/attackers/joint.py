"""Profile and category fitted together, as the paper's analyst does (LSE, Eq. 6).

Ours has a prior of profiles. The paper's is least squares, which leaves a profile open where
somebody gave fewer ratings than there are dimensions; the paper does not say what its analyst does
then. So there are several: the profile of minimum norm, the one that the fit of the items would
have found, with its penalty, and the one with a penalty fitted to the paper's error.
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
MATCHED = 0.27
"""The penalty of each rating under which the error of raw ratings is the paper's: found by that one
number (MovieLens 1M, gender), and the same for all data, features and schemes. The paper names no
penalty."""
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
    """What least squares makes of N people's reports under each of K categories, three ways."""

    minimum_norm: JointFit
    """Without a penalty (Eq. 6); of all profiles that fit equally well the shortest."""
    penalized: JointFit
    """With the penalty of the fit."""
    matched: JointFit
    """With the penalty fitted to the paper's error (`MATCHED`)."""
    blind: Float
    """The profile of minimum norm with no category at all: x-hat of Eq. 11. Shape (N, D)."""


def regress(profiles: ItemProfiles, reports: Reports, penalty: float) -> Regressions:
    """Solve the linear regressions of Eq. 6, one for each category, person by person.

    loss_k = min_x sum_j (y_j - centre_j - offset_jk - <x, v_j>)^2 + penalty n |x|^2

    Gradient descent takes a step of -penalty x for each rating, hence the factor n, the number of
    her ratings. Without a penalty, x is of minimum norm.
    """
    n_users, D = len(reports.user_offsets) - 1, profiles.dimension
    known = np.hstack([profiles.offset, np.zeros((profiles.n_items, 1))])  # the last: no category
    gram, met = np.zeros((n_users, D, D)), np.zeros((n_users, D, known.shape[1]))
    squares = np.zeros((n_users, known.shape[1]))
    count = np.maximum(np.diff(reports.user_offsets), 1)  # of nothing, nothing is met
    V = profiles.vectors.astype(np.float64)
    for person in range(n_users):
        rated = slice(reports.user_offsets[person], reports.user_offsets[person + 1])
        item = reports.item[rated]
        y = (reports.value[rated] - profiles.centre[item])[:, None] - known[item]
        gram[person], met[person] = V[item].T @ V[item], V[item].T @ y
        squares[person] = np.square(y).sum(axis=0)
    w, axes = np.linalg.eigh(gram)
    along = axes.transpose(0, 2, 1) @ met

    def solve(inverse: Float) -> tuple[Float, Float]:
        """Return losses, (N, K + 1), and profiles, (K + 1, N, D)."""
        scaled = along * inverse[:, :, None]
        loss = squares - (along * scaled).sum(axis=1)
        # Of what is fitted exactly, rounding may leave less than nothing.
        return np.maximum(loss, 0.0), (axes @ scaled).transpose(2, 0, 1)

    def ridge(each: float) -> JointFit:
        loss, profile = solve(1 / (np.maximum(w, 0.0) + each * count[:, None]))
        return JointFit(loss[:, :-1], profile[:-1])

    least = SMALL**2 * w[:, -1:]
    loss, profile = solve(np.where(w > least, 1 / np.where(w > least, w, 1.0), 0.0))
    shortest = JointFit(loss[:, :-1], profile[:-1])
    return Regressions(shortest, ridge(penalty), ridge(MATCHED), profile[-1])


@lru_cache(maxsize=REMEMBERED)
def regressions(view: View) -> Regressions:
    """Regress what a view shows, with the penalty that its profiles were fitted with."""
    return regress(view.profiles, view.reports, penalty_of(view.profiles))


def penalty_of(profiles: ItemProfiles) -> float:
    """Return the penalty that gradient descent was made with."""
    penalty = profiles.provenance.configuration.get("regularization")
    if not isinstance(penalty, int | float):
        raise MidpointError(
            "these profiles have no penalty of gradient descent; fit with sgd or factors"
        )
    return float(penalty)


def least_squares_errors(view: View) -> Float:
    """Return minus half the least squared error under each category (LSE, Eq. 6). Shape (N, K)."""
    return -regressions(view).minimum_norm.loss / 2


def penalized_errors(view: View) -> Float:
    """Return the same where the profile has the penalty of the fit. Shape (N, K)."""
    return -regressions(view).penalized.loss / 2


def matched_errors(view: View) -> Float:
    """Return the same with the penalty fitted to the paper's error. Shape (N, K)."""
    return -regressions(view).matched.loss / 2
