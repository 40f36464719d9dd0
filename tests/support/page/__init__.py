"""Somebody at the page, and a service behind it."""
