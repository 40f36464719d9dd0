"""The end of every fit: factors and statistics become item profiles, in rating units."""

import platform
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint import __version__
from midpoint.analyst.categories.estimates import mean_effects
from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.fit.als import Factors
from midpoint.analyst.fit.profiles import ItemProfiles, Provenance
from midpoint.analyst.fit.standardized import joint_offset
from midpoint.data import Feature, Scale

if TYPE_CHECKING:
    from midpoint.analyst.fit.factorizer import Factorizer

Float = NDArray[np.float64]
FACTORS = "factors"
"""The method without means: no user has a level of her own."""


class Catalogue(NamedTuple):
    """What is known of the items before a fit; M items."""

    item_ids: NDArray[np.str_]
    """Stable names. Shape (M,)."""
    item_names: NDArray[np.str_]
    """What a person calls them. Shape (M,)."""
    rated: NDArray[np.bool_]
    """Which have a rating; the others say nothing of taste. Shape (M,)."""
    scale: Scale
    """What a rating can be."""


class Unit(NamedTuple):
    """What one standardized unit stands for: y = level + spread z."""

    level: float
    """Mean of the ratings without their offsets."""
    spread: float
    """Their standard deviation."""


def freeze(
    made: Provenance,
    catalogue: Catalogue,
    feature: Feature | None,
    statistics: CategoryStatistics | None,
    offset: Float | None,
    unit: Unit,
    factors: Factors,
) -> ItemProfiles:
    """Bring a fit back to rating units; the spread goes to the users' side.

    Args:
        made: How the fit was made.
        catalogue: The items.
        feature: The private feature, if any; its users do not matter.
        statistics: What was counted of its categories.
        offset: What each category adds, (M, K); None where it was fitted jointly (Eq. 5).
        unit: What the fit was standardized by.
        factors: The fit.
    """
    d = len(factors.users.mean)
    items = factors.items.profile.astype(np.float64)
    if feature is None:
        offset = np.zeros((len(items), 0))
    elif offset is None:
        offset = unit.spread * joint_offset(items[:, d:], feature)
    vectors = items[:, :d].astype(np.float32)
    vectors[:, 0] = made.configuration.get("method") != FACTORS
    vectors[~catalogue.rated, 1:] = 0
    profiles = ItemProfiles(
        item_ids=catalogue.item_ids,
        item_names=catalogue.item_names,
        scale=catalogue.scale,
        vectors=vectors,
        centre=unit.level + unit.spread * items[:, 0],
        offset=offset,
        features=feature.parts if feature else (),
        statistics=statistics,
        noise_variance=unit.spread**2 * factors.noise_variance,
        profile_mean=unit.spread * factors.users.mean,
        profile_covariance=unit.spread**2 * factors.users.covariance,
        provenance=made,
    )
    if statistics is None or made.configuration.get("biases") != "shrunken":
        return profiles
    # Shrink again, now that the profiles say what part of the offsets follows from taste.
    along = profiles.standard_vectors.astype(np.float64)
    return replace(profiles, offset=mean_effects(statistics, along=along).effect)


def provenance(
    factorizer: "Factorizer",
    data: str,
    digest: str,
    iterations: int,
    *,
    engine: str = "local",
    more: tuple[str, ...] = (),
) -> Provenance:
    """Write down how profiles were made; `more` are further libraries that took part."""
    configuration = asdict(factorizer)
    del configuration["threads"]  # the result does not depend on it
    if engine != "local":
        configuration["engine"] = engine
    return Provenance(data, digest, configuration, iterations, dict(_versions(more)))


@cache
def _versions(more: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Look up versions once: reading a package's metadata takes milliseconds."""
    libraries = tuple((name, version(name)) for name in ("numpy", "numba", "scipy", *more))
    return ("midpoint", __version__), ("python", platform.python_version()), *libraries
