"""A published model made ready for requests: estimates, questions, scores as bytes."""

import numpy as np
import pytest

from midpoint.analyst import ItemProfiles, Scorer, Training, disclose
from midpoint.analyst.service.state.model import Model
from midpoint.wire import ONE, Scores


@pytest.fixture(scope="module")
def profiles(trained_stars: Training) -> ItemProfiles:
    return trained_stars.items


@pytest.fixture(scope="module")
def model(profiles: ItemProfiles) -> Model:
    return Model(profiles, disclose(profiles, "dmpss"))


def test_scores_are_the_bytes_of_a_checked_message(model: Model) -> None:
    items = model.disclosure.items
    _, estimate = model.estimate(dict.fromkeys(items[:5], 4 * ONE))
    for top in (None, 3):
        raw = model.scores(estimate, top, 4)
        parsed = Scores.parse(raw)
        again = Scores(
            disclosure=parsed.disclosure,
            items=parsed.items,
            score=parsed.score,
            deviation=parsed.deviation,
        )
        assert raw == again.raw


def test_many_estimates_are_each_ones_own(model: Model, profiles: ItemProfiles) -> None:
    items, rng = model.disclosure.items, np.random.default_rng(0)
    many = [
        {items[j]: int(rng.integers(1, 6)) * ONE for j in rng.choice(len(items), n, replace=False)}
        for n in (0, 1, 30, 7)
    ]
    scorer = Scorer(profiles, model.disclosure)
    for answers, (evidence, estimate) in zip(many, model.estimates(many), strict=True):
        expected = scorer.solve(scorer.sum_up(answers))
        assert evidence.count == len(answers)
        np.testing.assert_allclose(estimate.mean, expected.mean, atol=1e-9)
        np.testing.assert_allclose(estimate.covariance, expected.covariance, atol=1e-9)


def test_a_long_list_is_estimated_in_blocks(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    items = model.disclosure.items
    many = [dict.fromkeys(items[:n], 3 * ONE) for n in range(9)]
    whole = model.estimates(many)
    monkeypatch.setattr("midpoint.analyst.service.state.model.BLOCK", 10)
    for (_, expected), (_, estimate) in zip(whole, model.estimates(many), strict=True):
        np.testing.assert_allclose(estimate.mean, expected.mean, atol=1e-12)


def test_answers_about_items_that_are_gone_do_not_count(model: Model) -> None:
    _, without = model.estimate({})
    evidence, estimate = model.estimate({"gone": 5 * ONE})
    assert evidence.count == 0
    np.testing.assert_array_equal(estimate.mean, without.mean)
    assert "gone" not in model.ask({"gone": ONE}, ["gone"], 5)


def test_scores_are_those_of_the_library(model: Model, profiles: ItemProfiles) -> None:
    answers = dict.fromkeys(model.disclosure.items[::7], 2 * ONE)
    _, estimate = model.estimate(answers)
    scorer = Scorer(profiles, model.disclosure)
    known = scorer.solve(scorer.sum_up(answers))
    for top, expected in (
        (None, scorer.scores_of(known)),
        (3, scorer.top_of(known, top=3, margin=4)),
    ):
        found = Scores.parse(model.scores(estimate, top, 4))
        assert found.items == expected.items
        assert np.abs(np.subtract(found.score, expected.score)).max() <= 1
        assert np.abs(np.subtract(found.deviation, expected.deviation)).max() <= 1
