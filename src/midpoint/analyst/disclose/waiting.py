"""Which items wait for more answers of the panel, and for how many.

Under a leak budget an item is revealed if it saves enough error for its part of the leak. Per
person who reveals it, its part is v_j / (1 - q_j) + e_j (`leak`), and what it saves is g_j. At the
best keep probabilities there is one price for all items, lambda = g_j / (v_j / (1 - q_j) + e_j) of
the last item that is kept. So an item is kept from the number n of panel answers on at which

    v_j(n) / (1 - q_j) + e_j(n) <= g_j / lambda

Every answer adds to the precision of what is known. If a share a_k of the panel is in category k,
answers of n people tell the log ratio of two categories with variance 1 / (n i), where

    i = 1 / (1 / a_1 + 1 / a_2),   and so   1 / v_j(n) = 1 / v_j + (n - n_j) i

The same holds for the difference of offsets in units of sigma, with i sigma^2 / w, where w is the
variance of ratings within an item and a category.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.disclose.leak import Errors, LeakBudget, errors_of, not_revealing
from midpoint.analyst.disclose.specification import SchemeSpec
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.errors import MidpointError

Float = NDArray[np.float64]
HALF: Final = 0.5
"""Keep probability below which an item waits."""
LISTED: Final = 5
"""Items that the panel is to be asked about, in words."""


@dataclass(frozen=True, eq=False)
class Waiting:
    """Answers of the panel that items have, and need before devices reveal them; M items."""

    answers: NDArray[np.int64]
    """Panel answers so far. Shape (M,)."""
    needed: NDArray[np.int64]
    """Panel answers from which on an item is revealed, -1 if the panel has too few. Shape (M,)."""
    keep: Float
    """Its keep probability now. Shape (M,)."""
    reached: Float
    """Share of people who would reveal it. Shape (M,)."""

    @property
    def waits(self) -> NDArray[np.bool_]:
        """Which items are revealed rarely or never, for want of answers. Shape (M,)."""
        return np.asarray(self.keep < HALF)

    @property
    def ask_next(self) -> NDArray[np.intp]:
        """Items to ask the panel about, those that reach most people for each answer first."""
        missing = self.needed - self.answers
        some = np.flatnonzero(self.waits & (missing > 0))
        gain = self.reached[some] / missing[some]
        return np.asarray(some[np.argsort(-gain, kind="stable")])

    def words(self, names: NDArray[np.str_]) -> str:
        """Say how many wait and for what, in a few sentences; empty if none waits."""
        if not self.waits.any():
            return ""
        ask, waits = self.ask_next, self.waits
        said = f"{int(waits.sum()):,} of {len(waits):,} items wait for more answers of the panel."
        if not len(ask):
            return f"{said} A panel of this size cannot give enough."
        listed = "; ".join(
            f"{names[j]} (has {self.answers[j]}, needs {self.needed[j]})" for j in ask[:LISTED]
        )
        typical = int(np.median(self.needed[ask]))
        return f"{said} Most need about {typical}. Ask the panel next about: {listed}"


def waiting(profiles: ItemProfiles, leak: float) -> Waiting:
    """Say of every item how many panel answers it needs to be revealed under a leak budget.

    Args:
        profiles: The model of a panel.
        leak: The leak budget: an AUC.
    """
    share = SchemeSpec.read(profiles.scheme).share if profiles.scheme else 1.0
    rule, statistics = LeakBudget(profiles, share), profiles.statistics
    if statistics is None:
        raise MidpointError("items wait for a panel's answers; name a private feature to train")
    keep = rule.within(leak).keep
    answers = statistics.count.sum(axis=1).astype(np.int64)
    pairs = combinations(range(len(statistics.users)), 2)
    part = statistics.users / statistics.users.sum()
    each = np.array([1 / (1 / part[first] + 1 / part[second]) for first, second in pairs])
    value = np.zeros_like(each)  # the value of an item in a set says nothing
    if not profiles.scale.is_unary:
        value = each * profiles.noise_variance / statistics.within_variance
    worth, errors = rule.worth(keep), errors_of(profiles)
    others = not_revealing(rule.revealed)

    def enough(more: Float) -> NDArray[np.bool_]:
        """Tell which items would be kept with so many answers more."""
        parts = [
            _after(part, more, ratio, offset, others)
            for part, ratio, offset in zip(errors, each, value, strict=True)
        ]
        return np.asarray(np.max(parts, axis=0) <= worth)

    low, high = np.zeros(len(keep)), np.full(len(keep), float(statistics.users.sum()))
    possible = enough(np.maximum(high - answers, 0))
    for _ in range(int(statistics.users.sum()).bit_length() + 1):
        middle = np.floor((low + high) / 2)
        done = enough(middle)
        low, high = np.where(done, low, middle + 1), np.where(done, middle, high)
    needed = np.where(possible, answers + high.astype(np.int64), -1)
    return Waiting(answers, needed, keep, rule.revealed)


def _after(errors: Errors, more: Float, ratio: float, value: float, others: Float) -> Float:
    """Return an item's part of D per person who reveals it, after so many answers more. (M,)."""
    v = errors.ratio / (1 + more * ratio * errors.ratio)
    e = errors.value / (1 + more * value * errors.value)
    return np.asarray(v / others + e)
