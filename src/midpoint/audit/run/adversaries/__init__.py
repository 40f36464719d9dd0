"""Adversaries that know more than the panel: outsiders, and a bound for whoever knows the truth."""
