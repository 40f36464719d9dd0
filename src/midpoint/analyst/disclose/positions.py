"""What devices need to find their counterparts: columns of items, and a prior of positions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from midpoint.analyst.counterparts.dimensions import SELECTION_FACTORS
from midpoint.analyst.counterparts.fit import fit_positions, learn_positions
from midpoint.analyst.counterparts.panel import Panel
from midpoint.analyst.fit.factorizer import Progress
from midpoint.analyst.fit.positions import PositionModel
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.wire import GRAIN, ONE, Prior, Scheme, as_rows, to_fixed
from midpoint.wire.positions import MOST_WEIGHT


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
    profiles: ItemProfiles, scheme: Scheme, *, spread: bool = False, shift: bool = True
) -> dict[str, Any]:
    """Return the columns about positions that a scheme has, items in the order of messages.

    Without `shift` all categories have one prior of taste factors, and no value moves.
    """
    positions, order = _positions(profiles, scheme), profiles.order
    names = [name for name in ("rate", "selection", "base", "taste") if name in scheme.columns]
    grains = {name: np.rint(getattr(positions, name)[order] * GRAIN) for name in names}
    columns = {name: as_rows(column) for name, column in grains.items()}
    if not shift:
        positions = positions.without_shift()
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


def weighed_for(kept: tuple[int, ...], known: Prior, profiles: ItemProfiles) -> Prior:
    """Return the prior with a weight for lists from reports of which only a part is kept.

    The weight of her own probabilities was learned for all that a scheme reveals. Of a report of
    which a share s is left the analyst knows about s times as much, so it is divided by s.

    Args:
        kept: Keep probabilities of the items, in the order of messages.
        known: The prior for reports of which everything is kept.
        profiles: The item profiles.
    """
    if known.weight is None or profiles.statistics is None:
        return known
    count = profiles.statistics.count.sum(axis=1)[profiles.order]
    share = float(np.array(kept) @ count) / (ONE * max(float(count.sum()), 1.0))
    weight = min(known.weight / max(share, 1 / ONE), MOST_WEIGHT * ONE)
    return known.model_copy(update={"weight": int(weight)})


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
