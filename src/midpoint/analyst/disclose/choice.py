"""Which scheme protects these ratings: the one rule, for library and command line alike."""

from math import isqrt
from typing import Final

from midpoint.analyst.counterparts.fit import SELECTION_FACTORS
from midpoint.data import Ratings, Scale
from midpoint.wire.positions import MOST_NUMBERS

MOST_LEVELS: Final = 10
"""Levels of the finest scale for counterparts: half stars.

People keep to round numbers on a fine scale; a value that was moved is not round, and shows it. On
ANES thermometers by gender counterparts hid more than `dmp` on 5 levels, no more on 11, and showed
single values on 21 and 101.
"""
LEAST_PEOPLE: Final = 200
"""People of every category that positions can be learned from."""
MOST_CHOSEN: Final = 0.5
"""Share of all possible ratings up to which people choose title by title what they rate.

Beyond it, what is missing was not chosen as selection factors have it. In ANES thermometers, where
people leave the second half of an interview out, selection factors hid less than nothing; measured
below a share of 0.07 otherwise.
"""
COMPLETE: Final = 0.95
"""Where a larger share of all possible ratings is there, people rate whatever they are asked."""


def choose_scheme(ratings: Ratings, *features: str) -> str:
    """Return the scheme that a model of these ratings is trained and disclosed for.

    That is the counterpart midpoint where positions can be learned: "cmpss" where people choose
    what they rate, "cmp" where they rate everything. Without a feature or a discrete scale, on a
    fine one, where most ratings are there but not nearly all, with few people of some category or
    with too many categories, it is `itemwise_scheme`.
    """
    simple, levels = itemwise_scheme(ratings.scale), ratings.scale.levels
    if not features or levels is None or len(levels) > MOST_LEVELS:
        return simple
    feature = ratings.feature(*features)
    if len(feature.categories) * (SELECTION_FACTORS + 2) > isqrt(MOST_NUMBERS):
        return simple
    if int(feature.counts.min()) < LEAST_PEOPLE:
        return simple
    share = len(ratings) / (ratings.n_users * ratings.n_items)
    if MOST_CHOSEN < share <= COMPLETE:
        return simple
    return "cmp" if share > COMPLETE else "cmpss"


def itemwise_scheme(scale: Scale) -> str:
    """Return the scheme that protects item by item and needs no positions.

    It is the discrete midpoint with sub-sampling, or MPSS on a continuous scale.
    """
    return "dmpss" if scale.is_discrete else "mpss"
