"""Two audits of the same people, person by person: how sure a change between them is."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.attackers.attacker import targets
from midpoint.audit.attackers.auc import Area, area
from midpoint.audit.measure.findings import AUC, COST, COVERAGE, NDCG_COST, RANKING, RMSE
from midpoint.audit.measure.judging import read
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run.adversaries.judge import judge_name
from midpoint.audit.run.adversaries.outsiders import SPLIT
from midpoint.audit.run.store import ATTACK, Arrays, Store
from midpoint.audit.run.tasks.units import ACCURACY, LEARN

Float = NDArray[np.float64]
Key = tuple[str, str, str]
"""Scheme, metric and attack of a number."""
SAME = 1e-6
"""What is computed again from the people may be off from what was written down, at most."""


class Parts(NamedTuple):
    """A number, and what each of N people adds to its error."""

    value: float
    """The number."""
    influence: Float
    """The variance of the number is the sum of their squares. Shape (N,)."""


@dataclass(frozen=True, eq=False)
class Kept:
    """What an audit keeps of every single person, fold after fold."""

    store: Store
    """Its directory."""
    results: AuditResults
    """What it found."""

    @cached_property
    def people(self) -> Arrays:
        """Who was attacked, and in which fold: `user_ids`, `category` and `fold`, each (N,)."""
        folds = [self.store.load(fold, *self._who) for fold in range(self.results.folds)]
        sizes = [len(fold["category"]) for fold in folds]
        names = ("user_ids", "category")
        return {name: np.concatenate([fold[name] for fold in folds]) for name in names} | {
            "fold": np.repeat(np.arange(len(folds)), sizes)
        }

    @property
    def complete(self) -> bool:
        """Whether it still knows who was attacked."""
        return self._every(*self._who) is not None

    @cached_property
    def _who(self) -> tuple[str, ...]:
        """Where it is written who was attacked, if only adversaries with outsiders tried, too."""
        return (LEARN, SPLIT) if self._every(LEARN) is None else (LEARN,)

    def parts(self, key: Key) -> Parts | None:
        """Compute a number again from the people; None if it is not made of them."""
        scheme, metric, attack = key
        if metric == AUC:
            return self._area(scheme, attack)
        kinds = {**dict.fromkeys(RMSE, self._error), "withheld": self._withheld, COST: self._cost}
        kinds |= {metric: self._mean for metric in RANKING if metric != COVERAGE}
        kinds[NDCG_COST] = self._ndcg_cost
        return kinds[metric](scheme, metric) if metric in kinds else None

    def _every(self, *names: str) -> list[Arrays] | None:
        folds = range(self.results.folds)
        if not all(self.store.has(fold, *names) for fold in folds):
            return None
        return [self.store.load(fold, *names) for fold in folds]

    def _area(self, scheme: str, attack: str) -> Parts | None:
        """Return an AUC, of one category or the mean over several, with DeLong's influences."""
        wanted = targets(len(self.results.categories))
        name, single = attack, list(range(len(wanted)))
        if attack not in self.results.controls_of(scheme) and attack.endswith("]"):
            name, _, category = attack[:-1].partition("[")
            single = [self.results.categories.index(category)]
        scores, people = self._scores(scheme, name), self.people
        if scores is None:
            return None
        areas = [
            area(scores[:, column], people["category"] == wanted[column], people["fold"])
            for column in single
        ]
        mean = Area.mean(areas)
        return Parts(mean.value, mean.influence)

    def _scores(self, scheme: str, name: str) -> Float | None:
        """Return everyone's scores, (N, targets), by an attacker or by a judge."""
        judges = self.results.judges.get(scheme, {})
        for adversary, judge in judges.items():
            if name == judge_name(adversary):
                stored = {one: self._every(scheme, ATTACK, one) for one in judge.weights}
                known = {one: folds for one, folds in stored.items() if folds is not None}
                judged = read(known, targets(len(self.results.categories)))
                return None if judged is None or len(known) < len(stored) else judged.log_odds
        folds = self._every(scheme, ATTACK, name)
        return None if folds is None else np.concatenate([one["scores"] for one in folds])

    def _error(self, scheme: str, metric: str) -> Parts | None:
        """Return sqrt(sum of squares / count), linear in each person's part."""
        squares, hidden = self._sums(scheme, metric.removeprefix("rmse_")), self._sums(scheme)
        if squares is None or hidden is None:
            return None
        total = max(float(hidden.sum()), 1.0)
        mean = float(squares.sum()) / total
        value = mean**0.5
        return Parts(value, (squares - mean * hidden) / (2 * total * max(value, 1e-12)))

    def _withheld(self, scheme: str, _: str) -> Parts | None:
        """Return the mean share that stays with a person."""
        given, kept = self._sums(scheme, "given"), self._sums(scheme, "kept")
        if given is None or kept is None:
            return None
        share = 1 - kept / np.maximum(given, 1)
        return Parts(float(share.mean()), (share - share.mean()) / len(share))

    def _cost(self, scheme: str, _: str) -> Parts | None:
        """Return sqrt(sum of squares / least sum of raw ratings) - 1, linear in each part."""
        squares, raw = self._sums(scheme, "local"), [self._sums(RAW, kind[5:]) for kind in RMSE]
        known = [one for one in raw if one is not None]
        if squares is None or not known:
            return None
        best = min(known, key=np.sum)
        here, there = float(squares.sum()), max(float(best.sum()), 1e-300)
        ratio = (here / there) ** 0.5
        return Parts(ratio - 1, ratio / 2 * (squares / max(here, 1e-300) - best / there))

    def _mean(self, scheme: str, metric: str) -> Parts | None:
        """Return the mean over the people of whom something is held out."""
        each = self._sums(scheme, metric.partition("_")[0])
        if each is None:
            return None
        known = np.isfinite(each)
        mean = float(each[known].mean()) if known.any() else 0.0
        return Parts(mean, np.where(known, each - mean, 0.0) / max(int(known.sum()), 1))

    def _ndcg_cost(self, scheme: str, _: str) -> Parts | None:
        """Return 1 - sum / (largest sum of raw ratings), linear in each part."""
        each = self._sums(scheme, "ndcg")
        raw = [self._sums(RAW, kind) for kind in ("ndcg", "ndcg_inferred")]
        known = [np.nan_to_num(ndcg) for ndcg in raw if ndcg is not None]
        if each is None or not known:
            return None
        shown, best = np.nan_to_num(each), max(known, key=np.sum)
        total = max(float(best.sum()), 1e-300)
        ratio = float(shown.sum()) / total
        return Parts(1 - ratio, (ratio * best - shown) / total)

    def _sums(self, scheme: str, kind: str = "hidden") -> Float | None:
        """Return what was added up of each person under a protocol. Shape (N,)."""
        split = () if self._who == (LEARN,) else (SPLIT,)
        folds = self._every(scheme, *split, ACCURACY)
        if folds is None or not all(kind in one for one in folds):
            return None
        return np.concatenate([one[kind] for one in folds]).astype(float)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two audits of the same people in the same folds."""

    first: Kept
    """The first one."""
    second: Kept
    """The second one."""

    @property
    def n_people(self) -> int:
        """Count the people."""
        return len(self.first.people["category"])

    def deviation(self, key: Key, before: float, after: float) -> float | None:
        """Return the standard error of the difference between two numbers of the same people.

        sqrt(sum_i (a_i - b_i)^2), a_i and b_i what person i adds to the error of either: of AUCs
        DeLong's for correlated curves (DeLong et al. 1988). None where a number is not made of
        people, or where theirs does not give what was written down.
        """
        parts = self.first.parts(key), self.second.parts(key)
        if parts[0] is None or parts[1] is None:
            return None
        a, b = parts[0], parts[1]
        if abs(a.value - before) > SAME or abs(b.value - after) > SAME:
            return None
        return float(np.sqrt(np.square(a.influence - b.influence).sum()))


def pair(first: Path, second: Path, a: AuditResults, b: AuditResults) -> Pairing | str:
    """Bring two audits together person by person, or say why that cannot be done."""
    for what in ("data_digest", "feature", "categories", "folds", "seed"):
        if getattr(a, what) != getattr(b, what):
            return f"they differ in {what.replace('_', ' ')}"
    kept = Kept(Store(first), a), Kept(Store(second), b)
    for directory, one in zip((first, second), kept, strict=True):
        if not one.complete:
            return f"{directory} holds no scores of single people"
    x, y = (one.people for one in kept)
    if not all(np.array_equal(x[name], y[name]) for name in x):
        return "their folds hold other people"
    return Pairing(*kept)
