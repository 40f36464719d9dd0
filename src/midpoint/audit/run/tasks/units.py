"""Which tasks an audit has: results to be stored, and units of them that share preparation."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.adversaries.bound import is_bounded
from midpoint.audit.run.adversaries.outsiders import SPLIT
from midpoint.audit.run.plan import DEFAULT, ChosenProtocol
from midpoint.audit.run.store import ATTACK, EARLY
from midpoint.audit.run.work import Work
from midpoint.data import Scale

LEARN = "learn"
ACCURACY = "accuracy"
ANSWERS = "answers"
BOUND = "bound"
"""The bound of the omniscient adversary."""


class Unit(NamedTuple):
    """Tasks of one fold that one process does in a row, because they share their preparation."""

    fold: int
    """The fold."""
    kind: Literal["learn", "scheme", "clean", "split"]
    """Fit profiles; run a protocol and the attackers that adapt to it; fit a clean attacker; or
    run a protocol with panel and outsiders apart."""
    name: str = ""
    """The protocol, or the attacker; of what is learned from the panel apart, `SPLIT`."""


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


@dataclass(frozen=True)
class Tasks:
    """All tasks of some work."""

    work: Work
    """What is to be run."""
    scale: Scale
    """What ratings can be."""

    def first(self, fold: int) -> list[Unit]:
        """Return what can be learned in a fold at once."""
        learned = ((self.work.has_panel, ""), (self.work.has_split, SPLIT))
        return [Unit(fold, "learn", name) for there, name in learned if there]

    def after(self, learned: Unit) -> list[Unit]:
        """Return what is to be run in a fold once this was learned."""
        work, fold = self.work, learned.fold
        if learned.name == SPLIT:
            return [Unit(fold, "split", scheme) for scheme in work.schemes]
        clean = [Unit(fold, "clean", name) for name in work.attackers if name in work.clean]
        return clean + [Unit(fold, "scheme", scheme) for scheme in work.schemes]

    def every(self, fold: int) -> list[Unit]:
        """Return all units of a fold, in an order in which they can be run."""
        first = self.first(fold)
        return first + [unit for learned in first for unit in self.after(learned)]

    def of(self, unit: Unit) -> list[Task]:
        """Return the results that a unit stores."""
        work = self.work
        if unit.kind == "learn":
            names = self._learned(*(LEARN, unit.name) if unit.name else (LEARN,))
            return [Task(unit.fold, name) for name in names]
        if unit.kind == "clean":
            wanted = [scheme for scheme in work.schemes if work.wants(scheme, unit.name)]
            return [Task(unit.fold, (scheme, ATTACK, unit.name)) for scheme in wanted]
        if unit.kind == "split":
            return self._split(unit)
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
        protocol, scale = self.work.schemes[unit.name], self.scale
        may_be_bounded = isinstance(protocol, ChosenProtocol) or is_bounded(
            protocol, discrete=scale.is_discrete, unary=scale.is_unary
        )
        if unit.name in self.work.costed and may_be_bounded:
            return [Task(unit.fold, (unit.name, *under, BOUND))]
        return []

    def _split(self, unit: Unit) -> list[Task]:
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
