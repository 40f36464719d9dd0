"""Positions of people, by what they rate and how, and who is whose counterpart."""

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.wire import GRAIN

Float = NDArray[np.float64]

ROUNDS: Final = 50
"""Steps to the barycentre of the categories' distributions, at most."""
STILL: Final = 1e-14
"""A step that scales by less than this is the last: it moves no digit that is disclosed."""
STEP: Final = 1 / GRAIN
"""What is disclosed of items, and what devices know of themselves, are multiples of it."""


@dataclass(frozen=True, eq=False, repr=False)
class PositionModel:
    """A model of who rates what and how.

    M items, K categories, d selection factors, r taste factors, G strata. Strata of activity hold
    about the same share of every category each. There a person of category k has a position
    z = (t, x), normal with mean_k and covariance_k. She rates item j with probability
    1 / (1 + exp(-rate_jk - <h_j, t>)), where h_j are the item's selection factors and its taste
    factors once more, since people choose by taste; and then with the value base_jk + <taste_j, x>
    and noise. D = d + 2 r, or r where everyone rates everything.
    """

    rate: Float
    """Logit of a category's probability to rate the item, at t = 0. Shape (M, K)."""
    selection: Float
    """What each selection factor adds to that logit. Shape (M, d)."""
    base: Float
    """What a category rates the item at x = 0: centre + offset. Shape (M, K)."""
    taste: Float
    """What each taste factor adds to that rating. Shape (M, r)."""
    least: Float
    """Least activity of each stratum, by category, a multiple of `STEP`. Shape (G, K)."""
    mean: Float
    """Mean position of each category. Shape (G, K, D)."""
    covariance: Float
    """Covariance of its positions. Shape (G, K, D, D)."""
    noise_variance: float
    """Variance of a rating given x."""
    spread: Float | None = None
    """Mean and deviation of log spreads of residuals, where they were learned. Shape (G, K, 2)."""
    level_count: Float | None = None
    """Ratings by item, category and level, residuals scaled by them. Shape (M, K, L)."""
    weight: float | None = None
    """For sets: weight of a person's own probability of an item in its score."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __repr__(self) -> str:
        """Say how large it is, in one line."""
        G, K, D = self.mean.shape
        return (
            f"<PositionModel: {len(self.rate)} items, {K} categories, {self.selection_factors}"
            f" selection and {self.taste.shape[1]} taste factors, {G} strata of {D} dimensions>"
        )

    @property
    def selection_factors(self) -> int:
        """Count the selection factors d."""
        return int(self.selection.shape[1])

    @property
    def choosing(self) -> Float:
        """What t adds to the logit: h_j, the taste factors in it if they select. (M, D - r)."""
        if self.mean.shape[2] == self.selection_factors + self.taste.shape[1]:
            return self.selection
        return np.hstack([self.selection, self.taste])

    def maps(self) -> Float:
        """Return T[g, k, m]: positions of k, less their mean, to those of m in stratum g.

        Shape (G, K, K, D, D).
        """
        return np.stack([transports(covariance) for covariance in self.covariance])

    def without_shift(self) -> "PositionModel":
        """Return it with one prior of taste factors for all categories, apart from what selects.

        Then no value moves: a counterpart's taste factors are her own.
        """
        select = self.mean.shape[2] - self.taste.shape[1]
        mean, covariance = self.mean.copy(), np.zeros_like(self.covariance)
        mean[..., select:] = mean[..., select:].mean(axis=1, keepdims=True)
        covariance[..., :select, :select] = self.covariance[..., :select, :select]
        taste = self.covariance[..., select:, select:]
        covariance[..., select:, select:] = taste.mean(axis=1, keepdims=True)
        return replace(self, mean=mean, covariance=covariance)


def rounded(numbers: Float) -> Float:
    """Return the nearest multiples of `STEP`, half up."""
    return np.asarray(np.floor(numbers / STEP + 0.5) * STEP)


def transports(covariance: Float) -> Float:
    """Return how centred normal distributions are carried to one another: T_km S_k T_km' = S_m.

    T_km = O_m O_k^-1, through the barycentre B of all: O_k = B^-1/2 (B^1/2 S_k B^1/2)^1/2 B^-1/2
    is the optimal transport from B to S_k (Dowson and Landau 1982). So maps compose,
    T_mn T_km = T_kn, and all counterparts of someone have one joint distribution whatever her own
    category. Between two of them it is the optimal transport itself, without a barycentre.
    (K, D, D) to (K, K, D, D).
    """
    if len(covariance) == 2:
        there = _from(covariance[0], covariance[1:])[0]
        same = np.eye(len(there))
        return np.stack([np.stack([same, there]), np.stack([np.linalg.inv(there), same])])
    centre = covariance.mean(axis=0)
    for _ in range(ROUNDS):
        out = _from(centre, covariance)
        mean = out.mean(axis=0)
        centre = mean @ centre @ mean
        if np.abs(mean - np.eye(len(mean))).max() < STILL:
            break
    out = _from(centre, covariance)
    maps = out[None] @ np.linalg.inv(out)[:, None]
    own = np.arange(len(covariance))
    maps[own, own] = np.eye(covariance.shape[1])
    return np.asarray(maps)


def _from(centre: Float, covariance: Float) -> Float:
    """Return the optimal transports from a centred normal distribution to others. (K, D, D)."""
    root, inverse = _powers(centre, 0.5, -0.5)
    (between,) = _powers(root @ covariance @ root, 0.5)
    return np.asarray(inverse @ between @ inverse)


def _powers(symmetric: Float, *power: float) -> list[Float]:
    """Raise positive definite matrices to some powers. Shapes (..., D, D)."""
    values, vectors = np.linalg.eigh((symmetric + np.swapaxes(symmetric, -1, -2)) / 2)
    across, positive = np.swapaxes(vectors, -1, -2), np.maximum(values, np.finfo(np.float64).tiny)
    return [np.asarray(vectors * positive[..., None, :] ** p @ across) for p in power]
