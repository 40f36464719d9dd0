"""The schemes that are tried on a panel, the simplest first."""

from midpoint.data import Scale

DISCRETE = ("dmp", "dmpss", "cmp", "cmpss")
"""Candidates for ratings in levels: schemes with their settings, as `read_scheme` reads them."""
CONTINUOUS = ("mp", "mpss")
"""Candidates for ratings on a continuous scale."""


def candidates(scale: Scale) -> tuple[str, ...]:
    """Return what is tried for ratings on a scale. Ties go to the one that comes first."""
    return DISCRETE if scale.is_discrete else CONTINUOUS
