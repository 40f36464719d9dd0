"""What to simulate, and the truth behind simulated ratings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.errors import MidpointError

Floats = NDArray[np.float32]

LARGEST_LOGIT = 80.0
"""Beyond this the exponential overflows in single precision, and the coin is certain anyway."""
QUADRATURE_NODES = 32
"""Enough for eight digits at spreads of two or less."""


@dataclass(frozen=True, slots=True)
class SimulatedFeature:
    """A feature of the users and what it does to their ratings."""

    name: str
    """What it is called."""
    categories: tuple[str, ...]
    """The names of its categories; the two of a binary one are x0 = -1 and +1."""
    shares: tuple[float, ...] = ()
    """The probability of each category; equal ones where not given."""
    bias_sd: float = 0.2
    """Standard deviation over items of the offset, v_j0 in the binary case."""
    selection_sd: float = 0.2
    """Standard deviation over items of what a category adds to the log-odds of rating."""
    activity: tuple[float, ...] = ()
    """What each category adds to the log-odds of rating anything; nothing where not given."""
    missing: float = 0.0
    """The share of users whose category is not known."""

    def __post_init__(self) -> None:
        size = len(self.categories)
        if size < 2:
            raise MidpointError(f"feature {self.name!r} needs two categories or more")
        object.__setattr__(self, "shares", self.shares or (1 / size,) * size)
        object.__setattr__(self, "activity", self.activity or (0.0,) * size)
        if not len(self.shares) == len(self.activity) == size:
            raise MidpointError(f"feature {self.name!r} needs one share for each category")
        if min(self.shares) < 0 or abs(sum(self.shares) - 1) > 1e-9:
            raise MidpointError(f"the shares of feature {self.name!r} must sum to one")
        if min(self.bias_sd, self.selection_sd) < 0 or not 0 <= self.missing <= 1:
            raise MidpointError(f"feature {self.name!r} has a negative spread, or misses too many")


@dataclass(frozen=True, slots=True)
class SimulationConfig:
    """What to simulate. The defaults are the paper's model, rated in full and unrounded."""

    name: str = "simulated"
    """What the data set is called."""
    users: int = 1000
    """The number of users, N."""
    items: int = 100
    """The number of items, M."""
    ratings: int | None = None
    """The expected number of ratings; None has everyone rate everything."""
    features: tuple[SimulatedFeature, ...] = (SimulatedFeature("gender", ("F", "M")),)
    """The users' features; several add up."""
    dimension: int = 5
    """The length d of x_i and v_j."""
    scale: Scale | None = None
    """What a rating can be; None leaves ratings as they are drawn, neither rounded nor clipped."""
    mean: float = 3.5
    """The mean of the item means μ_j."""
    item_mean_sd: float = 0.5
    """Their standard deviation."""
    user_mean_sd: float = 0.0
    """Standard deviation of the user means b_i; the paper has none."""
    taste_sd: float = 0.5
    """Standard deviation of <x_i, v_j>."""
    noise_sd: float = 0.8
    """Standard deviation of the noise."""
    popularity_sd: float = 0.0
    """Standard deviation over items of the log-odds of being rated."""
    activity_sd: float = 0.0
    """Standard deviation over users of the log-odds of rating."""
    selection_taste_sd: float = 0.0
    """Standard deviation of <x_i, w_j>: how far taste decides what is rated."""
    liking: float = 0.5
    """Correlation of w_j with v_j: 1 has people rate what they like, 0 makes them unrelated."""
    item_word: str = "Film"
    """What an item is called, before its number."""

    def __post_init__(self) -> None:
        if min(self.users, self.items, self.dimension) < 1:
            raise MidpointError("a simulation needs users, items and dimensions, one at least")
        if self.ratings is not None and not 0 < self.ratings < self.users * self.items:
            raise MidpointError(
                f"{self.ratings} ratings cannot be expected of {self.users} x {self.items} pairs;"
                " give fewer, or None for all of them"
            )
        names = [feature.name for feature in self.features]
        if len(set(names)) != len(names):
            raise MidpointError(f"each feature needs a name of its own: got {', '.join(names)}")
        spreads = (self.item_mean_sd, self.user_mean_sd, self.taste_sd, self.noise_sd)
        if min(*spreads, self.popularity_sd, self.activity_sd, self.selection_taste_sd) < 0:
            raise MidpointError("a standard deviation cannot be negative")
        if not -1 <= self.liking <= 1:
            raise MidpointError(f"liking is a correlation, from -1 to 1: got {self.liking}")


@dataclass(frozen=True, slots=True, eq=False)
class ItemTruth:
    """What the items are like."""

    means: Floats
    """μ_j. Shape (items,)."""
    vectors: Floats
    """v_j. Shape (items, d)."""
    offsets: Mapping[str, Floats]
    """By feature what each category adds to a rating: -v_j0, +v_j0. Shape (items, categories)."""
    popularity: Floats
    """Log-odds of being rated, infinite where all rate everything. Shape (items,)."""
    selection_vectors: Floats
    """w_j. Shape (items, d)."""
    selection: Mapping[str, Floats]
    """By feature what a category adds to the log-odds of rating. Shape (items, categories)."""

    def __post_init__(self) -> None:
        _freeze(self.means, self.vectors, self.popularity, self.selection_vectors)
        _freeze(self.offsets, self.selection)

    def __repr__(self) -> str:
        """Say what it is, in one line."""
        items, dimension = self.vectors.shape
        return f"<ItemTruth of {items} items in {dimension} dimensions>"


@dataclass(frozen=True, slots=True, eq=False)
class UserTruth:
    """What the users are like."""

    means: Floats
    """b_i. Shape (users,)."""
    vectors: Floats
    """x_i, standard normal. Shape (users, d)."""
    activity: Floats
    """What a user adds to the log-odds of rating anything. Shape (users,)."""
    categories: Mapping[str, NDArray[np.int16]]
    """By feature the true category, also where it is not known. Shape (users,)."""

    def __post_init__(self) -> None:
        _freeze(self.means, self.vectors, self.activity, self.categories)

    def __repr__(self) -> str:
        """Say what it is, in one line."""
        users, dimension = self.vectors.shape
        return f"<UserTruth of {users} users in {dimension} dimensions>"


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """Simulated ratings and everything that they were drawn from."""

    config: SimulationConfig
    """What was simulated."""
    ratings: Ratings
    """The ratings, as a loader would give them."""
    items: ItemTruth
    """What the items are like."""
    users: UserTruth
    """What the users are like."""

    def __repr__(self) -> str:
        """Say what it is, in one line."""
        return f"<Simulation of {self.ratings!r}>"

    def _repr_html_(self) -> str:
        """Show the ratings as a table in a notebook."""
        return self.ratings._repr_html_()

    @property
    def noise_sd(self) -> float:
        """Standard deviation σ of the noise."""
        return self.config.noise_sd

    def offset(self, *features: str) -> Floats:
        """Return what each category adds, for several features each of their joint cells.

        Shape (items, cells), cells in the order of `Feature.joint`.
        """
        nothing = np.zeros(self.config.items, dtype=np.float32)
        return add_main_effects(nothing, (self.items.offsets[name] for name in features))

    def probability(self, *features: str) -> NDArray[np.float64]:
        """Return p[item, category] of Section 6.1, averaged over all else that decides rating.

        Shape (items, cells), cells in the order of `Feature.joint`.
        """
        every = self.config.features
        names = [feature.name for feature in every]
        p, _ = mean_probability(self.config, self.items)
        p = p.reshape(-1, *(len(feature.categories) for feature in every))
        for axis, feature in reversed(list(enumerate(every, start=1))):
            if feature.name not in features:
                p = np.tensordot(p, feature.shares, axes=([axis], [0]))
                names.remove(feature.name)
        order = [1 + names.index(name) for name in features]
        return np.transpose(p, (0, *order)).reshape(len(p), -1)


def mean_probability(
    config: SimulationConfig, items: ItemTruth
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return E[p] and its slope E[p (1 - p)] over the users of each joint cell.

    p = sigmoid(popularity_j + Σ_f selection_f + s_j Z), with Z standard normal and the users'
    spread s_j² = activity_sd² + |w_j|², by Gauss-Hermite quadrature; exact where s_j is zero.
    Shapes (items, cells).
    """
    log_odds = add_main_effects(items.popularity, items.selection.values())
    spread = np.sqrt(np.square(items.selection_vectors).sum(axis=1) + config.activity_sd**2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES if spread.any() else 1)
    mean = np.zeros(log_odds.shape)
    slope = np.zeros(log_odds.shape)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        shifted = log_odds + (node * spread)[:, None]
        p = 1 / (1 + np.exp(np.minimum(-shifted, LARGEST_LOGIT)))
        mean += weight * p
        slope += weight * p * (1 - p)
    return mean, slope


def add_main_effects(start: Floats, effects: Iterable[Floats]) -> Floats:
    """Add the effects (items, K_f) of several features to a start (items,) in every joint cell.

    Shape (items, Π K_f), cells in the order of `Feature.joint`.
    """
    total = start[:, None]
    for effect in effects:
        total = (total[:, :, None] + effect[:, None, :]).reshape(len(effect), -1)
    return total


def _freeze(*parts: Floats | Mapping[str, NDArray[Any]]) -> None:
    for part in parts:
        for array in part.values() if isinstance(part, Mapping) else (part,):
            array.setflags(write=False)
