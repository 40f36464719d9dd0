"""Midpoint: a recommender that cannot learn what you keep private."""

__version__ = "0.1.0"

__all__ = ["__version__"]
