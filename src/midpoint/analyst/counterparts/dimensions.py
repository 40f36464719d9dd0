"""How many dimensions positions have, and how many strata: as many as devices accept."""

from math import isqrt
from typing import Final

from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Prior
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.errors import MidpointError
from midpoint.wire.positions import MOST_DIMENSIONS, MOST_NUMBERS

SELECTION_FACTORS: Final = 4
"""Selection factors, unless given."""
TASTE_FACTORS: Final = 10
"""Taste factors, unless given, where everyone rates everything: more of them hide no more."""
TASTE_FACTORS_OF_CHOICE: Final = 20
"""Taste factors, unless given, where people choose what they rate: by more than values show."""
FACTORS_OF_SETS: Final = 36
"""Directions of the profiles that become selection factors of sets, unless given: with 20 of 40,
women's and men's sets still differed in the others on MovieLens 1M (AUC 0.56, not 0.54)."""
STRATA: Final = 2
"""Strata of activity: light raters choose otherwise than heavy ones, and not only less."""
PEOPLE_FOR_STRATA: Final = 300
"""People of every category from which on there are strata; measured down to 380."""


def usual_taste_factors(selection_factors: int) -> int:
    """Return how many taste factors are learned, unless given and as far as profiles have them."""
    return TASTE_FACTORS_OF_CHOICE if selection_factors else TASTE_FACTORS


def require_fitting(
    profiles: ItemProfiles, selection_factors: int, taste_factors: int | None
) -> None:
    """Say what is missing."""
    if selection_factors < 0 or (taste_factors is not None and taste_factors < 1):
        raise MidpointError(
            f"selection factors must be at least 0 and taste factors at least 1: got"
            f" {selection_factors} and {taste_factors}"
        )
    if not profiles.features:
        raise MidpointError(
            "positions need a private feature, and the profiles have none; name one to train"
        )
    if profiles.scale.levels is None:
        raise MidpointError(
            f"positions need a discrete scale, and that of {profiles.provenance.data} is"
            " continuous; give its levels, or choose a scheme for continuous ratings"
        )


def fitting_taste_factors(
    profiles: ItemProfiles, selection_factors: int, taste_factors: int | None
) -> int:
    """Return how many taste factors to learn: no more than the profiles have and devices accept."""
    K = int(profiles.offset.shape[1])
    room = min(MOST_DIMENSIONS, isqrt(MOST_NUMBERS) // K)
    most = (room - selection_factors) // 2 if selection_factors else room
    if profiles.scale.is_unary:  # whose factors choose, and say nothing of values
        most = room - selection_factors
    usual = FACTORS_OF_SETS if profiles.scale.is_unary else usual_taste_factors(selection_factors)
    wanted = min(usual if taste_factors is None else taste_factors, profiles.dimension)
    if most < 1 or (taste_factors is not None and wanted > most):
        raise MidpointError(
            f"devices accept at most {room} dimensions of positions with {K} categories, and"
            f" {selection_factors} selection factors leave room for {max(most, 0)} taste factors,"
            " each of which counts twice beside selection factors; ask for fewer, or merge"
            " categories"
        )
    return min(wanted, most)


def strata_count(people: People, prior: Prior) -> int:
    """Return how many strata of activity to fit: one for few people or too many numbers."""
    fits = STRATA * prior.mean.size**2 <= MOST_NUMBERS
    return STRATA if fits and int(people.sizes.min()) >= PEOPLE_FOR_STRATA else 1
