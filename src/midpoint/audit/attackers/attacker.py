"""The interface of attackers: fit on people whose category is known, score others."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.attackers.view import View
from midpoint.errors import MidpointError

Float = NDArray[np.float64]
Labels = NDArray[np.integer]


def targets(n_categories: int) -> list[int]:
    """Return the target categories, each against all others: the second of two, or every one."""
    return [1] if n_categories == 2 else list(range(n_categories))


class Attacker(Protocol):
    """Guesses a private category from what the analyst sees.

    To add one, write a class with these members and pass it to the audit. It makes all its choices,
    that of its sign included, in `fit`; equal seeds give equal scores. An attacker that can use
    profiles alone, where no ratings are sent, also has `reads_profiles = True`. One that wants to
    know the index of the target category implements `Asked`.
    """

    name: str
    """What it is called in reports."""
    adaptive: bool
    """Whether it is fitted on obfuscated views, or, as in the paper, on clean ratings."""
    control: str
    """The scheme that it must succeed on; otherwise its failure elsewhere proves nothing."""

    def fit(self, views: Sequence[View], category: Labels, *, seed: int) -> None:
        """Learn from people whose category is known.

        Args:
            views: Views of the same people, one for each draw of the coins.
            category: 1 for people of the target category, 0 for the others. Shape (people,).
            seed: Decides everything that is left to chance.
        """

    def score(self, view: View) -> Float:
        """Score people whose category is not known: higher is likelier 1. Shape (people,)."""


@runtime_checkable
class Asked(Protocol):
    """An attacker that has to know its target category before it is fitted."""

    def ask(self, category: int) -> None:
        """Take the index of the target category, the one that people labelled 1 have."""


class NestedScores(NamedTuple):
    """An attacker's scores of training people that it was not fitted to, from nested folds."""

    people: NDArray[np.intp]
    """Their indices among the training people, ascending. Shape (n,)."""
    group: NDArray[np.intp]
    """The nested fold in which each was scored. Shape (n,)."""
    scores: Float
    """Their scores. Shape (n,)."""

    @classmethod
    def of(cls, judged: Sequence[tuple[NDArray[np.intp], Float]]) -> "NestedScores":
        """Combine people and scores of several nested folds; nobody is in two of them."""
        people = np.concatenate([people for people, _ in judged])
        group = np.repeat(np.arange(len(judged)), [len(people) for people, _ in judged])
        order = np.argsort(people, kind="stable")
        return cls(people[order], group[order], np.concatenate([s for _, s in judged])[order])


@runtime_checkable
class ScoresNested(Protocol):
    """An attacker that keeps scores of nested folds from its own `fit`.

    Other attackers are fitted again for each nested fold (`run.adversaries.judge`).
    """

    def nested(self, views: Sequence[View], category: Labels, *, seed: int) -> NestedScores:
        """Return these scores, for the same arguments as those of `fit`."""


def new_attacker(make: Callable[[], Attacker], category: int) -> Attacker:
    """Make a new attacker, and tell it its target category if it is `Asked`."""
    attacker = make()
    if isinstance(attacker, Asked):
        attacker.ask(category)
    return attacker


def score_people(attacker: Attacker, name: str, view: View) -> Float:
    """Have an attacker score people; refuse scores of a wrong shape, or that are not finite."""
    scores = np.asarray(attacker.score(view), np.float64)
    if scores.shape != (view.n_users,):
        raise MidpointError(
            f"attack {name!r} gave scores of shape {scores.shape} for {view.n_users} people; its"
            " `score` has to return one number for each of them"
        )
    if not np.isfinite(scores).all():
        raise MidpointError(
            f"attack {name!r} gave a score that is no number, or infinite; fix its `score`"
        )
    return scores
