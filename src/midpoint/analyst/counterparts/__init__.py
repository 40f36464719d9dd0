"""Positions of people and their prior by category, learned for devices to find counterparts."""
