"""Attackers choose their settings on training people that were not learned from, and on no others.

A choice made on those learned from would take a setting that remembers; one made on those attacked
would change with their labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.audit.attackers.auc import auc
from midpoint.audit.attackers.features import values
from midpoint.audit.attackers.learned import Answer, Family, Learned, Rows
from midpoint.audit.attackers.linear import Logistic
from midpoint.audit.attackers.view import View
from midpoint.audit.run.folds import FoldData, learn
from midpoint.audit.run.plan import Plan
from midpoint.audit.run.views import ReportViews
from midpoint.data import Feature, Simulation
from midpoint.protocol import LearningProtocol
from tests.support.audits.small_audit import QUICKLY

pytestmark = pytest.mark.slow

PLAN = Plan(("gender",), folds=2, seed=3, draws=2, factorizer=QUICKLY)
RAW = LearningProtocol("no")
READS, BLIND, REMEMBERS = "reads", "blind", "remembers"


@dataclass(frozen=True)
class Able(Family):
    """One setting learns; another cannot; a third knows whom it learned from, and nobody else."""

    def train(
        self, rows: Rows, ones: NDArray[np.bool_], chosen: Sequence[Any], seed: int, /
    ) -> Answer:
        linear = Logistic((60.0,)).train(rows, ones, (60.0,), seed)
        known = dict(zip(map(_key, rows), ones, strict=True))
        answers: dict[str, Callable[[Rows], Any]] = {
            READS: lambda rows: linear(rows)[0],
            BLIND: lambda rows: np.zeros(rows.shape[0]),
            REMEMBERS: lambda rows: np.array([known.get(_key(row), 0.5) for row in rows], float),
        }
        return lambda rows: np.array([answers[setting](rows) for setting in chosen])


def _key(row: Any) -> bytes:
    return np.asarray(row.todense() if hasattr(row, "todense") else row).tobytes()


def attacker(*settings: str) -> Learned:
    return Learned("tuned", adaptive=True, form=values, family=Able(settings))


@pytest.fixture(scope="module")
def fold(tiny: Simulation) -> FoldData:
    return FoldData.of(tiny.ratings, PLAN, 0)


def views(fold: FoldData, *, nested: bool = True) -> tuple[list[View], View]:
    """Return what is learned from, and the people who are attacked, as an audit makes them."""
    seen = ReportViews(fold, "no", RAW, learn(fold))
    first, *others = seen.training()
    return [first if nested else replace(first, nested_folds=()), *others], seen.held_out


@pytest.mark.parametrize("nested", [True, False], ids=["nested", "split"])
@pytest.mark.parametrize("other", [BLIND, REMEMBERS])
def test_the_setting_that_reads_others_is_chosen(fold: FoldData, other: str, nested: bool) -> None:
    training, tried = views(fold, nested=nested)
    for settings in ((READS, other), (other, READS)):
        tuned = attacker(*settings)
        tuned.fit(training, fold.pooled_category.astype(np.int64), seed=0)
        assert tuned.setting == READS
        assert auc(tuned.score(tried), fold.category) > 0.7


@pytest.mark.parametrize(("other", "inside"), [(BLIND, 0.5), (REMEMBERS, 1.0)])
def test_the_other_settings_are_what_they_are_called(
    fold: FoldData, other: str, inside: float
) -> None:
    """The control: neither reads others, and one would be chosen by those it learned from."""
    training, tried = views(fold)
    tuned = attacker(other)
    tuned.fit(training, fold.pooled_category.astype(np.int64), seed=0)
    assert auc(tuned.score(tried), fold.category) == 0.5
    assert auc(tuned.score(training[0]), fold.pooled_category) == inside


def tuned_on(fold: FoldData) -> tuple[str, float, NDArray[np.float64]]:
    training, tried = views(fold)
    tuned = attacker(BLIND, READS)
    tuned.fit(training, fold.pooled_category.astype(np.int64), seed=0)
    return tuned.setting, tuned.sign, tuned.score(tried)


def test_labels_of_those_attacked_change_neither_the_setting_nor_a_score(fold: FoldData) -> None:
    dealt = Feature("gender", ("F", "M"), 1 - fold.given.feature("gender").codes)
    other = replace(
        fold, given=fold.given.with_feature(dealt), hidden=fold.hidden.with_feature(dealt)
    )
    setting, sign, scores = tuned_on(fold)
    again = tuned_on(other)
    assert again[:2] == (setting, sign) == (READS, 1.0)
    assert np.array_equal(again[2], scores)
    assert auc(scores, fold.category) == pytest.approx(1 - auc(scores, other.category))


def test_labels_of_those_learned_from_do_change_scores(fold: FoldData) -> None:
    """The control: labels that do take part flip the sign."""
    flipped = Feature("gender", ("F", "M"), 1 - fold.training.feature("gender").codes)
    other = replace(fold, training=fold.training.with_feature(flipped))
    assert auc(tuned_on(fold)[2], fold.category) > 0.7
    assert auc(tuned_on(other)[2], fold.category) < 0.3
