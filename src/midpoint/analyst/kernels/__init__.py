"""Compiled code, and only that; it imports nothing of ours."""
