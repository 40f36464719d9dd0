"""Choosing inside training: nested folds are fair, a plain split of obfuscated people is not."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Factorizer
from midpoint.audit.attackers import Learned
from midpoint.audit.attackers.auc import auc, chance_deviation
from midpoint.audit.attackers.features import mask
from midpoint.audit.attackers.linear import Logistic
from midpoint.audit.attackers.view import View, nested_fold
from midpoint.data import simulate
from midpoint.protocol import LearningProtocol, Population
from tests.support.audits.seen import LEAKY, codes

pytestmark = pytest.mark.slow  # whole audits and drawings

PARTS = 3
C = 2.0
"""Of logistic regression."""


class Crossfitted:
    """Training people obfuscated under disclosures made without them, from plain estimates."""

    def __init__(self, selection_sd: float, users: int = 480) -> None:
        gender = replace(LEAKY.features[0], bias_sd=0.0, selection_sd=selection_sd)
        config = replace(LEAKY, features=(gender,), users=users, items=200, ratings=users * 60)
        self.ratings = simulate(config, seed=5).ratings
        self.part = np.arange(users) % PARTS
        self.protocol = LearningProtocol("ss", estimation="plain")
        self.members = [np.flatnonzero(self.part == part) for part in range(PARTS)]
        # Pooled, people come one part after the other.
        self.positions = np.split(np.arange(users), np.cumsum([len(m) for m in self.members])[:-1])

    def show(self, part: int, without: frozenset[int], draw: int) -> View:
        others = self.ratings.select_users(~np.isin(self.part, list(without)))
        profiles = Factorizer(dimension=1, iterations=1).fit(others, "gender")
        disclosure = self.protocol.disclose(profiles)
        people = self.ratings.select_users(self.members[part])
        rated = Population(people.user, people.item, people.value, codes(people))
        coins = np.random.default_rng([part, draw])
        sent = self.protocol.report(disclosure, profiles, rated, coins)
        return View(sent, profiles, disclosure, people.scale)

    def pooled(self) -> View:
        parts = [self.show(part, frozenset({part}), 0) for part in range(PARTS)]
        return View.pooled(parts, parts[0].profiles, parts[0].disclosure)

    @property
    def labels(self) -> NDArray[np.int64]:
        return codes(self.ratings)[np.concatenate(self.members)]


def reading(learn: View, ones: NDArray[np.bool_], judge: View, truth: NDArray[np.bool_]) -> float:
    answer = Logistic((C,)).train(mask(learn), ones, (C,), 0)
    return auc(answer(mask(judge))[0], truth)


def test_a_plain_split_of_crossfitted_people_has_its_sign_flipped_and_a_nested_fold_has_not() -> (
    None
):
    made = Crossfitted(selection_sd=0.0)
    ones, view = made.labels == 1, made.pooled()
    half = np.arange(len(ones)) % 2 == 0
    table = mask(view)
    answer = Logistic((C,)).train(table[half], ones[half], (C,), 0)
    assert auc(answer(table[~half])[0], ones[~half]) < 0.4
    fair = []
    for part in range(PARTS):
        one = nested_fold(made.show, made.positions, part, draws=1)
        assert not np.intersect1d(one.learners, one.judged).size
        fair.append(reading(one.learn[0], ones[one.learners], one.judge, ones[one.judged]))
    assert np.mean(fair) == pytest.approx(0.5, abs=3.5 * chance_deviation(ones))


@pytest.mark.parametrize("flipped", [False, True])
def test_the_sign_is_chosen_by_nested_folds(flipped: bool) -> None:
    made = Crossfitted(selection_sd=0.8, users=240)
    made.protocol = LearningProtocol("no")
    one, labels = nested_fold(made.show, made.positions, 0, draws=1), made.labels.copy()
    if flipped:  # those judged answer with the other sign
        labels[one.judged] = 1 - labels[one.judged]
    everyone = replace(made.pooled(), nested_folds=(one,))
    attacker = Learned("made up", adaptive=True, form=mask, family=Logistic((0.2, C)))
    attacker.fit([everyone], labels, seed=0)
    assert attacker.sign == (-1.0 if flipped else 1.0)
