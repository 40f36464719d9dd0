"""Ratings with user features: loading, preparation, splitting, simulation."""

from midpoint.data.feature import MISSING, Feature
from midpoint.data.ratings import ItemOrder, Origin, Ratings
from midpoint.data.scale import Scale

__all__ = ["MISSING", "Feature", "ItemOrder", "Origin", "Ratings", "Scale"]
