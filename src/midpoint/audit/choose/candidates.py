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
"""Shares of their ratings that devices may reveal, tried if no candidate is shown to hold the leak.

Each is the one before divided by the fourth root of two: four steps halve what is revealed.
"""
BUDGETS = (0.7, 0.6, 0.55)
"""Leak budgets, tried for sets instead of shares."""
POSITIONED = MappingProxyType({"dmp": "cmp", "dmpss": "cmpss"})
"""The scheme with positions, by the item-wise scheme that it extends."""
FEWER = (11, 7, 5)
"""Numbers of reported levels that are tried where the scale has many."""
FINE = 20
"""A scale with more levels counts as fine: most people use its round numbers only."""
HALVES = 8
"""A scale with so many levels may have half steps, which some people use and others do not."""


def candidates(scale: Scale, *, positions: bool = True, assigned: bool = False) -> tuple[str, ...]:
    """Return the schemes that are tried for a scale, the simplest first; it wins ties.

    Schemes with counterparts are tried if `positions` can be learned, schemes that withhold unless
    items are `assigned`.
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
    """Return variants of a candidate that are tried if it leaks, the simplest first.

    Where the scale has many levels, variants report on fewer. With counterparts, a variant maps the
    spread as well (`spread=on`). If positions can be learned, one shifts no values (`shift=off`):
    it withholds by counterparts, and devices correct by all that they know. On a fine scale all
    variants are so, since a shifted value would stand out between the round numbers that most
    people use. Sets have neither levels nor spreads.
    """
    spec, count = SchemeSpec.read(candidate), len(scale.levels or ())
    if not scale.is_discrete or scale.is_unary:
        return ()
    still = SchemeSpec("cmp" if assigned else "cmpss", shift=False)
    if count > FINE:
        base = still if positions else spec
        return tuple(str(replace(base, levels=levels)) for levels in FEWER)
    others = [replace(spec, levels=FEWER[-1])] if count >= HALVES else []
    if spec.scheme.counterparts:
        others.append(replace(spec, spread=True))
    if positions:
        others.append(still)
    return tuple(str(other) for other in others)


def thinned(
    candidate: str, scale: Scale, least: float = KEEPS[-1], *, positions: bool = True
) -> tuple[str, ...]:
    """Return variants of a candidate that reveal smaller and smaller shares of the answers.

    Example: `cmp:keep=0.84`, `cmp:keep=0.71` and so on. A smaller share can be computed from a
    larger one without knowing the category, so it leaks no more. For sets, leak budgets stand
    for shares; they differ from item to item.

    Devices that know positions make up for most of the cost: see `user.core.counterparts`, step 7.
    So an item-wise scheme becomes the one with positions and `shift=off`, if `positions` can be
    learned. `cmp:shift=off` sends what `dmp` sends. `cmpss:shift=off` withholds by counterparts,
    unlike `dmpss`, so its leak is measured.
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
