"""What the tasks of an audit stored, read fold after fold."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.attackers.attacker import targets
from midpoint.audit.attackers.auc import Area, area
from midpoint.audit.run.adversaries.catalogue import ADVERSARIES, CLEAN, PANEL
from midpoint.audit.run.adversaries.outsiders import SPLIT
from midpoint.audit.run.plan import DEFAULT, Plan
from midpoint.audit.run.store import ATTACK, EARLY, Arrays, Store
from midpoint.audit.run.tasks.units import ACCURACY, ANSWERS, LEARN
from midpoint.data import Feature, Ratings
from midpoint.wire import SCHEMES

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Stored:
    """Reads the store. Results that are not complete in all folds are left out."""

    store: Store
    """Where the tasks put their results."""
    plan: Plan
    """What the audit does."""
    people: Ratings
    """The ratings of all users who were attacked in turn."""
    _read: dict[tuple[str, ...], list[Arrays]] = field(default_factory=dict)
    """Results that were read before: each is asked for many times."""

    @cached_property
    def category(self) -> NDArray[np.int64]:
        """Category of everyone, fold after fold. Shape (N,)."""
        return np.concatenate([one["category"] for one in self.every(*self._people)])

    @cached_property
    def folds(self) -> NDArray[np.int64]:
        """Fold of everyone. Shape (N,)."""
        sizes = [len(one["category"]) for one in self.every(*self._people)]
        return np.repeat(np.arange(self.plan.folds), sizes)

    @cached_property
    def feature(self) -> Feature:
        """The private feature."""
        return self.people.feature(*self.plan.feature)

    @property
    def targets(self) -> list[int]:
        """The categories that attackers look for."""
        return targets(len(self.feature.categories))

    @cached_property
    def _people(self) -> tuple[str, ...]:
        """Where it is written who was attacked."""
        return (LEARN,) if self.has(LEARN) else (LEARN, SPLIT)

    @cached_property
    def accuracy(self) -> tuple[str, ...]:
        """Where accuracy is: under the disclosure of all training people, if that was tried."""
        return (ACCURACY,) if self.has(LEARN) else (SPLIT, ACCURACY)

    def has(self, *names: str) -> bool:
        """Tell whether a task is done in all folds."""
        return all(self.store.has(fold, *names) for fold in range(self.plan.folds))

    def every(self, *names: str) -> list[Arrays]:
        """Return what a task stored, fold after fold."""
        if names not in self._read:
            folds = range(self.plan.folds)
            self._read[names] = [self.store.load(fold, *names) for fold in folds]
        return self._read[names]

    def choices(self, *, split: bool = False) -> tuple[Mapping[str, Any], ...]:
        """Return the scheme that each fold chose, with what it measured; none if none was asked.

        Args:
            split: Whether it is the choice of the panel beside which outsiders are kept apart.
        """
        names = (LEARN, SPLIT, DEFAULT) if split else (LEARN, DEFAULT)
        if not self.has(*names):
            return ()
        return tuple(json.loads(str(one["choice"])) for one in self.every(*names))

    def has_cost(self, scheme: str) -> bool:
        """Tell whether a scheme's cost was measured in all folds."""
        return self.has(scheme, *self.accuracy)

    def attacks(self, scheme: str) -> list[str]:
        """Return the attackers that tried a scheme in all folds, in the order they came."""
        each = [set(self.store.attacks(fold, scheme)) for fold in range(self.plan.folds)]
        complete = set.intersection(*each)
        return [name for name in self.store.manifest()["attackers"] if name in complete]

    def tried(self, scheme: str) -> dict[str, dict[str, list[Arrays]]]:
        """Return what the attackers of each adversary stored of a scheme, by fold."""
        kinds = self.store.manifest()["attackers"]
        whose = by_adversary({name: kinds[name] for name in self.attacks(scheme)})
        return {
            adversary: {name: self.every(scheme, ATTACK, name) for name in names}
            for adversary, names in whose.items()
        }

    def scores(self, scheme: str, attack: str) -> Float:
        """Return all people's scores, for each target. Shape (N, targets)."""
        return np.concatenate([one["scores"] for one in self.every(scheme, ATTACK, attack)])

    def areas(self, scheme: str, attack: str, among: Mask | None = None) -> list[Area]:
        """Return the AUC for each target, over all people or some of them."""
        scores, some = self.scores(scheme, attack), slice(None) if among is None else among
        return [
            area(scores[some, column], self.category[some] == k, self.folds[some])
            for column, k in enumerate(self.targets)
        ]

    def label(self, attack: str, column: int) -> str:
        """Return an attacker's name, with its target category if there are several."""
        if len(self.targets) == 1:
            return attack
        return f"{attack}[{self.feature.categories[self.targets[column]]}]"

    def answers(self, scheme: str) -> tuple[float, ...]:
        """Return the mean number of answers a person gave in each round; none if none was held."""
        stored_as = ((scheme, ANSWERS), (scheme, SPLIT, ANSWERS))
        names = next((one for one in stored_as if self.has(*one)), None)
        if names is None:
            return ()
        each = [stored["answers"] for stored in self.every(*names)]
        return tuple(np.mean(each, axis=0).tolist())

    def seconds(self, schemes: list[str]) -> dict[str, float]:
        """Add up where the time went: by attacker and step, and what attackers share."""
        learned_as = [(LEARN,), (LEARN, EARLY), (LEARN, SPLIT), (LEARN, SPLIT, EARLY)]
        learned = [(*one, *name) for one in learned_as for name in ((), *((s,) for s in SCHEMES))]
        learned += [(LEARN, DEFAULT), (LEARN, SPLIT, DEFAULT)]
        tasks: list[tuple[str, ...]] = [names for names in learned if self.has(*names)]
        tasks += [(s, *self.accuracy) for s in schemes if self.has_cost(s)]
        tasks += [(s, ATTACK, name) for s in schemes for name in self.attacks(s)]
        total: dict[str, float] = {}
        for names in tasks:
            for part in self.every(*names):
                task = " ".join(names) if names[0] == LEARN else names[-1]
                for kind, key in ((task, "seconds"), ("obfuscate", "shared_seconds")):
                    total[kind] = total.get(kind, 0.0) + float(part[key])
        return dict(sorted(total.items(), key=lambda pair: -pair[1]))


def by_adversary(attackers: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the attackers of each adversary; adversaries that know more come later."""
    whose = {
        name: kind["adversary"] or (PANEL if kind["adaptive"] else CLEAN)
        for name, kind in attackers.items()
    }
    there = [name for name in ADVERSARIES if name in whose.values()]
    return {one: [name for name, adversary in whose.items() if adversary == one] for one in there}
