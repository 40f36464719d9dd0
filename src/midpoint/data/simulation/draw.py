"""Ratings drawn from the paper's model, with the truth beside them.

Ratings follow Eq. 4 and, for K categories, the first equation of Section 6.4:

    r_ij = μ_j + b_i + <x_i, v_j> + Σ_f offset_f[j, k_f(i)] + ε_ij,   ε_ij ~ N(0, σ²),

then go to the nearest level of the scale, which is 1 in unary data. Whether user i rates item j at
all is a coin with

    logit P(i rates j) = popularity_j + activity_i + <x_i, w_j> + Σ_f selection_f[j, k_f(i)].

Without activity and w this is the product form of Section 6.1: given her category, a user rates
each item independently of the others.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import log, sqrt
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from midpoint.data.feature import MISSING, Feature
from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.simulation.model import (
    LARGEST_LOGIT,
    Floats,
    ItemTruth,
    SimulatedFeature,
    Simulation,
    SimulationConfig,
    UserTruth,
    mean_probability,
)
from midpoint.errors import MidpointError

CELLS_AT_ONCE = 1 << 18
"""Pairs of user and item whose coins are tossed together: small enough for the cache."""
USERS_AT_ONCE = 64
"""Users in a product of matrices, at most."""
ITEMS_AT_ONCE = 128
"""Items in a product of matrices."""
NEWTON_STEPS = 50
"""Far more than the popularity's intercept ever took."""


def simulate(config: SimulationConfig, *, seed: int = 0) -> Simulation:
    """Draw items, users and ratings; the same seed gives the same ones."""
    item_rng, user_rng, known_rng, rating_rng = np.random.default_rng(seed).spawn(4)
    items = _draw_items(item_rng, config)
    users = _draw_users(user_rng, config)
    table = _draw_ratings(rating_rng, config, items, users)
    item_ids = _numbered(config.items)
    ratings = Ratings(
        user=table.user,
        item=table.item,
        value=table.value,
        scale=config.scale or _bounds(table.value),
        user_ids=_numbered(config.users),
        item_ids=item_ids,
        item_names=np.char.add(f"{config.item_word} ", item_ids),
        features={f.name: _draw_known(known_rng, f, users) for f in config.features},
        name=config.name,
    )
    return Simulation(config, ratings, items, users)


def _draw_items(rng: Generator, config: SimulationConfig) -> ItemTruth:
    """Draw what the items are like; `liking` is the correlation of w with v."""
    shape = (config.items, config.dimension)
    direction = _normal(rng, shape, 1 / sqrt(config.dimension))
    elsewhere = _normal(rng, shape, sqrt((1 - config.liking**2) / config.dimension))
    drawn = ItemTruth(
        means=config.mean + _normal(rng, config.items, config.item_mean_sd),
        vectors=config.taste_sd * direction,
        offsets=_by_name({f: _effects(rng, config.items, f, f.bias_sd) for f in config.features}),
        popularity=_normal(rng, config.items, config.popularity_sd),
        selection_vectors=config.selection_taste_sd * (config.liking * direction + elsewhere),
        selection=_by_name(
            {
                f: _effects(rng, config.items, f, f.selection_sd)
                + np.array(f.activity, dtype=np.float32)
                for f in config.features
            }
        ),
    )
    return _more_popular(drawn, _intercept(config, drawn))


def _draw_users(rng: Generator, config: SimulationConfig) -> UserTruth:
    """Draw what the users are like."""
    return UserTruth(
        means=_normal(rng, config.users, config.user_mean_sd),
        vectors=_normal(rng, (config.users, config.dimension)),
        activity=_normal(rng, config.users, config.activity_sd),
        categories=MappingProxyType(
            {
                f.name: rng.choice(len(f.categories), config.users, p=f.shares).astype(np.int16)
                for f in config.features
            }
        ),
    )


def _draw_known(rng: Generator, feature: SimulatedFeature, users: UserTruth) -> Feature:
    """Draw whose category is known."""
    codes = users.categories[feature.name]
    missing = rng.random(len(codes)) < feature.missing
    known = np.where(missing, MISSING, codes).astype(np.int16)
    return Feature(feature.name, feature.categories, known)


def _effects(rng: Generator, items: int, feature: SimulatedFeature, sd: float) -> Floats:
    """Draw for each item what the categories add, in sum nothing; of two, -v and +v.

    Centring takes 1/K of the variance, which the factor puts back. Shape (items, categories).
    """
    size = len(feature.categories)
    effects = _normal(rng, (items, size), sd * sqrt(size / (size - 1)))
    effects -= effects.mean(axis=1, keepdims=True)
    return effects


def _intercept(config: SimulationConfig, items: ItemTruth) -> float:
    """Find what makes the expected number of ratings the one asked for, by Newton's method.

    The logarithm of the mean probability is concave and ascending in the intercept, so that the
    steps reach the root from any start.
    """
    if config.ratings is None:
        return LARGEST_LOGIT
    target = log(config.ratings / (config.users * config.items))
    weights = np.ones(1)
    for feature in config.features:
        weights = np.outer(weights, feature.shares).ravel()
    intercept = 0.0
    for _ in range(NEWTON_STEPS):
        p, slopes = mean_probability(config, _more_popular(items, intercept))
        mean, slope = float(np.mean(p @ weights)), float(np.mean(slopes @ weights))
        step = (target - log(mean)) * mean / slope
        intercept += step
        if abs(step) < 1e-6:
            break
    return intercept


def _more_popular(items: ItemTruth, log_odds: float) -> ItemTruth:
    return replace(items, popularity=items.popularity + np.float32(log_odds))


class _Table(NamedTuple):
    """One row a rating, by user and item."""

    user: NDArray[np.int32]
    item: NDArray[np.int32]
    value: Floats


def _draw_ratings(
    rng: Generator, config: SimulationConfig, items: ItemTruth, users: UserTruth
) -> _Table:
    """Toss a coin for every pair, some users at a time, and rate where it says so."""
    coin_rng, noise_rng = rng.spawn(2)
    user_odds = _user_side(config, users, users.activity)
    item_odds = _item_side(items.selection_vectors, items.popularity, items.selection)
    item_tiles = _tiles(item_odds, config.dimension + 1)
    user_means = _user_side(config, users, users.means)
    item_means = _item_side(items.vectors, items.means, items.offsets)
    step = min(max(1, CELLS_AT_ONCE // config.items), USERS_AT_ONCE)
    blocks = []
    for first in range(0, config.users, step):
        user, item = _toss(coin_rng, user_odds[first : first + step], item_tiles)
        user += first
        value = np.einsum("rd,rd->r", user_means[user], item_means[item])
        value += _normal(noise_rng, len(value), config.noise_sd)
        value = _onto(config.scale, value)
        blocks.append(_Table(user.astype(np.int32), item.astype(np.int32), value))
    return _Table(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def _tiles(of_item: Floats, own: int) -> Floats:
    """Cut the items' side into tiles; column `own` keeps the items that fill the last one unrated.

    A product of a few users with a tile is too small for the linear algebra library to spread
    over threads, which at these sizes costs many times the product itself.
    Shape (tiles, columns, ITEMS_AT_ONCE).
    """
    padded = np.pad(of_item, ((0, -len(of_item) % ITEMS_AT_ONCE), (0, 0)))
    padded[len(of_item) :, own] = -LARGEST_LOGIT
    tiles = padded.reshape(-1, ITEMS_AT_ONCE, of_item.shape[1])
    return np.ascontiguousarray(tiles.swapaxes(1, 2))


def _toss(
    rng: Generator, of_user: Floats, item_tiles: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Toss for each pair: U < p = 1 / (1 + exp(-logit)); return the rows and items of those.

    The first 16 bits of U decide nearly always, and random bits are what takes the time: the
    rest of U is drawn only for the few pairs that they leave open.
    """
    tiled = (len(of_user), len(item_tiles), ITEMS_AT_ONCE)
    odds = np.empty(tiled, dtype=np.float32)
    np.matmul(np.negative(of_user), item_tiles, out=odds.swapaxes(0, 1))
    inverse = odds.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        np.exp(inverse, out=inverse)
        inverse += 1
        # ITEMS_AT_ONCE is a multiple of four, so whole words fill the block.
        coarse = rng.integers(2**64, size=len(inverse) // 4, dtype=np.uint64).view(np.uint16)
        undecided = np.flatnonzero(np.multiply(inverse, coarse, dtype=np.float32) < 2**16)
    fine = coarse[undecided] + rng.random(len(undecided))
    rated = undecided[fine * inverse[undecided] < 2**16]
    return np.divmod(rated, len(inverse) // len(of_user))


def _user_side(config: SimulationConfig, users: UserTruth, own: Floats) -> Floats:
    """Stack (x_i, own_i, 1, category as 0/1), so that both sums of the model are inner products.

    Shape (users, d + 2 + categories).
    """
    indicators = [
        np.eye(len(f.categories), dtype=np.float32)[users.categories[f.name]]
        for f in config.features
    ]
    return np.column_stack([users.vectors, own, np.ones_like(own), *indicators])


def _item_side(vectors: Floats, own: Floats, effects: Mapping[str, Floats]) -> Floats:
    """Stack (v_j, 1, own_j, effects), the other side. Shape (items, d + 2 + categories)."""
    return np.column_stack([vectors, np.ones_like(own), own, *effects.values()])


def _onto(scale: Scale | None, value: Floats) -> Floats:
    """Bring ratings to the nearest level, or into the bounds."""
    if scale is None:
        return value
    if scale.levels is None:
        return scale.clip(value)
    levels = np.array(scale.levels, dtype=np.float32)
    return levels[np.searchsorted((levels[1:] + levels[:-1]) / 2, value)]


def _bounds(value: Floats) -> Scale:
    if not len(value):
        raise MidpointError("the simulation drew no rating at all; ask for more ratings")
    return Scale.continuous(float(value.min()), float(value.max()))


def _normal(rng: Generator, shape: int | tuple[int, ...], sd: float = 1.0) -> Floats:
    return np.float32(sd) * rng.standard_normal(shape, dtype=np.float32)


def _by_name(effects: Mapping[SimulatedFeature, Floats]) -> Mapping[str, Floats]:
    return MappingProxyType({feature.name: effect for feature, effect in effects.items()})


def _numbered(count: int) -> NDArray[np.str_]:
    """Return "0001", "0002", ... in ascending order."""
    width = max(4, len(str(count)))
    return np.array([f"{k:0{width}d}" for k in range(1, count + 1)], dtype=np.str_)
