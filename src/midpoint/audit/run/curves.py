"""Curves over a setting: the share obfuscated, the bits disclosed, the share of ratings given."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, itemwise_scheme
from midpoint.analyst.fit.choice import RAW
from midpoint.audit.run.plan import read_scheme
from midpoint.data import Scale
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Population, Reports
from midpoint.protocol.learning import Coins
from midpoint.wire import Disclosure

CURVES = ("alpha", "bits", "share")
"""What can be varied."""
ALPHAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Shares of ratings that are obfuscated: the paper's steps; its ends are `no` and the scheme."""
BITS = (1, 2, 3, 4, 6, 8)
"""Bits of each disclosed number; all 16 is the scheme itself.

Schemes with counterparts are disclosed at one precision, by which devices estimate positions.
They are one point.
"""
SHARES = (0.05, 0.1, 0.2, 0.4, 0.7)
"""Shares of their ratings that people give; all of them is the scheme itself."""
QUICK: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {"alpha": (0.25, 0.5, 0.75), "bits": (1, 2, 4), "share": (0.05, 0.2, 0.5)}
)
CURVE_ATTACKS = (
    "lse",
    "lr",
    "adaptive-lr-items",
    "adaptive-lr-profile",
    "adaptive-trees-profile",
)
"""The paper's attacker of Figure 7, and strong ones that take little time."""


@dataclass(frozen=True)
class Thinned(LearningProtocol):
    """A protocol among people who give fewer ratings: each of theirs with the same probability.

    So the disclosed ratios still hold: p_jk share / (p_jl share) = p_jk / p_jl. A limit on their
    number would not keep them, and how many of as many are withheld would leak the category. What
    is not given never reaches the analyst, and counts as withheld.
    """

    share: float = 1.0
    """Probability that a rating is given."""

    def report(
        self, disclosure: Disclosure, profiles: ItemProfiles, people: Population, coins: Coins
    ) -> Reports:
        """Choose the ratings that are given, and report those."""
        given, some = self._given(people, coins)
        sent = super().report(disclosure, profiles, some, coins)
        return replace(sent, kept=given[sent.kept])

    def moves(
        self,
        disclosure: Disclosure,
        profiles: ItemProfiles,
        people: Population,
        coins: Coins,
        sent: Reports,
    ) -> NDArray[np.int64]:
        """Return how far what was sent is from tastes known by the ratings that are given only."""
        _, some = self._given(people, coins)
        return super().moves(disclosure, profiles, some, coins, sent)

    def _given(self, people: Population, coins: Coins) -> tuple[NDArray[np.intp], Population]:
        """Draw the ratings that are given."""
        if isinstance(coins, np.ndarray):
            raise MidpointError("thinned people need coins to be drawn; give a generator")
        given = np.flatnonzero(coins.random(len(people.user)) < self.share)
        chosen = people.user[given], people.item[given], people.value[given]
        return given, Population(*chosen, people.category)


def curve_schemes(
    over: Iterable[str], scale: Scale, *, quick: bool = False, usual: str | None = None
) -> dict[str, LearningProtocol]:
    """Return all points of the wanted curves by name, such as `mpss:alpha=0.5`, ends included.

    `usual` is the scheme in use; the default one of the scale unless given.
    """
    chosen: dict[str, LearningProtocol] = {}
    for key in over:
        if key not in CURVES:
            raise MidpointError(f"there is no curve over {key!r}; choose from {', '.join(CURVES)}")
        steps = QUICK[key] if quick else {"alpha": ALPHAS, "bits": BITS, "share": SHARES}[key]
        for name in _schemes_of(key, scale, usual or itemwise_scheme(scale), quick=quick):
            whole = chosen[name] = read_scheme(name)
            if key == "bits" and whole.scheme.counterparts:  # one precision: a point
                continue
            chosen |= {f"{name}:{key}={step:g}": _MAKERS[key](whole, step) for step in steps}
    return chosen


_MAKERS: Mapping[str, Callable[[LearningProtocol, float], LearningProtocol]] = MappingProxyType(
    {
        "alpha": lambda whole, step: replace(whole, alpha=step),
        "bits": lambda whole, step: replace(whole, bits=int(step)),
        "share": lambda whole, step: Thinned(**vars(whole), share=step),
    }
)


def _schemes_of(key: str, scale: Scale, usual: str, *, quick: bool) -> list[str]:
    """Return the schemes that a curve is drawn for: Figure 7's, and the one in use."""
    wanted = {
        "alpha": ("mpss", "mpssr", "ssia", usual) if quick else ("mpss", "mpssr", "ssia", "ssfa"),
        "bits": ("mpssr", "mpss", itemwise_scheme(scale)),
        "share": (RAW,),
    }[key]
    names = dict.fromkeys([*wanted, usual])
    if key == "bits" and scale.is_discrete:
        names.pop("mpss")  # whole stars less an offset are read at any number of bits
    return [
        name for name in names if scale.is_discrete or not read_scheme(name).scheme.needs_levels
    ]
