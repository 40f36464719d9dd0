"""Ratings as tables on disk."""
