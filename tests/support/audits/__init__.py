"""Audits that are small, or that nobody ran."""
