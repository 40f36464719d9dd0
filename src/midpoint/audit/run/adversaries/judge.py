"""The judge: one answer for each adversary, a stack of all its attackers' scores.

Its weights are learned from training people whom the attackers were not fitted to (nested folds),
and fixed before anybody who is attacked is seen. So nothing is chosen after the fact, and its
interval needs no correction for that. The strongest of several attackers does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, ndtri

from midpoint.audit.attackers.attacker import (
    Attacker,
    Labels,
    NestedScores,
    ScoresNested,
    new_attacker,
    score_people,
)
from midpoint.audit.attackers.auc import auc, ranks
from midpoint.audit.attackers.learned import SHARED, evenly
from midpoint.audit.attackers.threads import one_thread
from midpoint.audit.attackers.view import View
from midpoint.audit.rounds.conversation import Transcript
from midpoint.audit.rounds.view import TranscriptView, union
from midpoint.errors import MidpointError
from midpoint.protocol import Reports

Float = NDArray[np.float64]
Ones = NDArray[np.bool_]
Indices = NDArray[np.intp]
JUDGE = "judge"
PENALTIES = (1.0, 0.03, 0.001)
"""Penalties to choose from, the strongest first: it weighs attackers by what each reads alone."""
CUTS = 4
"""Cuts of the people it learns from, by which it chooses the penalty and is calibrated."""
STEEPEST = 50.0
"""Slope of the calibration at most, where people are distinguished without a doubt."""


def judge_name(adversary: str) -> str:
    """Return what the judge of an adversary is called beside its attackers."""
    return f"{JUDGE}:{adversary}"


class Gauge(NamedTuple):
    """Brings an attacker's scores to a common scale: the normal score of their rank."""

    at: Float
    """Scores that were seen, ascending, each once."""
    normal: Float
    """The normal quantile of the rank of each."""

    @classmethod
    def of(cls, scores: Float) -> "Gauge":
        """Learn the scale from scores of shape (n,)."""
        at, first = np.unique(scores, return_index=True)
        return cls(at, ndtri(ranks(scores)[first] / (len(scores) + 1)))

    def __call__(self, scores: Float) -> Float:
        """Read scores on it; beyond what was seen they count as the last one seen."""
        return np.interp(scores, self.at, self.normal)


@dataclass(frozen=True, eq=False)
class Stack:
    """Weighs the scores of A attackers, and says how sure it is.

    log-odds = intercept + slope sum_a w_a z_a,   w = argmin over w >= 0, b of
    mean_i log(1 + exp(-y_i (<w, z_i> + b))) + penalty |w|^2 / 2

    z_a are normal scores of attacker a, both classes weigh the same, and the log-odds are those of
    somebody who holds either category for equally likely before.
    """

    gauges: tuple[Gauge, ...]
    """The scale of each attacker."""
    weights: Float
    """Their weights, none below zero: each attacker chose its own sign. Shape (A,)."""
    slope: float
    """How much the weighed sum counts, as people it was not learned from show."""
    intercept: float
    """Log-odds where the weighed sum is zero."""

    @classmethod
    def fit(cls, scores: Float, group: NDArray[np.intp], ones: Ones) -> "Stack":
        """Learn from people of nested folds whom the attackers were not fitted to.

        Args:
            scores: What each attacker says of them. Shape (n, A).
            group: The nested fold in which each attacker judged them; its scores are compared
                inside it. Shape (n, A).
            ones: Who has the category that is looked for. Shape (n,).
        """
        Z = np.empty(scores.shape)
        for a, column in enumerate(scores.T):
            for inside in (group[:, a] == one for one in np.unique(group[:, a])):
                Z[inside, a] = Gauge.of(column[inside])(column[inside])
        with one_thread():
            tried = [_across(Z, ones, penalty) for penalty in PENALTIES]
            best = int(np.argmax([auc(one, ones) for one in tried]))
            weights = _weights(Z, ones, PENALTIES[best])
            slope, intercept = _calibration(tried[best], ones)
        gauges = tuple(Gauge.of(column) for column in scores.T)
        return cls(gauges, weights, slope, intercept)

    def __call__(self, scores: Float) -> Float:
        """Return the log-odds of people by their attackers' scores. (N, A) to (N,)."""
        pairs = zip(self.weights, self.gauges, scores.T, strict=True)
        total = np.sum([weight * gauge(column) for weight, gauge, column in pairs], axis=0)
        return np.asarray(self.intercept + self.slope * total, np.float64)


def _across(Z: Float, ones: Ones, penalty: float) -> Float:
    """Weigh everybody by what the other cuts teach; the sums are of unit length. Shape (n,)."""
    sums, cut = np.zeros(len(Z)), _cuts(ones)
    for k in range(CUTS):
        judged = cut == k
        sums[judged] = Z[judged] @ _weights(Z[~judged], ones[~judged], penalty)
    return sums


def _cuts(ones: Ones) -> NDArray[np.int64]:
    """Cut people at random, each class in proportion. Shape (n,)."""
    order = np.random.default_rng(SHARED).permutation(len(ones))
    order = order[np.argsort(ones[order], kind="stable")]
    cut = np.empty(len(ones), dtype=np.int64)
    cut[order] = np.arange(len(ones)) % CUTS
    return cut


def _weights(Z: Float, ones: Ones, penalty: float) -> Float:
    """Minimize the penalized loss, both classes weighing the same; to unit length. Shape (A,)."""
    y, share = np.where(ones, 1.0, -1.0), _equal_shares(ones)

    def loss(w: Float) -> tuple[float, Float]:
        margin = y * (Z @ w[1:] + w[0])
        pull = -y * expit(-margin) * share
        slope = np.append(pull.sum(), Z.T @ pull + penalty * w[1:])
        return float(share @ np.logaddexp(0, -margin) + penalty * w[1:] @ w[1:] / 2), slope

    bounds = [(None, None)] + [(0.0, None)] * Z.shape[1]
    start = np.zeros(1 + Z.shape[1])
    weights = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x[1:]
    length = float(np.sqrt(weights @ weights))
    # Where no attacker reads anything, all count alike.
    return weights / length if length > 1e-9 else np.full(len(weights), len(weights) ** -0.5)


def _calibration(total: Float, ones: Ones) -> tuple[float, float]:
    """Fit log-odds = intercept + slope total, both classes weighing the same (Platt 1999)."""
    y, share = np.where(ones, 1.0, -1.0), _equal_shares(ones)

    def loss(w: Float) -> tuple[float, Float]:
        margin = y * (w[0] * total + w[1])
        pull = -y * expit(-margin) * share
        return float(share @ np.logaddexp(0, -margin)), np.array([pull @ total, pull.sum()])

    bounds = [(0.0, STEEPEST), (None, None)]
    slope, intercept = minimize(loss, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=bounds).x
    # Where nothing can be read the slope is 0, and ranks would be lost: keep them, and no doubt.
    return max(float(slope), 1e-6), float(intercept)


def _equal_shares(ones: Ones) -> Float:
    """Weigh people so that both classes have half of the weight. Shape (n,)."""
    return np.where(ones, 0.5 / max(int(ones.sum()), 1), 0.5 / max(int((~ones).sum()), 1))


class Nested(NamedTuple):
    """What attackers say of the training people of nested folds, as it is stored: Q questions."""

    people: Indices
    """Who they are, ascending. Shape (n,)."""
    group: Indices
    """In which nested fold each was judged. Shape (n, Q)."""
    category: Labels
    """Their categories. Shape (n,)."""
    scores: Float
    """Their scores. Shape (n, Q)."""


NESTED = "nested_"
"""What the names of its arrays begin with in the store."""


def nested_arrays(each: Sequence[NestedScores], category: Labels) -> dict[str, NDArray[np.generic]]:
    """Lay out what an attacker says of training people, by the name of each array.

    `each` has its answers to all questions; nothing is laid out if there are none.
    """
    if not each:
        return {}
    people, scores = each[0].people, np.stack([one.scores for one in each], axis=1)
    group = np.stack([one.group for one in each], axis=1)
    nested = Nested(people, group, np.asarray(category)[people], scores)
    return {f"{NESTED}{name}": array for name, array in nested._asdict().items()}


def nested_of(stored: Mapping[str, NDArray[Any]]) -> Nested | None:
    """Read what `nested_arrays` laid out; None where there is nothing, as of silent people."""
    if f"{NESTED}people" not in stored:
        return None
    return Nested(*(stored[f"{NESTED}{name}"] for name in Nested._fields))


def stacked(
    nested: Sequence[Nested], scores: Sequence[Float], questions: Sequence[int]
) -> tuple[Float, Float]:
    """Learn a stack of A attackers for each of Q questions, and judge people by it.

    Args:
        nested: Of each attacker, what it says of training people.
        scores: Of each attacker, what it says of those who are attacked. Each (N, Q).
        questions: The category that each question is about.

    Returns:
        Log-odds (N, Q), and the weights (Q, A), those of a question adding up to one.
    """
    log_odds, weights = [], []
    for column, wanted in enumerate(questions):
        stack = stack_of(nested, column, wanted)
        log_odds.append(stack(np.stack([one[:, column] for one in scores], axis=1)))
        weights.append(stack.weights / max(float(stack.weights.sum()), 1e-12))
    return np.stack(log_odds, axis=1), np.stack(weights)


def stack_of(nested: Sequence[Nested], column: int, wanted: int) -> Stack:
    """Learn to weigh attackers' answers to a question by the people whom all of them judged."""
    rows = _shared([one.people for one in nested])
    pairs = list(zip(nested, rows, strict=True))
    known = np.stack([one.scores[row, column] for one, row in pairs], axis=1)
    group = np.stack([one.group[row, column] for one, row in pairs], axis=1)
    return Stack.fit(known, group, nested[0].category[rows[0]] == wanted)


def _shared(people: Sequence[Indices]) -> list[Indices]:
    """Say where in each of several ascending lists those are who are in all of them."""
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
    """Return how a fitted attacker scores training people that it was not fitted to.

    One that does not remember is made and fitted again, without the people of each nested fold.
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
    """Return nested folds, or where there are none, one split that is the same for all."""
    if views[0].nested_folds:
        return [(one.learn, one.learners, one.judge, one.judged) for one in views[0].nested_folds]
    cut = _cuts(np.zeros(len(category), dtype=np.bool_))
    learners, others = np.flatnonzero(cut != 0), np.flatnonzero(cut == 0)
    others = others[evenly(len(others))]
    return [([only(view, learners) for view in views], learners, only(views[0], others), others)]


@dataclass
class Stacked:
    """A stack as one attacker: fits several, learns their weights, and answers as one."""

    makers: Mapping[str, Callable[[], Attacker]]
    """What makes the attackers, by name."""
    name: str = JUDGE
    """What it is called in reports."""
    adaptive: bool = True
    """Whether it is fitted on obfuscated views."""
    control: str = "no"
    """The scheme that it must be able to read."""
    wanted: int = field(default=1, init=False)
    """The category that people labelled 1 have."""
    fitted: dict[str, Attacker] = field(default_factory=dict, init=False, repr=False)
    """The attackers, fitted."""
    stack: Stack | None = field(default=None, init=False, repr=False)
    """What weighs them."""

    def ask(self, category: int) -> None:
        """Say which category the ones have."""
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
        """Return the log-odds of the wanted category."""
        if self.stack is None:
            raise MidpointError(f"attacker {self.name!r} has to be fitted before it scores")
        each = [score_people(one, name, view) for name, one in self.fitted.items()]
        return self.stack(np.stack(each, axis=1))


def only(view: View, people: Indices) -> View:
    """Keep these people of a view."""
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
    """Have the people of a view say something else."""
    return replace(view, reports=union(transcript), transcript=transcript)
