"""What every attacker is to the audit."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.attackers.view import View
from midpoint.errors import MidpointError

Float = NDArray[np.float64]
Labels = NDArray[np.integer]


def questions(n_categories: int) -> list[int]:
    """Return the categories that attackers look for: the second of two, or each of several."""
    return [1] if n_categories == 2 else list(range(n_categories))


class Attacker(Protocol):
    """Guesses a private category from what the analyst sees.

    To add one, write a class with these members and pass it to the audit. All that it chooses, its
    sign included, it chooses in `fit`; equal seeds give equal scores. One that can make something
    of profiles alone, where no ratings are sent, has `reads_profiles = True` as well; one that
    wants to know which of the feature's categories the ones have is `Asked`.
    """

    name: str
    """What it is called in reports."""
    adaptive: bool
    """Whether it is fitted on obfuscated views, or, as in the paper, on clean ratings."""
    control: str
    """The scheme that it must succeed on, or its failing elsewhere proves nothing."""

    def fit(self, views: Sequence[View], category: Labels, *, seed: int) -> None:
        """Learn from people whose category is known.

        Args:
            views: Views of the same people, one for each draw of the coins.
            category: 1 for those to be found, 0 for the others. Shape (people,).
            seed: Decides everything that is left to chance.
        """

    def score(self, view: View) -> Float:
        """Score people whose category is not known; more is likelier 1. Shape (people,)."""


@runtime_checkable
class Asked(Protocol):
    """Asked, before it is fitted, for one category."""

    def ask(self, category: int) -> None:
        """Take the index of the category, 0 for the first, that people labelled 1 have."""


class NestedScores(NamedTuple):
    """How an attacker scored training people that it was not fitted to."""

    people: NDArray[np.intp]
    """Who they are: indices among the training people, ascending. Shape (n,)."""
    group: NDArray[np.intp]
    """In which of the nested folds each was judged. Shape (n,)."""
    scores: Float
    """Their scores. Shape (n,)."""

    @classmethod
    def of(cls, judged: Sequence[tuple[NDArray[np.intp], Float]]) -> "NestedScores":
        """Put the people and scores of nested folds together, nobody being in two."""
        people = np.concatenate([people for people, _ in judged])
        group = np.repeat(np.arange(len(judged)), [len(people) for people, _ in judged])
        order = np.argsort(people, kind="stable")
        return cls(people[order], group[order], np.concatenate([s for _, s in judged])[order])


@runtime_checkable
class ScoresNested(Protocol):
    """Knows, once it is fitted, how it scored training people that it was not fitted to.

    Others are fitted again, once for each nested fold (`run.adversaries.judge`).
    """

    def nested(self, views: Sequence[View], category: Labels, *, seed: int) -> NestedScores:
        """Return these scores; the arguments are those of `fit`."""


def new_attacker(make: Callable[[], Attacker], category: int) -> Attacker:
    """Make a fresh attacker, and say which category is to be found if it asks."""
    attacker = make()
    if isinstance(attacker, Asked):
        attacker.ask(category)
    return attacker


def score_people(attacker: Attacker, name: str, view: View) -> Float:
    """Have an attacker score people; an answer in a wrong form is refused before it is kept."""
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
