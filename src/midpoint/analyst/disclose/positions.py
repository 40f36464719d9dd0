"""What devices need to find their counterparts: columns of items, and a prior of positions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from midpoint.analyst.counterparts.fit import SELECTION_FACTORS, fit_positions, learn_positions
from midpoint.analyst.counterparts.panel import Panel
from midpoint.analyst.fit.factorizer import Progress
from midpoint.analyst.fit.positions import PositionModel
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.wire import GRAIN, Prior, Scheme, as_rows, to_fixed


def prepare(
    profiles: ItemProfiles,
    ratings: Ratings | Panel,
    scheme: Scheme,
    *,
    spread: bool = True,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: Path | None = None,
) -> ItemProfiles:
    """Return the profiles with all that a scheme's disclosure needs of the ratings they came from.

    That is a model of positions under a scheme with counterparts; else they stay as they are. Log
    spreads are learned with it unless `spread` says that the scheme is not to disclose them. A
    killed call goes on from its `checkpoint`, a directory, where the ratings are a panel.
    """
    if not scheme.counterparts:
        return profiles

    def report(done: int, total: int) -> None:
        if progress:
            progress(Progress(done, total, stage="Fitting positions"))

    factors = SELECTION_FACTORS if scheme.sub_samples else 0
    if isinstance(ratings, Ratings):
        return fit_positions(
            profiles,
            ratings,
            selection_factors=factors,
            spread=spread,
            threads=threads,
            progress=report,
        )
    return learn_positions(
        profiles,
        ratings,
        selection_factors=factors,
        spread=spread,
        threads=threads,
        progress=report,
        checkpoint=checkpoint,
    )


def position_columns(
    profiles: ItemProfiles, scheme: Scheme, *, spread: bool = False
) -> dict[str, Any]:
    """Return the columns about positions that a scheme has, items in the order of messages."""
    positions, order = _positions(profiles, scheme), profiles.order
    names = [name for name in ("rate", "selection", "base", "taste") if name in scheme.columns]
    grains = {name: np.rint(getattr(positions, name)[order] * GRAIN) for name in names}
    columns = {name: as_rows(column) for name, column in grains.items()}
    return columns | {"prior": prior(positions, spread=spread)}


def prior(positions: PositionModel, *, spread: bool = False) -> Prior:
    """Return the prior of positions in fixed point; with that of log spreads if asked."""
    if spread and positions.spread is None:
        raise MidpointError(
            "the model has no log spreads, which spread=on discloses; train it again with --spread"
            ' (midpoint.analyst.train, scheme="cmpss:spread=on")'
        )
    inverse = np.linalg.inv(positions.covariance)
    return Prior(
        least=as_rows(np.rint(positions.least * GRAIN)),
        mean=as_rows(to_fixed(positions.mean)),
        precision=as_rows(to_fixed((inverse + inverse.swapaxes(2, 3)) / 2)),
        map=as_rows(to_fixed(positions.maps())),
        noise=int(to_fixed(positions.noise_variance)),
        spread=as_rows(to_fixed(positions.spread))
        if spread and positions.spread is not None
        else None,
        weight=None if positions.weight is None else int(to_fixed(positions.weight)),
    )


def _positions(profiles: ItemProfiles, scheme: Scheme) -> PositionModel:
    """Return the model of positions, fitted to sets and values or to values alone as needed."""
    positions = profiles.positions
    if positions is None or scheme.sub_samples != (positions.selection_factors > 0):
        what = "sets" if scheme.sub_samples else "values"
        raise MidpointError(
            f"scheme {scheme.name!r} needs a model with positions fitted to people's {what}; train"
            f" it with --counterparts {what} (midpoint.analyst.train, scheme={scheme.name!r})"
        )
    return positions
