"""The auditor: it fits attackers, lets them score, measures accuracy, and stores the results."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.attackers.attacker import (
    Attacker,
    NestedScores,
    new_attacker,
    score_people,
    targets,
)
from midpoint.audit.attackers.view import View
from midpoint.audit.run.accuracy import measure
from midpoint.audit.run.adversaries.bound import divergence
from midpoint.audit.run.adversaries.catalogue import OUTSIDER
from midpoint.audit.run.adversaries.judge import nested_arrays, nested_scores
from midpoint.audit.run.adversaries.outsiders import SPLIT, PublishedRounds, PublishedViews
from midpoint.audit.run.folds import FoldData, Labels, one_against_rest
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.round_views import RoundViews
from midpoint.audit.run.store import Store
from midpoint.audit.run.tasks.clock import Clock
from midpoint.audit.run.tasks.fold import Prepared
from midpoint.audit.run.tasks.learning import learned
from midpoint.audit.run.tasks.units import ACCURACY, ANSWERS, BOUND, Task, Tasks, Unit
from midpoint.audit.run.views import FoldViews, ReportViews
from midpoint.audit.run.work import Work
from midpoint.data import Ratings

SEEDS = 2**31 - 1
"""Attackers get seeds below this, which all libraries take."""


@dataclass(frozen=True, eq=False)
class Auditor:
    """Does the tasks of one audit."""

    ratings: Ratings
    """The ratings of users whose category is known."""
    plan: Plan
    """What the audit does."""
    work: Work
    """What is to be run."""
    store: Store
    """Where results are kept."""
    _last: list[Prepared] = field(default_factory=list)
    """What the last fold's tasks share; at most one is kept in memory."""

    @cached_property
    def tasks(self) -> Tasks:
        """All that there is to do."""
        return Tasks(self.work, self.ratings.scale)

    def missing(self, unit: Unit) -> list[Task]:
        """Return the tasks of a unit whose results are not stored yet."""
        return [task for task in self.tasks.of(unit) if not self.store.has(task.fold, *task.names)]

    def run(self, unit: Unit) -> Iterator[Task]:
        """Do the missing tasks of a unit, and yield each when its result is stored."""
        missing = self.missing(unit)
        if not missing:
            return
        steps = {
            "learn": self._learn,
            "scheme": self._scheme,
            "clean": self._clean,
            "split": self._split,
        }
        # One thread, however many processes there are: floating-point sums depend on their order.
        with threadpool_limits(1):
            yield from steps[unit.kind](unit, missing)

    def _learn(self, unit: Unit, missing: list[Task]) -> Iterator[Task]:
        """Fit profiles, then what protocols need beside them, and choose a scheme."""
        clock, data = Clock(), FoldData.of(self.ratings, self.plan, unit.fold)
        for task in missing:
            yield self._keep(task, clock, **learned(data, self.store, task.names[1:]))

    def _scheme(self, unit: Unit, missing: list[Task]) -> Iterator[Task]:
        """Measure what a protocol costs, then fit and try the attackers that adapt to it."""
        clock, fold = Clock(), self._fold(unit.fold)
        seen, training = fold.views(unit.name), list[View]()
        view = seen.held_out
        for task in missing:
            if task.kind == ACCURACY:
                shown = seen.rated if isinstance(seen, ReportViews) else view
                accuracy = measure(fold.data, shown, unit.name, fold.protocol(unit.name))
                yield self._keep(task, clock, digest=view.disclosure.digest, **accuracy.stored())
            elif task.kind == BOUND:
                yield self._keep(
                    task, clock, **divergence(view, fold.protocol(unit.name))._asdict()
                )
            elif isinstance(seen, RoundViews) and task.kind == ANSWERS:
                yield self._keep(task, clock, answers=seen.answers)
            elif silent(view):
                yield self._keep(task, clock, scores=self._no_scores(view))
            else:
                training = training or seen.training()
                clock.prepared()
                attack = self._fitted(seen, task.kind, training, fold.data.pooled_category)
                yield self._keep(task, clock, scores=attack(view), **attack.nested)

    def _split(self, unit: Unit, missing: list[Task]) -> Iterator[Task]:
        """Fit and try the attackers that learn from people under the published disclosure."""
        clock, fold = Clock(), self._fold(unit.fold)
        training = dict[str, list[View]]()
        for task in missing:
            adversary = self.work.adversary.get(task.kind, OUTSIDER)
            seen = fold.published(adversary, unit.name)
            view = seen.held_out
            if isinstance(seen, PublishedRounds) and task.kind == ANSWERS:
                yield self._keep(task, clock, answers=seen.answers)
            elif isinstance(seen, PublishedViews) and task.kind == ACCURACY:
                accuracy = measure(fold.data, seen.rated, seen.name, seen.protocol)
                yield self._keep(task, clock, digest=view.disclosure.digest, **accuracy.stored())
            elif task.kind == BOUND:
                bound = divergence(view, fold.protocol(unit.name, SPLIT))
                yield self._keep(task, clock, **bound._asdict())
            elif silent(view):
                yield self._keep(task, clock, scores=self._no_scores(view))
            else:
                if adversary not in training:
                    training = {adversary: seen.training()}
                clock.prepared()
                category = seen.fold.pooled_category
                attack = self._fitted(seen, task.kind, training[adversary], category)
                yield self._keep(task, clock, scores=attack(view), **attack.nested)

    def _clean(self, unit: Unit, missing: list[Task]) -> Iterator[Task]:
        """Fit an attacker on clean ratings, once, and try it on all protocols."""
        clock, fold = Clock(), self._fold(unit.fold)
        raw, category = fold.views(RAW), fold.data.training_category
        attack = self._fitted(raw, unit.name, [fold.clean], category)
        for task in missing:
            view = fold.views(task.names[0]).held_out
            if silent(view):
                yield self._keep(task, clock, scores=self._no_scores(view))
            else:
                yield self._keep(task, clock, scores=attack(view), **attack.nested)

    def _fitted(self, seen: FoldViews, name: str, views: list[View], category: Labels) -> "Fitted":
        """Fit an attacker for each target, and score training people in nested folds."""
        make, attackers = self.work.attackers[name], list[Attacker]()
        nested = list[NestedScores]()
        for k, labels in one_against_rest(category, self._n_categories):
            attacker, seed = new_attacker(make, k), seen.attack_seed(name, k) % SEEDS
            attacker.fit(views, labels, seed=seed)
            attackers.append(attacker)
            if not self.plan.paper:  # the paper has no judge
                scores = nested_scores(
                    attacker, make, views, labels, seed=seed, wanted=k, name=name
                )
                nested.append(scores)
        return Fitted(name, attackers, nested_arrays(nested, category))

    @property
    def _n_categories(self) -> int:
        return len(self.ratings.feature(*self.plan.feature).categories)

    def _no_scores(self, view: View) -> NDArray[np.float64]:
        """Score everyone alike, since nobody sent anything."""
        return np.zeros((view.n_users, len(targets(self._n_categories))))

    def _fold(self, number: int) -> Prepared:
        """Return what the tasks of a fold share."""
        if not self._last or self._last[0].data.number != number:
            data = FoldData.of(self.ratings, self.plan, number)
            self._last[:] = [Prepared(data, self.work, self.store)]
        return self._last[0]

    def _keep(self, task: Task, clock: Clock, **arrays: object) -> Task:
        """Store a result with the time that it took."""
        self.store.save({**arrays, **clock.read()}, task.fold, *task.names)
        return task


class Fitted(NamedTuple):
    """An attacker, fitted for each target."""

    name: str
    """Its name."""
    attackers: list[Attacker]
    """One for each target."""
    nested: dict[str, NDArray[np.generic]]
    """Its scores of training people that it was not fitted to, as they are stored."""

    def __call__(self, view: View) -> NDArray[np.float64]:
        """Score people. Shape (N, targets)."""
        scores = [score_people(one, self.name, view) for one in self.attackers]
        return np.stack(scores, axis=1)


def silent(view: View) -> bool:
    """Tell whether nobody sent anything."""
    return view.reports.profile is None and not len(view.reports.item)
