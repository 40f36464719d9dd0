"""What devices are told so that they find their counterparts: columns of items, and a law."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts.fit import SELECTION_FACTORS, fit_positions
from midpoint.analyst.counterparts.model import PositionModel
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.wire import GRAIN, Prior, Scheme, as_rows, to_fixed

Float = NDArray[np.float64]


def prepare(
    profiles: ItemProfiles, ratings: Ratings, scheme: Scheme, *, threads: int | None = None
) -> ItemProfiles:
    """Return the profiles with all that a scheme's disclosure needs of the ratings they came from.

    That is where people lie, under a scheme with counterparts; else they stay as they are.
    """
    if not scheme.counterparts:
        return profiles
    return fit_positions(
        profiles,
        ratings,
        selection_factors=SELECTION_FACTORS if scheme.sub_samples else 0,
        threads=threads,
    )


def position_columns(profiles: ItemProfiles, scheme: Scheme) -> dict[str, Any]:
    """Return the columns about places that a scheme has, items in the order of messages."""
    places, order = _places(profiles, scheme), profiles.order
    names = [name for name in ("rate", "selection", "base", "taste") if name in scheme.columns]
    grains = {name: np.rint(getattr(places, name)[order] * GRAIN) for name in names}
    return {name: as_rows(column) for name, column in grains.items()} | {"prior": prior(places)}


def prior(places: PositionModel) -> Prior:
    """Return the prior of positions in fixed point."""
    inverse = np.linalg.inv(places.covariance)
    return Prior(
        least=as_rows(np.rint(places.least * GRAIN)),
        mean=as_rows(to_fixed(places.mean)),
        precision=as_rows(to_fixed((inverse + inverse.swapaxes(2, 3)) / 2)),
        map=as_rows(to_fixed(places.maps())),
        noise=int(to_fixed(places.noise_variance)),
    )


def _places(profiles: ItemProfiles, scheme: Scheme) -> PositionModel:
    """Return where people lie, fitted for sets and values or for values alone as needed."""
    places = profiles.positions
    if places is None or scheme.sub_samples != (places.selection_factors > 0):
        what = "sets" if scheme.sub_samples else "values"
        raise MidpointError(
            f"scheme {scheme.name!r} needs a model that knows where people lie in their {what};"
            f" train it with --counterparts {what} (midpoint.analyst.place)"
        )
    return places
