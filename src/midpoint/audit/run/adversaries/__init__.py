"""Adversaries: what each knows, whom it learns from, and the judge that combines its attackers."""
