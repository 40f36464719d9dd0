"""Adversaries that know more than the panel: outsiders, and a bound for who knows the truth."""
