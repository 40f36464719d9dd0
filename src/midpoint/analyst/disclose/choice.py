"""Which scheme protects these ratings: the one rule, for library and command line alike."""

from collections.abc import Sequence
from math import isqrt
from typing import Final, NamedTuple

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


class Choice(NamedTuple):
    """A scheme, and why it is the one."""

    scheme: str
    """Its name."""
    reason: str
    """What decided, to follow "because"."""


def choose_scheme(ratings: Ratings, *features: str) -> str:
    """Return the scheme that a model of these ratings is trained and disclosed for.

    That is the counterpart midpoint where positions can be learned: "cmpss" where people choose
    what they rate, "cmp" where they rate everything. Without a feature or a discrete scale, on a
    fine one, where most ratings are there but not nearly all, with few people of some category or
    with too many categories, it is `itemwise_scheme`.
    """
    return explain_choice(ratings, *features).scheme


def explain_choice(ratings: Ratings, *features: str) -> Choice:
    """Choose the scheme as `choose_scheme` does, and say why."""
    simple, obstacle = itemwise_scheme(ratings.scale), _obstacle(ratings, features)
    if obstacle is not None:
        return Choice(simple, obstacle)
    share = len(ratings) / (ratings.n_users * ratings.n_items)
    there = f"{share:.0%} of all possible ratings are there"
    if share > COMPLETE:
        return Choice("cmp", f"people rate what they are asked: {there}")
    if share > MOST_CHOSEN:
        return Choice(simple, f"{there}: neither chosen by people nor complete")
    return Choice("cmpss", f"people choose what they rate: {there}")


def _obstacle(ratings: Ratings, features: Sequence[str]) -> str | None:
    """Say why positions cannot be learned, whatever share of ratings is there; None if they can."""
    levels = ratings.scale.levels
    if not features:
        return "no private feature is named"
    if levels is None:
        return "counterparts need ratings in levels"
    if len(levels) > MOST_LEVELS:
        return f"{len(levels)} levels are too many for counterparts"
    feature = ratings.feature(*features)
    names, counts = feature.categories, feature.counts
    if len(names) * (SELECTION_FACTORS + 2) > isqrt(MOST_NUMBERS):
        return f"{len(names)} categories are too many for counterparts"
    rarest = int(counts.argmin())
    if counts[rarest] < LEAST_PEOPLE:
        few = f"{feature.name} {names[rarest]} has {counts[rarest]}"
        return f"{few} of the {LEAST_PEOPLE} people that counterparts need"
    return None


def itemwise_scheme(scale: Scale) -> str:
    """Return the scheme that protects item by item and needs no positions.

    It is the discrete midpoint with sub-sampling, or MPSS on a continuous scale.
    """
    return "dmpss" if scale.is_discrete else "mpss"
