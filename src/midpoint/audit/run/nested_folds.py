"""The nested folds of one fold: training people attacked as the held-out ones will be."""

from collections.abc import Callable
from functools import cache

import numpy as np

from midpoint.audit.attackers.view import FEW, NestedFold, View, nested_fold
from midpoint.audit.run.folds import FoldData, FoldProfiles
from midpoint.protocol import LearningProtocol

FEWER_DRAWS = 2
"""Draws that a nested fold learns from where people are many, since it does not use more rows."""


def nested_folds(
    fold: FoldData, profiles: FoldProfiles, name: str, how: LearningProtocol
) -> tuple[NestedFold, ...]:
    """Set parts of the training people against one another under a protocol.

    With few people all parts are judged in turn, with many the first one is.
    """
    many = fold.training.n_users >= FEW
    sizes = np.bincount(fold.part, minlength=fold.plan.parts)
    members = np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])
    draws = min(FEWER_DRAWS, fold.plan.draws) if many else fold.plan.draws
    show = _shows(fold, profiles, name, how)
    return tuple(nested_fold(show, members, part, draws) for part in fold.judged_parts)


def _shows(
    fold: FoldData, profiles: FoldProfiles, name: str, how: LearningProtocol
) -> Callable[[int, frozenset[int], int], View]:
    """Return what shows the people of a part under a disclosure made without some parts."""
    told = cache(lambda without: how.disclose(profiles.without_parts(without)))

    def show(part: int, without: frozenset[int], draw: int) -> View:
        learned, people = profiles.without_parts(without), fold.thinned[draw][part]
        names = "nested fold", fold.number, name, part, *sorted(without), draw
        coins = np.random.default_rng(fold.plan.seed_of(*names))
        sent = how.report(told(without), learned, people, coins)
        return View(sent, learned, told(without), fold.given.scale)

    return show
