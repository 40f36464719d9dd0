"""The omniscient adversary: what somebody reads who knows all errors of a disclosure.

The rule is in `analyst.disclose.leak`, for the analyst keeps to it when it has a leak budget. Here
it is applied to what people revealed.
"""

from typing import NamedTuple

import numpy as np

from midpoint.analyst.disclose.leak import divergences, errors_of
from midpoint.audit.attackers.view import View
from midpoint.audit.run.plan import sends_profiles
from midpoint.protocol import LearningProtocol
from midpoint.wire import ValueMap

PASSED = 0.03
"""By how much somebody who knew the truth of simulated people passed the bound, at most: with
counterparts, on whole stars."""
ASSUMES = (
    "that errors have the analyst's own posterior variances, item by item (with counterparts, too,"
    " whose rates are less sure); that what is disclosed of values errs in their means only; that"
    " errors are small, normal and independent; that people rate items independently given the"
    " category; and that the noise of a rating is what is left when the taste is known. On whole"
    " stars with counterparts somebody who knew the truth of simulated people passed it by up to"
    f" {PASSED}. It leaves out what leaks even if every number is exact"
)
"""What the bound takes for granted, after "It assumes"."""
BOUNDED_VALUES = (ValueMap.SHIFTED, ValueMap.ROUNDED, ValueMap.DISCRETE)
"""Maps of values whose only leak, item by item, is the error of what was disclosed."""


class Divergence(NamedTuple):
    """D of some people, on average."""

    sets: float
    """From which items are revealed."""
    values: float
    """From what is said of them."""
    revealed: float
    """Items that one of them revealed."""


def is_bounded(how: LearningProtocol, *, discrete: bool, unary: bool = False) -> bool:
    """Tell whether a protocol hides both which items were rated and their values, but for errors.

    Estimates as they are counted have other errors, and ratings that are sent as they are, if only
    some of them, leak more than any error.
    """
    if sends_profiles(how) or how.estimation != "shrunken" or how.alpha < 1 or how.bits is not None:
        return False
    scheme = how.scheme
    if unary:
        return scheme.protects(discrete=discrete, unary=True)
    hidden = scheme.value_map in BOUNDED_VALUES and scheme.protects(discrete=discrete)
    return scheme.sub_samples and hidden


def divergence(view: View, how: LearningProtocol) -> Divergence:
    """Add up what the errors of a disclosure show of people, for the two categories it shows best.

    The view has the profiles of the panel that the disclosure was made of. Nothing is known (NaN)
    of a protocol that is not bounded, which a fold may have chosen.
    """
    scale = view.profiles.scale
    if not is_bounded(how, discrete=scale.is_discrete, unary=scale.is_unary):
        return Divergence(np.nan, np.nan, np.nan)
    users = view.n_users
    revealed = np.bincount(view.reports.item, minlength=view.profiles.n_items) / max(users, 1)
    every = [
        Divergence(*divergences(revealed, errors), float(revealed.sum()))
        for errors in errors_of(view.profiles)
    ]
    return max(every, key=lambda one: one.sets + one.values)
