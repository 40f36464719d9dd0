"""Unary data: item profiles from sets of items."""
