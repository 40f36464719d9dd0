"""The work of an audit in small tasks, each kept when it is done, in any order and process."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from midpoint.analyst import ItemProfiles
from midpoint.audit.attackers.attacker import (
    Attacker,
    NestedScores,
    new_attacker,
    questions,
    score_people,
)
from midpoint.audit.attackers.view import View
from midpoint.audit.choose import choose, protocol_of
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.accuracy import measure
from midpoint.audit.run.adversaries.bound import divergence, is_bounded
from midpoint.audit.run.adversaries.judge import nested_arrays, nested_scores
from midpoint.audit.run.adversaries.outsiders import (
    OUTSIDER,
    SPLIT,
    PublishedRounds,
    PublishedViews,
    SplitFold,
)
from midpoint.audit.run.folds import (
    FoldData,
    FoldProfiles,
    Labels,
    learn,
    one_against_rest,
    prepared,
)
from midpoint.audit.run.plan import DEFAULT, RAW, ChosenProtocol, Plan
from midpoint.audit.run.round_views import RoundViews, Versions
from midpoint.audit.run.store import ATTACK, EARLY, Store
from midpoint.audit.run.views import FoldViews, ReportViews, clean_view
from midpoint.audit.run.work import Work
from midpoint.data import Ratings
from midpoint.protocol import LearningProtocol
from midpoint.wire import SCHEMES

LEARN = "learn"
ACCURACY = "accuracy"
ANSWERS = "answers"
BOUND = "bound"
"""What an omniscient adversary would read."""
SEEDS = 2**31 - 1
"""Attackers get seeds below this, which all libraries take."""


class Unit(NamedTuple):
    """Tasks of one fold that one process does in a row, because they share their preparation."""

    fold: int
    """The fold."""
    kind: Literal["learn", "scheme", "clean", "split"]
    """Fit profiles; run a protocol and the attackers that adapt to it; fit a clean attacker; or
    run a protocol with panel and outsiders apart."""
    name: str = ""
    """The protocol, or the attacker."""


class Task(NamedTuple):
    """One result to be stored."""

    fold: int
    """The fold."""
    names: tuple[str, ...]
    """Its name in the store."""

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
        work, units = self.work, list[Unit]()
        if work.has_panel:
            units += [Unit(fold, "clean", name) for name in work.attackers if name in work.clean]
            units += [Unit(fold, "scheme", scheme) for scheme in work.schemes]
        if work.has_split:
            units += [Unit(fold, "split", scheme) for scheme in work.schemes]
        return units

    def tasks(self, unit: Unit) -> list[Task]:
        """Return the results that a unit stores."""
        work = self.work
        if unit.kind == "learn":
            names = list[tuple[str, ...]]()
            for there, under in ((work.has_panel, ()), (work.has_split, (SPLIT,))):
                names += self._learned(LEARN, *under) if there else []
            return [Task(unit.fold, name) for name in names]
        if unit.kind == "clean":
            wanted = [scheme for scheme in work.schemes if work.wants(scheme, unit.name)]
            return [Task(unit.fold, (scheme, ATTACK, unit.name)) for scheme in wanted]
        if unit.kind == "split":
            return self._split_tasks(unit)
        adaptive = [name for name in work.attackers if name not in {*work.clean, *work.adversary}]
        attacks = [
            Task(unit.fold, (unit.name, ATTACK, name))
            for name in adaptive
            if work.wants(unit.name, name)
        ]
        if isinstance(work.schemes[unit.name], RoundsProtocol):
            return [Task(unit.fold, (unit.name, ANSWERS)), *attacks]
        accuracy = Task(unit.fold, (unit.name, ACCURACY))
        return [accuracy, *self._bounds(unit), *attacks] if unit.name in work.costed else attacks

    def _learned(self, *under: str) -> list[tuple[str, ...]]:
        """Name what is learned in a fold: from all training people, or from the panel apart."""
        work = self.work
        names = [under, *((*under, scheme) for scheme in work.counterparts)]
        names += [(*under, DEFAULT)] * work.has_choice
        if work.has_rounds:
            names += [(*under, EARLY)]
            names += [(*under, EARLY, scheme) for scheme in work.counterparts_over_rounds]
        return names

    def _bounds(self, unit: Unit, *under: str) -> list[Task]:
        """Return the task of the bound, if a protocol has one."""
        how, scale = self.work.schemes[unit.name], self.ratings.scale
        bounded = unit.name in self.work.costed and is_bounded(
            how, discrete=scale.is_discrete, unary=scale.is_unary
        )
        return [Task(unit.fold, (unit.name, *under, BOUND))] if bounded else []

    def _split_tasks(self, unit: Unit) -> list[Task]:
        """Return the attacks under what is published; its cost or answers, if measured nowhere."""
        attacks = [
            Task(unit.fold, (unit.name, ATTACK, name))
            for name in self.work.adversary
            if self.work.wants(unit.name, name)
        ]
        if not attacks:
            return []
        rounds = isinstance(self.work.schemes[unit.name], RoundsProtocol)
        about = ANSWERS if rounds else ACCURACY
        measured = not self.work.has_panel and (rounds or unit.name in self.work.costed)
        first = [Task(unit.fold, (unit.name, SPLIT, about))] if measured else []
        return [*first, *self._bounds(unit, SPLIT), *attacks]

    def missing(self, unit: Unit) -> list[Task]:
        """Return the results of a unit that are not there yet."""
        return [task for task in self.tasks(unit) if not self.store.has(task.fold, *task.names)]

    def run(self, unit: Unit) -> Iterator[Task]:
        """Do what a unit lacks, pausing after each result."""
        missing = self.missing(unit)
        if not missing:
            return
        steps = {
            "learn": self._learn,
            "scheme": self._scheme,
            "clean": self._clean,
            "split": self._split,
        }
        # Sums in another order are other sums: one thread, however many processes there are.
        with threadpool_limits(1):
            yield from steps[unit.kind](unit, missing)

    def _learn(self, unit: Unit, missing: list[Task]) -> Iterator[Task]:
        """Fit profiles, then positions if a protocol needs them; early ones for several rounds."""
        clock, data = Clock(), FoldData.of(self.ratings, self.plan, unit.fold)
        for task in missing:
            early, names = EARLY in task.names, task.names[1:]
            about = {"category": data.category, "user_ids": data.given.user_ids}
            if task.kind == DEFAULT:
                yield self._keep(task, clock, **self._choose(data, names))
                continue
            if SPLIT in task.names:
                self._learn_split(data, names)
                yield self._keep(task, clock, **(about if task.kind == SPLIT else {}))
                continue
            if task.kind in SCHEMES:
                learned = FoldProfiles.load(self.store.profiles(unit.fold, *names[:-1]), data)
                learned = prepared(data, learned, SCHEMES[task.kind], early=early)
            else:
                learned = learn(data, early=early)
            learned.save(self.store.profiles(unit.fold, *names))
            yield self._keep(task, clock, **({} if names else about))

    def _choose(self, data: FoldData, names: tuple[str, ...]) -> dict[str, object]:
        """Choose the scheme on the panel of a fold alone, and learn what it needs."""
        split, directory = SplitFold(data), self.store.profiles(data.number, *names)
        panel = split.panel if SPLIT in names else data.training
        seed = self.plan.seed_of("choice", data.number, *names)
        choice = choose(panel, self.plan.feature, factorizer=self.plan.factorizer, seed=seed)
        how = protocol_of(choice.scheme)
        if SPLIT in names:
            learned = ItemProfiles.load(directory.parent / "whole")
            split.prepared(learned, how.scheme, spread=how.spread).save(directory / "whole")
        else:
            every = FoldProfiles.load(directory.parent, data)
            prepared(data, every, how.scheme, spread=how.spread).save(directory)
        return {"choice": json.dumps(choice.as_dict())}

    def _learn_split(self, data: FoldData, names: tuple[str, ...]) -> None:
        """Learn from the panel alone where outsiders are kept apart; with positions if named."""
        split, directory = SplitFold(data), self.store.profiles(data.number, *names)
        early = EARLY in names
        if names[-1] in SCHEMES:
            learned = ItemProfiles.load(directory.parent / "whole")
            learned = split.prepared(learned, SCHEMES[names[-1]], early=early)
        else:
            learned = split.learn(early=early)
        learned.save(directory / "whole")

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
                yield self._keep(task, clock, **divergence(view)._asdict())
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
                accuracy = measure(fold.data, seen.rated, seen.name, seen.how)
                yield self._keep(task, clock, digest=view.disclosure.digest, **accuracy.stored())
            elif task.kind == BOUND:
                yield self._keep(task, clock, **divergence(view)._asdict())
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
        """Fit an attacker for each question; with what it says of people it was not fitted to."""
        make, attackers = self.work.attackers[name], list[Attacker]()
        nested = list[NestedScores]()
        for k, labels in one_against_rest(category, self._n_categories):
            attacker, seed = new_attacker(make, k), seen.attack_seed(name, k) % SEEDS
            attacker.fit(views, labels, seed=seed)
            attackers.append(attacker)
            if not self.plan.paper:  # whose attackers are judged one by one
                scores = nested_scores(
                    attacker, make, views, labels, seed=seed, wanted=k, name=name
                )
                nested.append(scores)
        return Fitted(name, attackers, nested_arrays(nested, category))

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
            self._last[:] = [Prepared(data, self.work, self.store)]
        return self._last[0]

    def _keep(self, task: Task, clock: "Clock", **arrays: object) -> Task:
        """Store a result with the time that it took."""
        self.store.save({**arrays, **clock.read()}, task.fold, *task.names)
        return task


class Fitted(NamedTuple):
    """An attacker fitted for each question."""

    name: str
    """What it is called."""
    attackers: list[Attacker]
    """One for each question."""
    nested: dict[str, NDArray[np.generic]]
    """What it says of training people whom it was not fitted to, as it is stored."""

    def __call__(self, view: View) -> NDArray[np.float64]:
        """Score people. Shape (N, questions)."""
        scores = [score_people(one, self.name, view) for one in self.attackers]
        return np.stack(scores, axis=1)


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the tasks of one fold share."""

    data: FoldData
    """Its users."""
    work: Work
    """What is to be run."""
    store: Store
    """Where profiles of the fold are kept."""
    _views: dict[str, FoldViews] = field(default_factory=dict)
    """What is seen of its people, by protocol."""
    _learned: dict[tuple[str, ...], FoldProfiles] = field(default_factory=dict)
    """What the analyst learned with positions, or early, by its name in the store."""
    _versions: Versions = field(default_factory=dict)
    """What it disclosed over several rounds."""

    _published: dict[str, PublishedViews | PublishedRounds] = field(default_factory=dict)
    """What is seen under the published disclosure of the last protocol, by adversary."""
    _published_versions: Versions = field(default_factory=dict)
    """What was published over several rounds."""
    _learners: dict[str, FoldData] = field(default_factory=dict)
    """The fold with the people that each adversary learns from."""

    @cached_property
    def profiles(self) -> FoldProfiles:
        """What the analyst learned."""
        return FoldProfiles.load(self.store.profiles(self.data.number), self.data)

    def published(self, adversary: str, scheme: str) -> PublishedViews | PublishedRounds:
        """Return what an adversary sees under the published disclosure; of one protocol kept."""
        if adversary not in self._learners:
            self._learners[adversary] = SplitFold(self.data).learners(adversary)
        name = f"{SPLIT}:{scheme}"
        if adversary not in self._published or self._published[adversary].name != name:
            how, fold = self.protocol(scheme, SPLIT), self._learners[adversary]
            names = self._positions(scheme, how)
            late = self._load_split(*names)
            if isinstance(how, RoundsProtocol):
                learned = self._load_split(EARLY, *names), late
                known = self._published_versions
                views = PublishedRounds.of(fold, scheme, how, learned, known)
                self._published[adversary] = views
            else:
                self._published[adversary] = PublishedViews.of(fold, scheme, how, late)
        return self._published[adversary]

    def _load_split(self, *names: str) -> ItemProfiles:
        directory = self.store.profiles(self.data.number, SPLIT, *names)
        return ItemProfiles.load(directory / "whole")

    def protocol(self, scheme: str, *under: str) -> LearningProtocol:
        """Return a protocol by name; the one that the fold chose, if it is to be chosen."""
        how = self.work.schemes[scheme]
        if not isinstance(how, ChosenProtocol):
            return how
        stored = self.store.load(self.data.number, LEARN, *under, DEFAULT)
        return protocol_of(json.loads(str(stored["choice"]))["scheme"])

    def _positions(self, scheme: str, how: LearningProtocol) -> tuple[str, ...]:
        """Return the name in the store of what was learned for a protocol beside profiles."""
        if isinstance(self.work.schemes[scheme], ChosenProtocol):
            return (DEFAULT,)
        return (how.scheme.name,) if how.scheme.counterparts else ()

    @cached_property
    def clean(self) -> View:
        """The training users' ratings as they are."""
        return clean_view(self.data, self.profiles)

    def views(self, scheme: str) -> FoldViews:
        """Return what is seen of the people under a protocol."""
        if scheme not in self._views:
            how = self.protocol(scheme)
            names = self._positions(scheme, how)
            late = self._load(*names)
            self._views[scheme] = (
                RoundViews(self.data, scheme, how, self._load(EARLY, *names), late, self._versions)
                if isinstance(how, RoundsProtocol)
                else ReportViews(self.data, scheme, how, late)
            )
        return self._views[scheme]

    def _load(self, *names: str) -> FoldProfiles:
        if not names:
            return self.profiles
        if names not in self._learned:
            directory = self.store.profiles(self.data.number, *names)
            self._learned[names] = FoldProfiles.load(directory, self.data)
        return self._learned[names]


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
        """Return the times since the last result, and start again."""
        now = _now()
        since, shared = now - self._last, self._shared
        self._last, self._shared = now, np.zeros(2)
        names = ("seconds", "wall_seconds", "shared_seconds", "shared_wall_seconds")
        return dict(zip(names, [*since.tolist(), *shared.tolist()], strict=True))


def _now() -> NDArray[np.float64]:
    return np.array([time.process_time(), time.perf_counter()])


def silent(view: View) -> bool:
    """Tell whether nobody sent anything."""
    return view.reports.profile is None and not len(view.reports.item)
