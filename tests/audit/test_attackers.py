"""The contract of attackers: every one of them runs it."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from seen import Seen, codes, silenced, some

from midpoint.audit.attackers import ATTACKERS, Attacker
from midpoint.audit.statistics import auc
from midpoint.audit.view import View

Labels = NDArray[np.int64]
every_attacker = pytest.mark.parametrize("name", ATTACKERS)

pytestmark = pytest.mark.slow  # every attacker learns


@cache
def seen() -> Seen:
    return Seen()


@cache
def tried(scheme: str) -> View:
    return seen().view(seen().tried, scheme, seed=7)


def fitted(name: str, labels: Labels, seed: int = 0) -> Attacker:
    attacker = ATTACKERS[name]()
    scheme = attacker.control if attacker.adaptive else "no"
    draws = 2 if attacker.adaptive else 1
    views = [seen().view(seen().training, scheme, seed=draw) for draw in range(draws)]
    attacker.fit(views, labels, seed=seed)
    return attacker


@cache
def honest(name: str) -> Attacker:
    return fitted(name, codes(seen().training))


@every_attacker
def test_it_is_called_what_it_is_listed_as(name: str) -> None:
    attacker = ATTACKERS[name]()
    assert attacker.name == name
    assert attacker.adaptive == (name not in {"lse", "nb", "lr", "svm"})


@every_attacker
def test_it_reads_what_leaks(name: str) -> None:
    attacker = honest(name)
    assert auc(attacker.score(tried(attacker.control)), codes(seen().tried)) > 0.68


@every_attacker
def test_it_sits_at_chance_where_nothing_can_be_read(name: str) -> None:
    rng = np.random.default_rng(11)
    attacker = fitted(name, rng.permutation(codes(seen().training)))
    reading = auc(attacker.score(tried(attacker.control)), rng.permutation(codes(seen().tried)))
    assert abs(reading - 0.5) < 0.14  # 3.5 standard errors


@every_attacker
def test_its_sign_follows_the_labels(name: str) -> None:
    attacker = fitted(name, 1 - codes(seen().training))
    assert auc(attacker.score(tried(attacker.control)), codes(seen().tried)) < 0.32


@every_attacker
def test_equal_seeds_give_equal_scores(name: str) -> None:
    again = fitted(name, codes(seen().training))
    view = tried(again.control)
    assert np.array_equal(again.score(view), honest(name).score(view))


@every_attacker
def test_silent_people_are_scored_like_one_another(name: str) -> None:
    attacker = honest(name)
    view = tried(attacker.control)
    quiet = np.array([0, 3, view.n_users - 1])
    scores = attacker.score(silenced(view, quiet))
    assert np.isfinite(scores).all()
    assert np.ptp(scores[quiet]) < 1e-5
    everyone = attacker.score(silenced(view, np.arange(view.n_users)))
    assert np.ptp(everyone) < 1e-5
    assert len(np.unique(scores)) > 10


@every_attacker
def test_a_score_does_not_depend_on_who_else_is_tried(name: str) -> None:
    attacker = honest(name)
    view, people = tried(attacker.control), np.array([5, 6, 40, 41, 100])
    assert attacker.score(some(view, people)) == pytest.approx(
        attacker.score(view)[people], rel=1e-3, abs=1e-3
    )
