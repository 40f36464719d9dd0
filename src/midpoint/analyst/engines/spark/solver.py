"""The steps of the solver in memory, for the users of one block and the items of one part."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.engines.spark.blocks import Block
from midpoint.analyst.fit.als import ALIKE, Side, expected_squares
from midpoint.analyst.fit.assembly import Unit
from midpoint.analyst.kernels.ridge import posterior_rows, solve_rows

Floats = NDArray[np.float32]
Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class State:
    """What every worker has to know for a pass."""

    unit: Unit
    """What standardized values stand for."""
    items: Side
    """The items' profiles, uncertainty and prior."""
    users: Side
    """The users' prior; their profiles are fitted again in each pass."""
    noise: float
    """Variance of a rating."""
    ridge: float | None
    """What each rating adds to the ridge; None where the priors are used instead."""
    parts: int
    """Item j is fitted in part j mod parts."""


@dataclass(frozen=True, eq=False)
class Sums:
    """What is left of a side's profiles when they are gone: enough for a prior."""

    rows: int
    """Profiles summed over."""
    mean: Float
    """Their sum. Shape (D,)."""
    square: Float
    """Sum of x x'. Shape (D, D)."""
    spread: Float
    """Sum of their posterior covariances. Shape (D, D)."""
    error: float
    """Expected squared error of the ratings."""
    ratings: int
    """How many those are."""

    def __add__(self, other: "Sums") -> "Sums":
        """Add what another worker found."""
        return Sums(
            self.rows + other.rows,
            self.mean + other.mean,
            self.square + other.square,
            self.spread + other.spread,
            self.error + other.error,
            self.ratings + other.ratings,
        )


def fit_users(block: Block, state: State) -> tuple[Side, Sums]:
    """Fit the users of a block to their ratings, given the items."""
    level, design = state.items.profile[:, 0], state.items.profile.copy()
    design[:, 0] = 1
    users = Side.start(np.zeros((len(block.offsets) - 1, design.shape[1]), np.float32))
    spread = np.zeros((design.shape[1],) * 2)
    if state.ridge is None:
        posterior = posterior_rows(
            block.offsets, block.item, block.value, design,
            level=level,
            vector_variance=state.items.variance[:, 1],
            latent=(1, design.shape[1]),
            prior=(state.users.mean, state.users.covariance),
            noise=state.noise,
            threads=1,
        )  # fmt: skip
        users.profile, users.variance = posterior.profile, posterior.variance
        spread = len(users.profile) * posterior.covariance
    else:
        users.profile = solve_rows(
            block.offsets, block.item, block.value, design,
            level=level, ridge_per_rating=state.ridge, threads=1,
        )  # fmt: skip
    error = expected_squares(
        block.user, block.item, block.value,
        users.profile, state.items.profile, users.variance, state.items.variance, ALIKE,
    )  # fmt: skip
    return users, _sums(users.profile, spread, float(error), len(block.value))


def fit_items(
    state: State, user: NDArray[np.int32], item: NDArray[np.int32], value: Floats, users: Side
) -> tuple[NDArray[np.int32], Side, Sums]:
    """Fit the items that these ratings are of, given their users; ratings in any order."""
    order = np.argsort(item, kind="stable")
    user, value = user[order], value[order]
    indices, row, counts = np.unique(item[order], return_inverse=True, return_counts=True)
    offsets = np.append(0, np.cumsum(counts)).astype(np.int64)
    design = users.profile.copy()
    design[:, 0] = 1
    mean = state.items.mean if state.items.mean.ndim == 1 else state.items.mean[indices]
    posterior = posterior_rows(
        offsets, user, value, design,
        level=users.profile[:, 0],
        vector_variance=users.variance[:, 1],
        latent=(1, design.shape[1]),
        prior=(mean, state.items.covariance),
        noise=state.noise,
        threads=1,
    )  # fmt: skip
    items = Side(posterior.profile, posterior.variance, mean, state.items.covariance)
    error = expected_squares(
        user, row.astype(np.int32).reshape(-1), value,
        users.profile, items.profile, users.variance, items.variance, ALIKE,
    )  # fmt: skip
    spread = len(indices) * posterior.covariance
    return indices, items, _sums(posterior.profile, spread, float(error), len(value))


def user_levels(block: Block, level: Float, weight: float) -> Float:
    """Return each user's mean above the items' levels, as if `weight` ratings were at zero."""
    counts = np.diff(block.offsets)
    total = np.bincount(block.user, block.value - level[block.item], len(counts))
    return np.asarray(total / (counts + weight))


def _sums(profile: Floats, spread: Float, error: float, ratings: int) -> Sums:
    x = profile.astype(np.float64)
    return Sums(len(x), x.sum(axis=0), x.T @ x, spread, error, ratings)
