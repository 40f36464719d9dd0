"""The schemes that are tried on a panel, the simplest first."""

from midpoint.data import Scale
from midpoint.protocol import LearningProtocol

DISCRETE = ("dmp", "dmpss", "cmp", "cmpss")
"""Candidates for ratings in levels: schemes by name, with settings if they have some."""
CONTINUOUS = ("mp", "mpss")
"""Candidates for ratings on a continuous scale."""


def candidates(scale: Scale, *, positions: bool = True) -> tuple[str, ...]:
    """Return what is tried for ratings on a scale. Ties go to the one that comes first.

    `positions` says whether they can be learned, which counterparts need.
    """
    every = DISCRETE if scale.is_discrete else CONTINUOUS
    return tuple(name for name in every if positions or not protocol_of(name).scheme.counterparts)


def protocol_of(candidate: str) -> LearningProtocol:
    """Return the protocol of a candidate."""
    return LearningProtocol(candidate)
