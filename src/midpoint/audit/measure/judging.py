"""The results of an audit's judges: one AUC for each adversary, and its interval."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.audit.attackers.auc import Area, area
from midpoint.audit.measure.findings import AUC, BALANCED, NAMED, TRUE_POSITIVES, Band, Judge
from midpoint.audit.measure.roc import (
    Measured,
    balanced_accuracy,
    curve,
    named,
    true_positives,
)
from midpoint.audit.measure.statistics import null_band
from midpoint.audit.run.adversaries.catalogue import decisive
from midpoint.audit.run.adversaries.judge import judge_name, nested_of, stacked
from midpoint.audit.run.store import Arrays

Float = NDArray[np.float64]
Integers = NDArray[np.int64]
Tried = Mapping[str, Mapping[str, Sequence[Arrays]]]
"""By adversary and attacker, what was stored of each fold."""
ONLY: Final = 0.95
"""How much of chance the band of a single look holds."""


@dataclass(frozen=True, eq=False)
class Judging:
    """Learns the judges of every scheme, once each."""

    category: Integers
    """Category of everyone who was attacked, fold after fold. Shape (N,)."""
    folds: Integers
    """Fold of everyone. Shape (N,)."""
    targets: Sequence[int]
    """The categories that attackers look for."""
    label: Callable[[str, int], str]
    """Names an attacker with its target category."""
    tried: Callable[[str], Tried]
    """What the attackers of a scheme stored."""
    _known: dict[str, dict[str, "Judgement"]] = field(default_factory=dict)
    """What was found before, by scheme and adversary."""

    def judgements(self, scheme: str) -> "dict[str, Judgement]":
        """Learn the judge of each adversary that said something of training people."""
        if scheme not in self._known:
            self._known[scheme] = {}
            for adversary, attackers in self.tried(scheme).items():
                judgement = read(attackers, self.targets)
                if judgement is not None:
                    self._known[scheme][adversary] = judgement
        return self._known[scheme]

    def level(self, scheme: str) -> float:
        """Return how much of chance a band of a scheme holds: the more, the more looks there are.

        A verdict looks at the strongest attacker and at the judge of each adversary that knows the
        scheme. All bands together hold 95 % at least (Bonferroni): each of L looks 1 - 0.05 / L.
        """
        looks = 1 + len(decisive(self.judgements(scheme)))
        return 1 - (1 - ONLY) / looks

    def judges(self, scheme: str) -> dict[str, Judge]:
        """Return the judges of a scheme by adversary, each by the category that it tells best."""
        level = self.level(scheme)
        every = self.judgements(scheme).items()
        return {name: self._judge(name, each, level) for name, each in every}

    def _judge(self, adversary: str, judgement: "Judgement", level: float) -> Judge:
        areas, several = self._areas(judgement), len(self.targets) > 1
        column = max(range(len(areas)), key=lambda k: areas[k].distance)
        log_odds, ones = judgement.log_odds[:, column], self.category == self.targets[column]
        scores = judgement.log_odds if several else log_odds
        null = null_band(scores[None], self.category, self.folds, level=level)
        drawn, weights = curve(log_odds, ones), judgement.weights[:, column].mean(axis=0)
        return Judge(
            attack=self.label(judge_name(adversary), column),
            band=Band(
                null.low,
                null.high,
                len(judgement.attackers),
                null.p_value(areas[column].value),
                level,
            ),
            weights=dict(zip(judgement.attackers, weights.tolist(), strict=True)),
            right=named(log_odds, ones)[1],
            false=drawn.false,
            true=drawn.true,
        )

    def rows(self, scheme: str) -> Iterator[tuple[str, str, Measured]]:
        """Go through what is measured of the judges of a scheme: metric, attack and number."""
        for adversary, judgement in self.judgements(scheme).items():
            areas, name = self._areas(judgement), judge_name(adversary)
            if len(areas) > 1:
                mean = Area.mean(areas)
                yield AUC, name, Measured(mean.value, *mean.interval())
            for column, k in enumerate(self.targets):
                label, ones = self.label(name, column), self.category == k
                log_odds = judgement.log_odds[:, column]
                yield AUC, label, Measured(areas[column].value, *areas[column].interval())
                for metric, measured in zip(
                    TRUE_POSITIVES, true_positives(log_odds, ones), strict=True
                ):
                    yield metric, label, measured
                yield BALANCED, label, balanced_accuracy(log_odds, ones)
                yield NAMED, label, named(log_odds, ones)[0]

    def _areas(self, judgement: "Judgement") -> list[Area]:
        """Return the AUC of a judge for each target."""
        return [
            area(judgement.log_odds[:, column], self.category == k, self.folds)
            for column, k in enumerate(self.targets)
        ]


@dataclass(frozen=True, eq=False)
class Judgement:
    """A judge's scores of all people."""

    attackers: tuple[str, ...]
    """Its attackers."""
    log_odds: Float
    """Log-odds of each person, for each target. Shape (N, Q)."""
    weights: Float
    """Weights of the attackers in each fold, for each target. Shape (F, Q, A)."""


def read(attackers: Mapping[str, Sequence[Arrays]], targets: Sequence[int]) -> Judgement | None:
    """Learn a judge in each fold from what attackers stored; None if none can be stacked.

    That is so where everybody is silent, and in the paper's own setting.
    """
    nested = {name: [nested_of(of_fold) for of_fold in folds] for name, folds in attackers.items()}
    names = tuple(name for name, folds in nested.items() if None not in folds)
    if not names:
        return None
    each = [
        stacked(
            [of_fold for name in names if (of_fold := nested[name][fold]) is not None],
            [attackers[name][fold]["scores"] for name in names],
            targets,
        )
        for fold in range(len(attackers[names[0]]))
    ]
    log_odds, weights = zip(*each, strict=True)
    return Judgement(names, np.concatenate(log_odds), np.stack(weights))
