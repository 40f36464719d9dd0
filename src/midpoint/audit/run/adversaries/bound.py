"""The omniscient adversary: what somebody reads who knows all errors of a disclosure.

What is disclosed of an item is an estimate. Under it the two categories are not quite alike, and
by how much follows from its variance. With delta_j the error of item j's log ratio, d_j that of its
offsets' difference and sigma^2 the noise of a rating, the log-likelihood ratio of a report is about
normal with mean -D/2 and D/2 in the two categories and variance D, and so

    AUC = Phi(sqrt(D / 2)),   D = sum_j [delta_j^2 / (1 - q_j) + d_j^2 / sigma^2]

over the items revealed. The expected square of an error is the posterior variance v_j. A share q_j
of the people reveals item j; that the others do not says something as well, little if q_j is small.
"""

from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles
from midpoint.analyst.categories.estimates import log_ratio_variance, offset_variance
from midpoint.audit.attackers.view import View
from midpoint.audit.run.plan import ChosenProtocol, sends_profiles
from midpoint.protocol import LearningProtocol
from midpoint.wire import ValueMap

Float = NDArray[np.float64]
ASSUMES = (
    "that errors have the analyst's own posterior variances, item by item (with counterparts, too,"
    " whose ratios come from factors and may be surer); that they are small, normal and"
    " independent; that people rate items independently given the category; and that the noise of"
    " a rating is what is left when the taste is known. What leaks though every number is exact is"
    " not in it"
)
"""What the bound takes for granted, after "It assumes"."""
FEWEST = 0.02
"""Share of people who do not reveal an item, at least: where all do, nothing can be divided by."""
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


def divergences(revealed: Float, ratio: Float, value: Float) -> tuple[float, float]:
    """Return what sets and values add to D.

    Args:
        revealed: Share of people who reveal each item, q_j. Shape (M,).
        ratio: Posterior variance of log ratios. Shape (M,).
        value: Posterior variance of differences of offsets, over sigma^2. Shape (M,).
    """
    others = np.maximum(1 - revealed, FEWEST)
    return float((revealed / others) @ ratio), float(revealed @ value)


def area_of(divergence: float) -> float:
    """Return AUC = Phi(sqrt(D / 2))."""
    return NormalDist().cdf((divergence / 2) ** 0.5)


def is_bounded(how: LearningProtocol, *, discrete: bool) -> bool:
    """Tell whether a protocol hides both which items were rated and their values, but for errors.

    Estimates as they are counted have other errors, and ratings that are sent as they are, if only
    some of them, leak more than any error.
    """
    if isinstance(how, ChosenProtocol):  # each fold may have another
        return False
    if sends_profiles(how) or how.estimation != "shrunken" or how.alpha < 1 or how.bits is not None:
        return False
    scheme = how.scheme
    hidden = scheme.value_map in BOUNDED_VALUES and scheme.protects(discrete=discrete)
    return scheme.sub_samples and hidden


def divergence(view: View) -> Divergence:
    """Add up what the errors of a disclosure show of people, for the two categories it shows best.

    The view has the profiles of the panel that the disclosure was made of.
    """
    users = view.n_users
    revealed = np.bincount(view.reports.item, minlength=view.profiles.n_items) / max(users, 1)
    every = [
        Divergence(*divergences(revealed, *errors), float(revealed.sum()))
        for errors in _errors(view.profiles)
    ]
    return max(every, key=lambda one: one.sets + one.values)


def _errors(profiles: ItemProfiles) -> list[tuple[Float, Float]]:
    """Return v_j of log ratios, and of offsets over sigma^2, for each pair of categories. (M,)."""
    statistics = profiles.statistics
    if statistics is None:
        return []
    along = profiles.standard_vectors.astype(np.float64)
    return [
        (
            log_ratio_variance(statistics, *pair),
            offset_variance(statistics, *pair, along) / profiles.noise_variance,
        )
        for pair in combinations(range(len(statistics.users)), 2)
    ]
