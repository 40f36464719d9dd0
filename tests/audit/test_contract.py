"""The contract of attackers: every one of them keeps it, and one that breaks a clause is named."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.audit import View, check_attacker
from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.attackers.attacker import NestedScores
from midpoint.audit.contract import (
    CLAUSES,
    REPORTS,
    TRANSCRIPTS,
    Trial,
    finds_what_leaks,
    scores_each_alone,
    scores_silent_people_alike,
)
from midpoint.audit.rounds.attackers import ON_UNION, TRANSCRIPT_ATTACKERS
from midpoint.audit.run.adversaries.judge import Stacked
from midpoint.errors import MidpointError
from tests.support.audits.small_audit import AdaptiveByItems

Float = NDArray[np.float64]

pytestmark = pytest.mark.slow  # every attacker learns

LEAST = 0.85
"""What ours read, each of them."""


@pytest.mark.parametrize("name", ATTACKERS)
def test_it_keeps_the_contract(name: str) -> None:
    check_attacker(ATTACKERS[name], least=LEAST)


def test_a_stack_keeps_the_contract() -> None:
    names = ("adaptive-lr-items", "adaptive-lr-profile", "likelihood")
    makers = {name: ATTACKERS[name] for name in names} | {"items": AdaptiveByItems}
    check_attacker(lambda: Stacked(makers), least=LEAST)


@pytest.mark.parametrize("name", sorted(set(TRANSCRIPT_ATTACKERS) - set(ON_UNION)))
def test_it_keeps_the_contract_on_transcripts(name: str) -> None:
    check_attacker(TRANSCRIPT_ATTACKERS[name], transcripts=True, least=LEAST)


@pytest.mark.parametrize("name", ON_UNION)
def test_one_of_single_reports_reads_the_union_of_a_transcript(name: str) -> None:
    trial = Trial(TRANSCRIPT_ATTACKERS[name], TRANSCRIPTS, LEAST)
    # How it learns was seen on single reports.
    for broken in (finds_what_leaks, scores_silent_people_alike, scores_each_alone):
        assert broken(trial) is None


@pytest.mark.parametrize("name", ATTACKERS)
def test_it_is_called_what_it_is_listed_as(name: str) -> None:
    attacker = ATTACKERS[name]()
    assert attacker.name == name
    assert attacker.adaptive == (name not in {"lse", "nb", "lr", "svm"})


def test_those_of_transcripts_are_listed_as_what_they_are() -> None:
    for name, make in TRANSCRIPT_ATTACKERS.items():
        assert (make().name, make().adaptive, make().control) == (name, True, "no")


class Blind(AdaptiveByItems):
    def score(self, view: View) -> Float:
        return np.zeros(view.n_users)


class ByIndex(AdaptiveByItems):
    """Remembers who was what by her index, which says as much as the order of a file."""

    def fit(self, views: Sequence[View], category: NDArray[Any], *, seed: int) -> None:
        super().fit(views, category, seed=seed)
        self.known = category

    def score(self, view: View) -> Float:
        scores = super().score(view)
        return np.asarray(scores + np.ptp(scores) / 3 * np.resize(self.known, view.n_users))


class Stubborn(AdaptiveByItems):
    """Knows from elsewhere which side is which, whatever the labels are."""

    def fit(self, views: Sequence[View], category: NDArray[Any], *, seed: int) -> None:
        del category
        super().fit(views, REPORTS.labels[0], seed=seed)


class PanelOnly(AdaptiveByItems):
    """Makes nothing of people whom the analyst did not learn from."""

    def fit(self, views: Sequence[View], category: NDArray[Any], *, seed: int) -> None:
        super().fit(views, category, seed=seed)
        learned = views[0].profiles.statistics
        if learned is None or sorted(learned.users) != sorted(np.bincount(category)):
            self.weight = np.zeros_like(self.weight)


class Unseeded(AdaptiveByItems):
    def fit(self, views: Sequence[View], category: NDArray[Any], *, seed: int) -> None:
        super().fit(views, category, seed=seed)
        self.weight = self.weight + 1e-6 * np.random.default_rng().random(len(self.weight))


class ByRow(AdaptiveByItems):
    """Tells people apart who said nothing."""

    def score(self, view: View) -> Float:
        scores = super().score(view)
        scores[view.counts == 0] = np.flatnonzero(view.counts == 0)
        return scores


class Comparing(AdaptiveByItems):
    """Scores people by who else is there."""

    def score(self, view: View) -> Float:
        scores = super().score(view)
        return np.asarray(scores - scores.mean())


class Remembering(AdaptiveByItems):
    """Says of training people what it learned of them."""

    def nested(self, views: Sequence[View], category: NDArray[Any], *, seed: int) -> NestedScores:
        del views, seed
        everyone = np.arange(len(category), dtype=np.intp)
        return NestedScores.of([(everyone, category.astype(np.float64))])


SPOILED = (Blind, ByIndex, Stubborn, PanelOnly, Unseeded, ByRow, Comparing, Remembering)
BREAKERS = dict(zip(CLAUSES, SPOILED, strict=True))


@pytest.mark.parametrize("clause", CLAUSES)
def test_an_attacker_that_breaks_a_clause_is_shown_which(clause: str) -> None:
    with pytest.raises(MidpointError, match=f"'adaptive-items' breaks the contract, {clause}: "):
        check_attacker(BREAKERS[clause])


def test_the_attacker_that_they_all_spoil_keeps_the_contract() -> None:
    check_attacker(AdaptiveByItems)


def test_more_can_be_asked_of_it_than_to_read_a_little() -> None:
    class Counting(AdaptiveByItems):
        """Reads how much people say, and nothing of what."""

        def fit(self, views: Sequence[View], category: NDArray[Any], *, seed: int) -> None:
            del seed
            counts = views[0].counts
            self.sign = np.sign(counts[category == 1].mean() - counts[category == 0].mean())

        def score(self, view: View) -> Float:
            return np.asarray(self.sign * view.counts, np.float64)

    check_attacker(Counting)
    with pytest.raises(MidpointError, match=r"it finds what leaks: AUC 0\.\d+, and 0\.85 is the"):
        check_attacker(Counting, least=LEAST)


def test_an_answer_in_a_wrong_form_is_refused() -> None:
    class Short(AdaptiveByItems):
        def score(self, view: View) -> Float:
            return super().score(view)[1:]

    with pytest.raises(MidpointError, match=r"'adaptive-items' gave scores of shape"):
        check_attacker(Short)


def test_an_attacker_of_transcripts_cannot_read_single_reports() -> None:
    with pytest.raises(MidpointError, match="reads transcripts"):
        check_attacker(TRANSCRIPT_ATTACKERS["transcript-lr"])
