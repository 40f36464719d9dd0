"""Ratings drawn from the paper's model, with the truth beside them."""

from midpoint.data.simulation.draw import simulate
from midpoint.data.simulation.model import (
    ItemTruth,
    SimulatedFeature,
    Simulation,
    SimulationConfig,
    UserTruth,
)
from midpoint.data.simulation.presets import PRESETS

__all__ = [
    "PRESETS",
    "ItemTruth",
    "SimulatedFeature",
    "Simulation",
    "SimulationConfig",
    "UserTruth",
    "simulate",
]
