"""The judge of an adversary: a stack that combines the scores of all its attackers.

The weights are learned in nested folds, from training people that the attackers were not fitted
to, and fixed before the attacked people are seen. So the judge's interval needs no correction for
choosing the best attacker afterwards.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.attackers.attacker import (
    Attacker,
    Labels,
    NestedScores,
    ScoresNested,
    new_attacker,
    score_people,
)
from midpoint.audit.attackers.learned import evenly
from midpoint.audit.attackers.view import View
from midpoint.audit.rounds.conversation import Transcript
from midpoint.audit.rounds.view import TranscriptView, union
from midpoint.audit.stack import Stack, cuts
from midpoint.errors import MidpointError
from midpoint.protocol import Reports

Float = NDArray[np.float64]
Indices = NDArray[np.intp]
JUDGE = "judge"


def judge_name(adversary: str) -> str:
    """Return the judge's name, which stands among those of attackers."""
    return f"{JUDGE}:{adversary}"


class Nested(NamedTuple):
    """Stored scores of training people from nested folds, for Q targets."""

    people: Indices
    """Their indices, ascending. Shape (n,)."""
    group: Indices
    """The nested fold in which each was scored. Shape (n, Q)."""
    category: Labels
    """Their categories. Shape (n,)."""
    scores: Float
    """Their scores. Shape (n, Q)."""


NESTED = "nested_"
"""Prefix of its arrays' names in the store."""


def nested_arrays(each: Sequence[NestedScores], category: Labels) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a `Nested` by their names in the store.

    `each` has an attacker's scores for each target; without scores there are no arrays.
    """
    if not each:
        return {}
    people, scores = each[0].people, np.stack([one.scores for one in each], axis=1)
    group = np.stack([one.group for one in each], axis=1)
    nested = Nested(people, group, np.asarray(category)[people], scores)
    return {f"{NESTED}{name}": array for name, array in nested._asdict().items()}


def nested_of(stored: Mapping[str, NDArray[Any]]) -> Nested | None:
    """Read what `nested_arrays` returned; None if nothing was stored."""
    if f"{NESTED}people" not in stored:
        return None
    return Nested(*(stored[f"{NESTED}{name}"] for name in Nested._fields))


def stacked(
    nested: Sequence[Nested], scores: Sequence[Float], targets: Sequence[int]
) -> tuple[Float, Float]:
    """Fit a stack of A attackers for each of Q targets, and score the attacked people by it.

    Args:
        nested: Each attacker's scores of training people.
        scores: Each attacker's scores of the attacked people. Each of shape (N, Q).
        targets: The target categories.

    Returns:
        Log-odds (N, Q), and weights (Q, A) that add up to one for each target.
    """
    log_odds, weights = [], []
    for column, wanted in enumerate(targets):
        stack = stack_of(nested, column, wanted)
        log_odds.append(stack(np.stack([one[:, column] for one in scores], axis=1)))
        weights.append(stack.weights / max(float(stack.weights.sum()), 1e-12))
    return np.stack(log_odds, axis=1), np.stack(weights)


def stack_of(nested: Sequence[Nested], column: int, wanted: int) -> Stack:
    """Fit a stack for one target, to the training people that all attackers scored."""
    rows = _shared([one.people for one in nested])
    pairs = list(zip(nested, rows, strict=True))
    known = np.stack([one.scores[row, column] for one, row in pairs], axis=1)
    group = np.stack([one.group[row, column] for one, row in pairs], axis=1)
    return Stack.fit(known, group, nested[0].category[rows[0]] == wanted)


def _shared(people: Sequence[Indices]) -> list[Indices]:
    """Return, for each of several ascending lists, the indices of the people who are in all."""
    common = reduce(np.intersect1d, people)
    return [np.searchsorted(one, common) for one in people]


def nested_scores(
    attacker: Attacker,
    make: Callable[[], Attacker],
    views: Sequence[View],
    category: Labels,
    *,
    seed: int,
    wanted: int,
    name: str = "",
) -> NestedScores:
    """Return a fitted attacker's scores of training people that it was not fitted to.

    If the attacker did not keep them, a new one is fitted in each nested fold.
    """
    if isinstance(attacker, ScoresNested):
        return attacker.nested(views, category, seed=seed)
    judged = []
    for learn, learners, view, people in _trials(views, category):
        again = new_attacker(make, wanted)
        again.fit(learn, category[learners], seed=seed)
        called = name or getattr(again, "name", "of one's own")
        judged.append((people, score_people(again, called, view)))
    return NestedScores.of(judged)


def _trials(
    views: Sequence[View], category: Labels
) -> list[tuple[Sequence[View], Indices, View, Indices]]:
    """Return the nested folds of a view; if it has none, one split, the same for all attackers."""
    if views[0].nested_folds:
        return [(one.learn, one.learners, one.judge, one.judged) for one in views[0].nested_folds]
    cut = cuts(np.zeros(len(category), dtype=np.bool_))
    learners, others = np.flatnonzero(cut != 0), np.flatnonzero(cut == 0)
    others = others[evenly(len(others))]
    return [([only(view, learners) for view in views], learners, only(views[0], others), others)]


@dataclass
class Stacked:
    """A stack as an attacker: it fits several attackers and their weights, and scores by both."""

    makers: Mapping[str, Callable[[], Attacker]]
    """Makers of the attackers, by name."""
    name: str = JUDGE
    """Its name in reports."""
    adaptive: bool = True
    """Whether it is fitted on obfuscated views."""
    control: str = "no"
    """The scheme that it must succeed on."""
    wanted: int = field(default=1, init=False)
    """The target category."""
    fitted: dict[str, Attacker] = field(default_factory=dict, init=False, repr=False)
    """The attackers, fitted."""
    stack: Stack | None = field(default=None, init=False, repr=False)
    """The fitted stack."""

    def ask(self, category: int) -> None:
        """Set the target category."""
        self.wanted = category

    def fit(self, views: Sequence[View], category: Labels, *, seed: int) -> None:
        """Fit every attacker, then the weights."""
        nested = []
        for name, make in self.makers.items():
            attacker = new_attacker(make, self.wanted)
            attacker.fit(views, category, seed=seed)
            self.fitted[name] = attacker
            scores = nested_scores(attacker, make, views, category, seed=seed, wanted=self.wanted)
            nested.append(scores)
        arrays = [nested_of(nested_arrays([one], category)) for one in nested]
        self.stack = stack_of([one for one in arrays if one is not None], 0, 1)

    def score(self, view: View) -> Float:
        """Return the log-odds of the target category."""
        if self.stack is None:
            raise MidpointError(f"attacker {self.name!r} has to be fitted before it scores")
        each = [score_people(one, name, view) for name, one in self.fitted.items()]
        return self.stack(np.stack(each, axis=1))


def only(view: View, people: Indices) -> View:
    """Return a view of some of its people."""
    if isinstance(view, TranscriptView):
        said = view.transcript
        return saying(view, replace(said, asked=said.asked[:, people], value=said.value[:, people]))
    old = view.reports
    rows = [np.arange(old.user_offsets[i], old.user_offsets[i + 1]) for i in people]
    chosen = np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    sent = None if old.profile is None else old.profile[people]
    reports = Reports(old.kept[chosen], offsets, old.item[chosen], old.value[chosen], sent)
    return replace(view, reports=reports)


def saying(view: TranscriptView, transcript: Transcript) -> TranscriptView:
    """Return a view with another transcript."""
    return replace(view, reports=union(transcript), transcript=transcript)
