"""The judge of an adversary: what it learns from, and what it says of people."""

import numpy as np
import pytest

from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.attackers.attacker import NestedScores
from midpoint.audit.attackers.auc import auc
from midpoint.audit.run.adversaries.judge import (
    Nested,
    Stacked,
    nested_arrays,
    nested_of,
    nested_scores,
    stacked,
)
from midpoint.errors import MidpointError
from tests.support.audits.seen import Seen, codes
from tests.support.audits.small_audit import AdaptiveByItems
from tests.support.audits.stacks import people, scores_of


def test_it_learns_from_those_whom_all_attackers_judged() -> None:
    category = people(3, 400).astype(np.int64)
    scores = scores_of(category == 1, (1.0, 1.0), 4)
    first = NestedScores.of([(np.arange(0, 400, 2), scores[::2, 0]), (np.arange(1, 400, 2),
                             scores[1::2, 0])])  # fmt: skip
    second = NestedScores.of([(np.arange(100, 400), scores[100:, 1])])
    assert first.scores.tolist() == scores[:, 0].tolist()
    kept = [nested_of(nested_arrays([one], category)) for one in (first, second)]
    stored = [one for one in kept if one is not None]
    log_odds, weights = stacked(stored, [scores[:, :1], scores[:, 1:]], [1])
    assert log_odds.shape == (400, 1)
    assert weights.sum() == pytest.approx(1.0)
    assert auc(log_odds[:, 0], category) > max(auc(one, category) for one in scores.T)
    assert nested_of({"scores": scores}) is None
    assert nested_arrays([], category) == {}
    # What is said of those who are attacked has no part in it.
    again = stacked(stored, [-scores[:, :1], scores[:, 1:] ** 2], [1])[1]
    assert np.array_equal(again, weights)


def test_several_questions_are_stacked_one_by_one() -> None:
    category = np.random.default_rng(1).integers(3, size=600)
    scores = np.random.default_rng(2).normal(size=(2, 600, 3)) + (category[:, None] == np.arange(3))
    nested = [Nested(np.arange(600), np.zeros((600, 3), np.intp), category, one) for one in scores]
    log_odds, weights = stacked(nested, list(scores), [0, 1, 2])
    assert weights.shape == (3, 2)
    for k in range(3):
        assert auc(log_odds[:, k], category == k) > auc(scores[0][:, k], category == k)


@pytest.mark.parametrize("name", ["adaptive-lr-items", "likelihood", "own"])
def test_what_is_said_of_training_people_is_said_without_their_labels(name: str) -> None:
    """Where labels are dealt out at random nothing is read of people who were left out."""
    seen, make = Seen(), ATTACKERS.get(name, AdaptiveByItems)
    views, labels = (
        [seen.view(seen.training, "no", draw) for draw in range(2)],
        codes(seen.training),
    )
    dealt = np.random.default_rng(5).permutation(labels)
    for given, reads in ((labels, True), (dealt, False)):
        attacker = make()
        attacker.fit(views, given, seed=1)
        found = nested_scores(attacker, make, views, given, seed=1, wanted=1)
        area = auc(found.scores, given[found.people])
        assert (area > 0.7) == reads
        if name != "likelihood":  # what it was fitted to it knows by heart
            assert auc(attacker.score(views[0]), given) > 0.7


def test_a_stack_has_to_be_fitted() -> None:
    seen = Seen()
    with pytest.raises(MidpointError, match="'judge' has to be fitted before it scores"):
        Stacked({"items": AdaptiveByItems}).score(seen.view(seen.training, "no"))
