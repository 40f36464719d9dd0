"""The schemes that are tried on a panel, the simplest first."""

from dataclasses import replace
from types import MappingProxyType

from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.data import Scale
from midpoint.protocol import LearningProtocol

DISCRETE = ("dmp", "dmpss", "cmp", "cmpss")
"""Candidates for ratings in levels: schemes by name."""
OF_SETS = ("dmpss", "cmpss")
"""Candidates for unary data."""
CONTINUOUS = ("mp", "mpss")
"""Candidates for ratings on a continuous scale."""
KEEPS = (0.84, 0.71, 0.59, 0.5, 0.42, 0.35, 0.3, 0.25)
"""Shares of their ratings that devices may reveal where no candidate is shown to hold the leak.

Each is the one before by the fourth root of two, so that four of them halve what is revealed.
"""
BUDGETS = (0.7, 0.6, 0.55)
"""Leak budgets that devices may keep to instead, of sets."""
POSITIONED = MappingProxyType({"dmp": "cmp", "dmpss": "cmpss"})
"""What has positions as well, by the scheme that protects item by item."""
FEWER = (11, 7, 5)
"""Levels that devices may report on where the scale has many."""
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


def variants(
    candidate: str, scale: Scale, *, positions: bool = True, assigned: bool = False
) -> tuple[str, ...]:
    """Return settings of a candidate that are tried where it leaks, the simplest first.

    Fewer reported levels where the scale has many, and spreads carried to the counterparts'. On a
    fine scale values that shift lie off the round numbers, so there taste only corrects scores.
    Sets have neither levels nor spreads.
    """
    spec, count = SchemeSpec.read(candidate), len(scale.levels or ())
    if scale.is_unary:
        return ()
    if count > FINE:
        still = SchemeSpec("cmp" if assigned else "cmpss", shift=False)
        base = still if positions else spec
        return tuple(str(replace(base, levels=levels)) for levels in FEWER)
    others = [replace(spec, levels=FEWER[-1])] if count >= HALVES else []
    if spec.scheme.counterparts:
        others.append(replace(spec, spread=True))
    return tuple(str(other) for other in others)


def thinned(
    candidate: str, scale: Scale, least: float = KEEPS[-1], *, positions: bool = True
) -> tuple[str, ...]:
    """Return a candidate of which devices reveal smaller and smaller shares, whatever the category.

    What is revealed of fewer ratings can be made of what is revealed of more, so it leaks no more.
    Devices that know positions make up for most of the cost: see `user.core.counterparts`, step 7.
    A scheme without positions gets them where `positions` can be learned, and no value shifts.
    `cmp:shift=off` sends what `dmp` sends. `cmpss:shift=off` withholds by counterparts, unlike
    `dmpss`, so what it leaks is measured. Of sets the shares are those of leak budgets, which
    differ from item to item.
    """
    spec = SchemeSpec.read(candidate)
    if positions and spec.name in POSITIONED:
        spec = replace(spec, name=POSITIONED[spec.name], shift=scale.is_unary)
    if scale.is_unary:
        return tuple(str(replace(spec, leak=leak)) for leak in BUDGETS)
    return tuple(str(replace(spec, keep=keep)) for keep in KEEPS if keep >= least)


def protocol_of(candidate: str) -> LearningProtocol:
    """Return the protocol of a candidate."""
    return LearningProtocol.of_spec(SchemeSpec.read(candidate))
