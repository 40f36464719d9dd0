"""The omniscient attacker: a bound for somebody who knows all errors of a disclosure.

The formula is in `analyst.disclose.leak`, where leak budgets use it. Here it is applied to what the
attacked people revealed.
"""

from typing import NamedTuple

import numpy as np

from midpoint.analyst.disclose.leak import divergences, errors_of
from midpoint.audit.attackers.view import View
from midpoint.audit.run.plan import sends_profiles
from midpoint.protocol import LearningProtocol
from midpoint.wire import ValueMap

PASSED = 0.03
"""The most by which somebody who knew the truth about simulated people passed the bound: with
counterparts, on whole stars."""
ASSUMES = (
    "that errors have the analyst's own posterior variances, item by item (with counterparts, too,"
    " whose rates are less sure); that what is disclosed of values errs in their means only; that"
    " errors are small, normal and independent; that people rate items independently given the"
    " category; and that the noise of a rating is what is left when the taste is known. On whole"
    " stars with counterparts somebody who knew the truth of simulated people passed it by up to"
    f" {PASSED}. It leaves out what leaks even if every number is exact"
)
"""The assumptions of the bound, as words that follow "It assumes"."""
BOUNDED_VALUES = (ValueMap.SHIFTED, ValueMap.ROUNDED, ValueMap.DISCRETE)
"""Value maps that leak, item by item, by the errors of the disclosed numbers alone."""


class Divergence(NamedTuple):
    """The divergence D of some people's reports, on average (`analyst.disclose.leak`)."""

    sets: float
    """The part of D from which items are revealed."""
    values: float
    """The part of D from their values."""
    revealed: float
    """Number of items that a person revealed."""


def is_bounded(protocol: LearningProtocol, *, discrete: bool, unary: bool = False) -> bool:
    """Whether a protocol leaks, item by item, by the errors of the disclosed numbers alone.

    Plain estimates (`estimation=plain`) have other errors. Ratings that are sent unprotected, even
    a few of them, leak more than any error.
    """
    if (
        sends_profiles(protocol)
        or protocol.estimation != "shrunken"
        or protocol.alpha < 1
        or protocol.bits is not None
    ):
        return False
    scheme = protocol.scheme
    if unary:
        return scheme.protects(discrete=discrete, unary=True)
    hidden = scheme.value_map in BOUNDED_VALUES and scheme.protects(discrete=discrete)
    return scheme.sub_samples and hidden


def divergence(view: View, protocol: LearningProtocol) -> Divergence:
    """Return D for the pair of categories that errors of the disclosure distinguish best.

    The view has the profiles of the panel that the disclosure was made of. The result is NaN for a
    protocol that is not bounded, since a fold may have chosen one.
    """
    scale = view.profiles.scale
    if not is_bounded(protocol, discrete=scale.is_discrete, unary=scale.is_unary):
        return Divergence(np.nan, np.nan, np.nan)
    users = view.n_users
    revealed = np.bincount(view.reports.item, minlength=view.profiles.n_items) / max(users, 1)
    every = [
        Divergence(*divergences(revealed, errors), float(revealed.sum()))
        for errors in errors_of(view.profiles)
    ]
    return max(every, key=lambda one: one.sets + one.values)
