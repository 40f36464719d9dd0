"""The schemes that are tried on a panel, the simplest first."""

from dataclasses import replace

from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.data import Scale
from midpoint.protocol import LearningProtocol

DISCRETE = ("dmp", "dmpss", "cmp", "cmpss")
"""Candidates for ratings in levels: schemes by name."""
OF_SETS = ("dmpss", "cmpss")
"""Candidates for unary data."""
CONTINUOUS = ("mp", "mpss")
"""Candidates for ratings on a continuous scale."""
BUDGETS = (0.7, 0.6)
"""Leak budgets that are tried for sets."""
FINE = 20
"""A scale with more levels is a fine one: people keep to round numbers."""
HALVES = 8
"""A scale with at least so many levels may have halves, which some people use and some do not."""


def candidates(scale: Scale, *, positions: bool = True, assigned: bool = False) -> tuple[str, ...]:
    """Return what is tried for ratings on a scale. Ties go to the one that comes first.

    `positions` says whether they can be learned, which counterparts need. Where items are
    `assigned`, nothing is withheld.
    """
    every = DISCRETE if scale.is_discrete else CONTINUOUS
    every = OF_SETS if scale.is_unary else every
    schemes = {name: protocol_of(name).scheme for name in every}
    return tuple(
        name
        for name, scheme in schemes.items()
        if (positions or not scheme.counterparts) and not (assigned and scheme.sub_samples)
    )


def variants(candidate: str, scale: Scale) -> tuple[str, ...]:
    """Return settings of a candidate that are tried where it leaks, the simplest first.

    Fewer reported levels where the scale has many, and spreads carried to the counterparts'. Of
    sets leak budgets: withheld items cost little where devices rank by all that they know.
    """
    spec, count = SchemeSpec.read(candidate), len(scale.levels or ())
    if scale.is_unary:
        budgets = BUDGETS if spec.scheme.counterparts else ()
        return tuple(str(replace(spec, leak=leak)) for leak in budgets)
    fewer = (11, 7) if count > FINE else (5,) if count >= HALVES else ()
    others = [replace(spec, levels=levels) for levels in fewer]
    if spec.scheme.counterparts:
        others.append(replace(spec, spread=True))
    return tuple(str(other) for other in others)


def protocol_of(candidate: str) -> LearningProtocol:
    """Return the protocol of a candidate."""
    spec = SchemeSpec.read(candidate)
    return LearningProtocol(spec.name, levels=spec.levels, spread=spec.spread, leak=spec.leak)
