"""Item profiles and people that nobody trained or asked, for the tests of protocols."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, PositionModel, Provenance
from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.data import Scale
from midpoint.protocol import Population
from midpoint.protocol.learning import OBFUSCATION
from midpoint.wire import SCHEMES, to_fixed

Float = NDArray[np.float64]
STARS = Scale.stars(1, 5)
WIDE = Scale.continuous(-1000, 1000)
GENDER = ("gender", ("F", "M"))


@dataclass(frozen=True, eq=False)
class World:
    """Items as they are, and what an analyst counted of them."""

    profiles: ItemProfiles
    """The item profiles."""
    probability: Float
    """How likely each category rates an item. Shape (M, K)."""
    levels: Float
    """Each category's distribution over the levels. Shape (M, K, L)."""


def world(
    M: int = 12,
    D: int = 3,
    features: tuple[tuple[str, tuple[str, ...]], ...] = (GENDER,),
    scale: Scale = STARS,
    seed: int = 0,
    noise: float = 0.5,
) -> World:
    """Draw item profiles with statistics of a large, exact training set."""
    rng = np.random.default_rng(seed)
    sizes = [len(names) for _, names in features]
    values: Float = np.array(scale.levels or (1.0, 2.0, 3.0, 4.0, 5.0))
    K, L = int(np.prod(sizes)), len(values)
    levels = rng.dirichlet(np.ones(L), size=(M, K))
    users = np.full(K, 2000)
    count = rng.integers(400, 1600, size=(M, K))
    level_count = np.stack(
        [rng.multinomial(n, p) for n, p in zip(count.ravel(), levels.reshape(-1, L), strict=True)]
    ).reshape(M, K, L)
    total, square = (level_count.astype(np.float64) @ power for power in (values, values**2))
    means = total / count
    centre = means.mean(axis=1)
    vectors = rng.normal(size=(M, D)).astype(np.float32)
    vectors[:, 0] = 1
    profiles = ItemProfiles(
        item_ids=np.array([f"i{j:03d}" for j in rng.permutation(M)]),
        item_names=np.array([f"Film {j}" for j in range(M)]),
        scale=scale,
        vectors=vectors,
        centre=centre,
        # Whole multiples of 2^-16, so that shifting is exact.
        offset=to_fixed(means - centre[:, None]) / 2**16,
        features=features,
        statistics=CategoryStatistics(
            users=users,
            count=count,
            total=total,
            square=square,
            level_count=level_count if scale.levels else None,
            level_values=values if scale.levels else None,
            crossed=tuple(zip(*product(*map(range, sizes)), strict=True)),
        ),
        noise_variance=noise**2,
        profile_mean=np.zeros(D),
        profile_covariance=np.eye(D),
        provenance=Provenance("invented", "", {}, 0, {}),
    )
    return World(profiles, count / users, level_count / count[:, :, None])


def ready(made: World, protocol: str, seed: int = 0) -> ItemProfiles:
    """Return the profiles with positions that nobody fitted, where a protocol needs some."""
    profiles, scheme = made.profiles, SCHEMES[OBFUSCATION[protocol]]
    if not scheme.counterparts or profiles.statistics is None:
        return profiles
    rng = np.random.default_rng(seed)
    M, K = profiles.offset.shape
    d, r = (2 if scheme.sub_samples else 0), 2
    G = 2 if scheme.sub_samples else 1
    factor = np.eye(d + r) + rng.normal(size=(G, K, d + r, d + r)) * 0.3
    drawn = {"rate": (M, K), "selection": (M, d), "taste": (M, r)}
    columns = {name: np.rint(rng.normal(size=size) * 128) / 256 for name, size in drawn.items()}
    model = PositionModel(
        rate=columns["rate"],
        selection=columns["selection"],
        taste=columns["taste"],
        base=np.rint((profiles.centre[:, None] + profiles.offset) * 256) / 256,
        least=np.arange(G)[:, None] * np.ones(K),
        mean=rng.normal(size=(G, K, d + r)) * 0.4,
        covariance=factor @ factor.swapaxes(2, 3) + 0.2 * np.eye(d + r),
        noise_variance=profiles.noise_variance,
    )
    return replace(profiles, positions=model)


def raters(made: World, per_category: int, seed: int, *, all_rated: bool = False) -> Population:
    """Draw people of every category who rate by chance, and independently, on the levels."""
    rng = np.random.default_rng(seed)
    M, K, _ = made.levels.shape
    category = np.repeat(np.arange(K), per_category)
    rated = rng.random((len(category), M)) < (1.0 if all_rated else made.probability.T[category])
    user, item = np.nonzero(rated)
    below = rng.random(len(user))[:, None] >= made.levels.cumsum(axis=2)[item, category[user]]
    values = np.array(STARS.levels)
    return Population(user, item, values[np.minimum(below.sum(axis=1), 4)], category)


def auc(score: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    """Return the probability that a positive one scores higher, ties counting half."""
    _, index, count = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[index]
    n = int(positive.sum())
    return float((rank[positive].sum() - n * (n + 1) / 2) / (n * (len(score) - n)))


def two_sided(area: float) -> float:
    """Return the AUC of an attacker who may flip the sign."""
    return max(area, 1 - area)
