"""The work of an audit in small tasks, each kept when it is done, in any order and process."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from midpoint.audit.attackers.attacker import Attacker, new_attacker, score_people
from midpoint.audit.attackers.view import View
from midpoint.audit.measure.accuracy import measure
from midpoint.audit.run.folds import (
    FoldData,
    FoldProfiles,
    Labels,
    clean_view,
    held_out_view,
    learn,
    obfuscated_views,
    one_against_rest,
    prepared,
    questions,
)
from midpoint.audit.run.nested_folds import nested_folds
from midpoint.audit.run.plan import RAW, Plan, Work
from midpoint.audit.run.store import ATTACK, Store
from midpoint.data import Ratings
from midpoint.wire import SCHEMES

LEARN = "learn"
ACCURACY = "accuracy"
SEEDS = 2**31 - 1
"""Attackers get seeds below this, which all libraries take."""


class Unit(NamedTuple):
    """Tasks of one fold that one process does in a row, because they share their preparation."""

    fold: int
    """The fold."""
    kind: Literal["learn", "scheme", "clean"]
    """Fit profiles; run a protocol and the attackers that adapt to it; or fit a clean attacker."""
    name: str = ""
    """The protocol, or the attacker."""


class Task(NamedTuple):
    """One result to be stored."""

    fold: int
    """The fold."""
    names: tuple[str, ...]
    """Its place in the store."""

    @property
    def kind(self) -> str:
        """What its time is booked under: the attacker, or the step."""
        return self.names[-1]


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
    _last: list["Prepared"] = field(default_factory=list)
    """The fold that was last worked on."""

    def units(self, fold: int) -> list[Unit]:
        """Return what a fold takes once its profiles are there."""
        clean = [
            Unit(fold, "clean", name) for name in self.work.attackers if name in self.work.clean
        ]
        return [*clean, *(Unit(fold, "scheme", scheme) for scheme in self.work.schemes)]

    def tasks(self, unit: Unit) -> list[Task]:
        """Return the results that a unit stores."""
        work = self.work
        if unit.kind == "learn":
            places = [Task(unit.fold, (LEARN, scheme)) for scheme in work.placing]
            return [Task(unit.fold, (LEARN,)), *places]
        if unit.kind == "clean":
            wanted = [scheme for scheme in work.schemes if work.wants(scheme, unit.name)]
            return [Task(unit.fold, (scheme, ATTACK, unit.name)) for scheme in wanted]
        adaptive = [name for name in work.attackers if name not in work.clean]
        attacks = [
            Task(unit.fold, (unit.name, ATTACK, name))
            for name in adaptive
            if work.wants(unit.name, name)
        ]
        accuracy = Task(unit.fold, (unit.name, ACCURACY))
        return [accuracy, *attacks] if unit.name in work.asked else attacks

    def missing(self, unit: Unit) -> list[Task]:
        """Return the results of a unit that are not there yet."""
        return [task for task in self.tasks(unit) if not self.store.has(task.fold, *task.names)]

    def run(self, unit: Unit) -> Iterator[Task]:
        """Do what a unit lacks, pausing after each result."""
        missing = self.missing(unit)
        if not missing:
            return
        steps = {"learn": self._learn, "scheme": self._scheme, "clean": self._clean}
        # Sums in another order are other sums: one thread, however many processes there are.
        with threadpool_limits(1):
            yield from steps[unit.kind](unit, missing)

    def _learn(self, unit: Unit, missing: list[Task]) -> Iterator[Task]:
        """Fit profiles, then where people lie if a protocol needs it."""
        clock, data = Clock(), FoldData.of(self.ratings, self.plan, unit.fold)
        place = self.store.profiles(unit.fold)
        for task in missing:
            if task.names == (LEARN,):
                learn(data).save(place)
                about = {"category": data.category, "user_ids": data.given.user_ids}
                yield self._keep(task, clock, **about)
                continue
            more = prepared(data, FoldProfiles.load(place, data), SCHEMES[task.kind])
            more.save(self.store.profiles(unit.fold, task.kind))
            yield self._keep(task, clock)

    def _scheme(self, unit: Unit, missing: list[Task]) -> Iterator[Task]:
        """Measure what a protocol costs, then fit and try the attackers that adapt to it."""
        clock, fold = Clock(), self._fold(unit.fold)
        view, views = fold.held_out(unit.name), list[View]()
        for task in missing:
            if task.kind == ACCURACY:
                found = measure(fold.data, view, unit.name, self.work.schemes[unit.name])
                yield self._keep(task, clock, digest=view.disclosure.digest, **asdict(found))
                continue
            if silent(view):
                yield self._keep(task, clock, scores=self._no_scores(view))
                continue
            views = views or fold.obfuscated(unit.name)
            clock.prepared()
            attack = self._fitted(unit, task.kind, views, fold.data.pooled_category)
            yield self._keep(task, clock, scores=attack(view))

    def _clean(self, unit: Unit, missing: list[Task]) -> Iterator[Task]:
        """Fit an attacker on clean ratings, once, and try it on all protocols."""
        clock, fold = Clock(), self._fold(unit.fold)
        raw = Unit(unit.fold, "scheme", RAW)
        attack = self._fitted(raw, unit.name, [fold.clean], fold.data.training_category)
        for task in missing:
            view = fold.held_out(task.names[0])
            scores = self._no_scores(view) if silent(view) else attack(view)
            yield self._keep(task, clock, scores=scores)

    def _fitted(
        self, unit: Unit, name: str, views: list[View], category: Labels
    ) -> Callable[[View], NDArray[np.float64]]:
        """Fit an attacker for each question; return how they score people. Shape (N, questions)."""
        attackers: list[Attacker] = []
        for k, labels in one_against_rest(category, self._n_categories):
            seed = self.plan.seed_of("attack", unit.fold, unit.name, name, k) % SEEDS
            attacker = new_attacker(self.work.attackers[name], k)
            attacker.fit(views, labels, seed=seed)
            attackers.append(attacker)
        return lambda view: np.stack([score_people(one, name, view) for one in attackers], axis=1)

    @property
    def _n_categories(self) -> int:
        return len(self.ratings.feature(*self.plan.feature).categories)

    def _no_scores(self, view: View) -> NDArray[np.float64]:
        """Score everyone alike: of people who send nothing there is nothing to read."""
        return np.zeros((view.n_users, len(questions(self._n_categories))))

    def _fold(self, number: int) -> "Prepared":
        """Return what the tasks of a fold share; of the last one it stays in memory."""
        if not self._last or self._last[0].data.number != number:
            data = FoldData.of(self.ratings, self.plan, number)
            profiles = FoldProfiles.load(self.store.profiles(number), data)
            self._last[:] = [Prepared(data, profiles, self.work, self.store)]
        return self._last[0]

    def _keep(self, task: Task, clock: "Clock", **found: object) -> Task:
        """Store a result with the time that it took."""
        self.store.save({**found, **clock.read()}, task.fold, *task.names)
        return task


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the tasks of one fold share."""

    data: FoldData
    """Its users."""
    profiles: FoldProfiles
    """What the analyst learned."""
    work: Work
    """What is to be run."""
    store: Store
    """Where profiles of the fold are kept."""
    _held_out: dict[str, View] = field(default_factory=dict)
    """What the analyst sees of the held-out users, by protocol."""
    _learned: dict[str, FoldProfiles] = field(default_factory=dict)
    """What it learned, with where people lie, by scheme."""

    @cached_property
    def clean(self) -> View:
        """The training users' ratings as they are."""
        return clean_view(self.data, self.profiles)

    def held_out(self, scheme: str) -> View:
        """Return what the analyst sees of the held-out users under a protocol."""
        if scheme not in self._held_out:
            how = self.work.schemes[scheme]
            self._held_out[scheme] = held_out_view(self.data, self.learned(scheme), scheme, how)
        return self._held_out[scheme]

    def learned(self, scheme: str) -> FoldProfiles:
        """Return what the analyst learned, with all that a protocol needs."""
        kind = self.work.schemes[scheme].scheme
        if not kind.counterparts:
            return self.profiles
        if kind.name not in self._learned:
            folder = self.store.profiles(self.data.number, kind.name)
            self._learned[kind.name] = FoldProfiles.load(folder, self.data)
        return self._learned[kind.name]

    def obfuscated(self, scheme: str) -> list[View]:
        """Return several draws of the training users under a protocol; too large to keep."""
        how = self.work.schemes[scheme]
        what = self.data, self.learned(scheme), scheme, how
        first, *others = obfuscated_views(*what)
        return [replace(first, nested_folds=nested_folds(*what)), *others]


class Clock:
    """Books time: what several tasks share apart from what each takes.

    Seconds of the processor say where the work is, however busy the machine was; those on the wall
    how long the rest will take.
    """

    def __init__(self) -> None:
        self._last = _now()
        self._shared = np.zeros(2)

    def prepared(self) -> None:
        """Book the time since the last result as shared."""
        now = _now()
        self._shared, self._last = self._shared + now - self._last, now

    def read(self) -> dict[str, float]:
        """Return the times since the last result, and start anew."""
        now = _now()
        own, shared = now - self._last, self._shared
        self._last, self._shared = now, np.zeros(2)
        names = ("seconds", "wall_seconds", "shared_seconds", "shared_wall_seconds")
        return dict(zip(names, [*own.tolist(), *shared.tolist()], strict=True))


def _now() -> NDArray[np.float64]:
    return np.array([time.process_time(), time.perf_counter()])


def silent(view: View) -> bool:
    """Tell whether nobody sent anything."""
    return view.reports.profile is None and not len(view.reports.item)
