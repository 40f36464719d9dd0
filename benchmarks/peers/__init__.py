"""Midpoint and other libraries in one shape, the data they get, and a process for each."""
