"""Priors of people and of items, predicted from who rates what."""
