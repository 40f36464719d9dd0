"""Ratings with user features: loading, preparation, splitting, simulation."""

from typing import TYPE_CHECKING, Any

from midpoint.data.description import Description, describe
from midpoint.data.feature import MISSING, Feature
from midpoint.data.origin import Origin
from midpoint.data.preparation import as_sets, at_least, in_levels, with_known
from midpoint.data.ratings import ItemOrder, Ratings
from midpoint.data.scale import Scale
from midpoint.data.simulation import PRESETS, Simulation, SimulationConfig, simulate
from midpoint.data.split import (
    hold_out,
    split_at_random,
    split_by_time,
    split_moment,
    split_ratings,
    user_folds,
)

if TYPE_CHECKING:
    from midpoint.data.sources.loader import load
    from midpoint.data.tables.atomic import write_atomic

__all__ = [
    "MISSING",
    "PRESETS",
    "Description",
    "Feature",
    "ItemOrder",
    "Origin",
    "Ratings",
    "Scale",
    "Simulation",
    "SimulationConfig",
    "as_sets",
    "at_least",
    "describe",
    "hold_out",
    "in_levels",
    "load",
    "simulate",
    "split_at_random",
    "split_by_time",
    "split_moment",
    "split_ratings",
    "user_folds",
    "with_known",
    "write_atomic",
]


def __getattr__(name: str) -> Any:
    """Import what reads and writes tables when it is first asked for: it is heavy."""
    if name == "load":
        from midpoint.data.sources.loader import load  # noqa: PLC0415

        return load
    if name == "write_atomic":
        from midpoint.data.tables.atomic import write_atomic  # noqa: PLC0415

        return write_atomic
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
