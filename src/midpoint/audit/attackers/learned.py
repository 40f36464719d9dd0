"""Attackers that learn: features of the reports, and a family of models to choose from."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.audit.attackers.attacker import Float, Labels, NestedScores
from midpoint.audit.attackers.auc import auc, chance_deviation
from midpoint.audit.attackers.view import FEW, NestedFold, View
from midpoint.errors import MidpointError

Rows = Any
"""A dense array, or a sparse matrix of rows."""
Answer = Callable[[Rows], Float]
"""Scores n rows under each of s settings; more is likelier 1. Shape (s, n)."""
People = NDArray[np.intp]
MOST_JUDGED = 6000
"""Training people that a stack of attackers learns from, at most."""
SHARED = 19
"""Seed of a split that is the same for all attackers."""
SURE = 3.0
"""Standard errors below 0.5 at which the sign of an answer is flipped."""


@dataclass(frozen=True)
class Family(ABC):
    """Models of one kind that differ in a setting."""

    settings: Sequence[Any]
    """What to choose from."""
    most_rows: int | None = None
    """Rows that a model is fitted to, at most."""
    tuning_rows: int | None = 6000
    """Rows that the choice is made on, at most."""

    @abstractmethod
    def train(
        self, rows: Rows, ones: NDArray[np.bool_], chosen: Sequence[Any], seed: int, /
    ) -> Answer:
        """Fit one model for each chosen setting, sharing what can be shared."""


class Trial(NamedTuple):
    """Rows to learn from and rows to judge by, one table for each draw of the coins."""

    learn: Sequence[Rows]
    """Tables to learn from."""
    learners: People
    """The person of each row to learn from."""
    judge: Sequence[Rows]
    """Tables to judge by."""
    judged: People
    """The person of each row to judge by."""


@dataclass
class Learned:
    """An attacker that learns from one form of reports; it chooses model and sign in training.

    A choice is judged on training people it was not fitted to, by nested folds where the views have
    them. A plain split is no ground to flip the sign (see `NestedFold`), nor is chance.
    """

    name: str
    """What it is called in reports."""
    adaptive: bool
    """Whether it is fitted on obfuscated views, or on clean ratings."""
    form: Callable[[View], Rows]
    """Turns a view into rows of numbers, one for each person."""
    family: Family
    """What learns from them."""
    control: str = "no"
    """The scheme that it must succeed on."""
    reads_profiles: bool = False
    """Whether people's profiles alone give it something to learn from."""
    reads_transcripts: bool = False
    """Whether it is for several rounds only."""
    reads_panel: bool = False
    """Whether it learns from the panel under its disclosure, and from others what that is worth."""
    setting: Any = field(default=None, init=False)
    """The one chosen."""
    sign: float = field(default=1.0, init=False)
    """-1 if training people are better distinguished by the flipped sign."""
    answer: Answer | None = field(default=None, init=False, repr=False)
    """What was fitted."""
    judged: list[tuple[People, Float]] = field(default_factory=list, init=False, repr=False)
    """The people judged in nested folds, and their scores by the chosen setting."""

    def fit(self, views: Sequence[View], category: Labels, *, seed: int) -> None:
        """Choose a setting, and fit it to all draws."""
        drawn, ones = [_read(self.form, view) for view in views], np.asarray(category) == 1
        if ones.all() or not ones.any():
            raise MidpointError("an attacker needs training people of both categories")
        rng = np.random.default_rng(seed)
        with one_thread():
            if nested_folds := views[0].nested_folds:
                judged = np.concatenate([one.judged for one in nested_folds])
                shown = all(one.shows_sign for one in nested_folds)
                margin = SURE * chance_deviation(ones[judged]) if shown else 0.5
                self._choose(_nested(self.form, nested_folds), ones, margin, rng, seed)
            else:
                self._choose(_split(drawn, ones, rng), ones, 0.5, rng, seed)
            rows, whose = _take(
                drawn, np.arange(len(ones), dtype=np.intp), self.family.most_rows, rng
            )
            self.answer = self.family.train(rows, ones[whose], [self.setting], seed)

    def nested(self, views: Sequence[View], category: Labels, *, seed: int) -> NestedScores:
        """Return how those were scored that the choice was made by, if all attackers judge them.

        Where each attacker took other people to choose by, its setting is fitted and tried once
        more, on people who are the same for all.
        """
        ones, folds = np.asarray(category) == 1, views[0].nested_folds
        known = list(self.judged)
        if not folds:  # all draws of a person were judged: the first is enough
            known = [(w[: len(w) // len(views)], s[: len(w) // len(views)]) for w, s in known]
        wanted = [one.judged for one in folds] or [np.arange(len(ones), dtype=np.intp)]
        people = np.concatenate([whose for whose, _ in known])
        if np.array_equal(np.sort(people), np.sort(np.concatenate(wanted))):
            return NestedScores.of(known)
        rng, again = np.random.default_rng([seed, 1]), list[tuple[People, Float]]()
        with one_thread():
            drawn = [] if folds else [_read(self.form, view) for view in views]
            nobody, shared = np.zeros_like(ones), np.random.default_rng(SHARED)
            for trial in _nested(self.form, folds) if folds else _split(drawn, nobody, shared):
                again.append(self._try(trial, ones, rng, seed))
        return NestedScores.of(again)

    def _try(
        self, trial: Trial, ones: NDArray[np.bool_], rng: np.random.Generator, seed: int
    ) -> tuple[People, Float]:
        """Fit the setting that was chosen as in a trial; score some of its people, evenly taken."""
        rows, whose = _take(trial.learn, trial.learners, self.family.tuning_rows, rng)
        answer = self.family.train(rows, ones[whose], [self.setting], seed)
        some = evenly(len(trial.judged))
        return trial.judged[some], self.sign * answer(trial.judge[0][some])[0]

    def score(self, view: View) -> Float:
        """Score people by the fitted model."""
        if self.answer is None:
            raise MidpointError(f"attacker {self.name!r} has to be fitted before it scores")
        with one_thread():
            return np.asarray(self.sign * self.answer(_read(self.form, view))[0], np.float64)

    def _choose(
        self,
        trials: Iterator[Trial],
        ones: NDArray[np.bool_],
        margin: float,
        rng: np.random.Generator,
        seed: int,
    ) -> None:
        """Take the setting that guesses others best; flip its sign if it is below 0.5 - margin."""
        readings, scored, most = [], list[tuple[People, Float]](), self.family.tuning_rows
        for trial in trials:
            rows, whose = _take(trial.learn, trial.learners, most, rng)
            answer = self.family.train(rows, ones[whose], self.family.settings, seed)
            rows, whose = _take(trial.judge, trial.judged, most, rng)
            scored.append((whose, answer(rows)))
            readings.append([auc(one, ones[whose]) for one in scored[-1][1]])
        mean = np.mean(readings, axis=0)
        flipped = mean < 0.5 - margin
        best = int(np.argmax(np.where(flipped, 1 - mean, mean)))
        self.setting, self.sign = self.family.settings[best], -1.0 if flipped[best] else 1.0
        self.judged = [(whose, self.sign * scores[best]) for whose, scores in scored]


@lru_cache(maxsize=32)
def _read(form: Callable[[View], Rows], view: View) -> Rows:
    """Turn a view into rows; cached for attackers and targets that follow one another."""
    return form(view)


def _nested(form: Callable[[View], Rows], nested_folds: Sequence[NestedFold]) -> Iterator[Trial]:
    """Learn and judge as the nested folds say."""
    for one in nested_folds:
        learn = [_read(form, view) for view in one.learn]
        yield Trial(learn, one.learners, [_read(form, one.judge)], one.judged)


def _split(
    drawn: Sequence[Rows], ones: NDArray[np.bool_], rng: np.random.Generator
) -> Iterator[Trial]:
    """Learn from some training people and judge by others, all of a person's draws together."""
    for learn, judge in _splits(ones, rng):
        yield Trial([rows[learn] for rows in drawn], learn, [rows[judge] for rows in drawn], judge)


def _splits(ones: NDArray[np.bool_], rng: np.random.Generator) -> Iterator[tuple[People, People]]:
    """Cut people into those to learn from and those to judge by, each class in proportion."""
    cuts = 4
    order = rng.permutation(len(ones))
    order = order[np.argsort(ones[order], kind="stable")]
    part = np.empty(len(ones), dtype=np.int64)
    part[order] = np.arange(len(ones)) % cuts
    for cut in range(cuts if len(ones) < FEW else 1):
        yield np.flatnonzero(part != cut), np.flatnonzero(part == cut)


def evenly(count: int) -> NDArray[np.intp]:
    """Return which of so many judged people a stack learns from: all, or evenly taken ones."""
    return np.linspace(0, count - 1, min(count, MOST_JUDGED)).astype(np.intp)


def _take(
    drawn: Sequence[Rows], people: People, most: int | None, rng: np.random.Generator
) -> tuple[Rows, People]:
    """Stack all draws of rows, or as many as wanted: other people before other draws.

    Row i of every draw is that of people[i]; so are the people returned beside the rows.
    """
    draws, size = len(drawn), len(people)
    if most is None or most >= draws * size:
        return stack_rows(drawn), np.tile(people, draws)
    order, index = rng.permutation(size), np.arange(most)
    row, draw = order[index % size], (index + index // size) % draws
    chosen = [row[draw == one] for one in range(draws)]
    rows = [table[some] for table, some in zip(drawn, chosen, strict=True)]
    return stack_rows(rows), people[np.concatenate(chosen)]


def stack_rows(parts: Sequence[Rows]) -> Rows:
    """Put rows of several tables below one another."""
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.vstack(parts)


def one_thread() -> AbstractContextManager[Any]:
    """Keep linear algebra to one thread: the same sums however many jobs run, and no fight."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limited


@cache
def _controller() -> Any:
    """Look once which libraries are loaded; threadpoolctl has no types."""
    import_module("scipy.linalg")
    import_module("sklearn.svm")
    return import_module("threadpoolctl").ThreadpoolController()
