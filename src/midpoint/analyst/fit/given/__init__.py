"""Bring your own recommender: another model's items become item profiles."""
