"""A published model made ready for requests: estimates, questions, scores as bytes."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import ItemProfiles, Scorer, Training, disclose
from midpoint.analyst.fit.information import a_criterion
from midpoint.analyst.score.evidence import Estimate
from midpoint.analyst.score.scorer import ALL, Wish
from midpoint.analyst.service.state.model import Model
from midpoint.analyst.solicit.questions import rated_share
from midpoint.analyst.storage import Summary, Sums
from midpoint.wire import ONE, Scores
from tests.support.models.estimates import estimate, score


@pytest.fixture(scope="module")
def profiles(trained_stars: Training) -> ItemProfiles:
    return trained_stars.items


@pytest.fixture(scope="module")
def model(profiles: ItemProfiles) -> Model:
    return Model(profiles, disclose(profiles, "dmpss"))


def test_scores_are_the_bytes_of_a_checked_message(model: Model) -> None:
    items = model.disclosure.items
    known = estimate(model, dict.fromkeys(items[:5], 4 * ONE))
    for top in (None, 3):
        raw = score(model, known, top, 4)
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
    sums = [model.sums(model.evidence(answers)) for answers in many]
    estimates = model.estimates(sums)
    mean, covariance = estimates.mean, estimates.covariance
    for n, answers in enumerate(many):
        expected = scorer.solve(scorer.sum_up(answers))
        assert model.evidence(answers).count == len(answers)
        np.testing.assert_allclose(mean[n], expected.mean, atol=1e-9)
        np.testing.assert_allclose(covariance[n], expected.covariance, atol=1e-9)
    wishes = [ALL, Wish(3, 4), ALL, Wish(2, 0)]
    together = model.scores(estimates, wishes)
    for n, wish in enumerate(wishes):
        known = Estimate(mean[n], covariance[n])
        alone = Scores.parse(score(model, known, wish.top, wish.margin))
        found = Scores.parse(together[n])
        assert found.items == alone.items
        assert np.abs(np.subtract(found.score, alone.score)).max() <= 1
        assert np.abs(np.subtract(found.deviation, alone.deviation)).max() <= 1


def test_further_answers_just_add(model: Model) -> None:
    """Each item counts once, whatever was kept; without the check it would count twice."""
    items = model.disclosure.items
    first, second = dict.fromkeys(items[:9], 2 * ONE), dict.fromkeys(items[5:14], 2 * ONE)
    whole = model.evidence(first | second)
    kept = Summary(0, items=first, sums=model.sums(model.evidence(first)))
    stale = replace(kept, sums=Sums("another model", b""))
    for summary in (kept, stale, replace(kept, sums=None)):
        found = model.added(summary, second)
        np.testing.assert_allclose(
            np.frombuffer(found.data), np.frombuffer(model.sums(whole).data), atol=1e-12
        )
    twice = model.evidence(first) + model.evidence(second)
    assert twice.count == whole.count + 4  # the control


def test_sums_of_other_numbers_have_another_name(model: Model, profiles: ItemProfiles) -> None:
    assert Model(profiles, disclose(profiles, "dmpss")).key == model.key
    moved = replace(profiles, centre=profiles.centre + 1e-9)
    assert Model(moved, model.disclosure).key != model.key


def test_answers_about_items_that_are_gone_do_not_count(model: Model) -> None:
    gone = {"gone": 5 * ONE}
    assert model.evidence(gone).count == 0
    np.testing.assert_array_equal(estimate(model, gone).mean, estimate(model, {}).mean)
    assert "gone" not in model.ask(Summary(0, items=gone), 5)


def test_scores_are_those_of_the_library(model: Model, profiles: ItemProfiles) -> None:
    answers = dict.fromkeys(model.disclosure.items[::7], 2 * ONE)
    profile = estimate(model, answers)
    scorer = Scorer(profiles, model.disclosure)
    known = scorer.solve(scorer.sum_up(answers))
    for top, expected in (
        (None, scorer.scores_of(known)),
        (3, scorer.top_of(known, top=3, margin=4)),
    ):
        found = Scores.parse(score(model, profile, top, 4))
        assert found.items == expected.items
        assert np.abs(np.subtract(found.score, expected.score)).max() <= 1
        assert np.abs(np.subtract(found.deviation, expected.deviation)).max() <= 1


def test_a_question_from_promising_items_is_as_good_as_one_from_all(
    profiles: ItemProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The expected loss is within a hundredth; the control takes the least promising ones."""
    module = "midpoint.analyst.solicit"
    model = Model(profiles, disclose(profiles, "dmpss"))
    items = dict.fromkeys(model.disclosure.items[::11], 3 * ONE)
    summary, budget = Summary(0, items=items), 6

    def loss() -> float:
        asked, scorer = profiles.index_of(model.ask(summary, budget)), model.scorer
        assert scorer.weights is not None
        weight = scorer.weights[asked] * rated_share(profiles)[asked]
        V, start = profiles.vectors[asked], model.evidence(items).information
        return a_criterion(start + profiles.prior_precision + (V.T * weight) @ V)

    monkeypatch.setattr(f"{module}.questions.PROMISING", 10**6)
    whole = loss()
    monkeypatch.setattr(f"{module}.questions.PROMISING", 2)
    assert 2 * max(budget, profiles.dimension) < len(model.disclosure.items) - len(items)
    assert loss() <= 1.01 * whole
    least = np.argpartition
    monkeypatch.setattr(f"{module}.selection.np.argpartition", lambda gain, _: least(-gain, -12))
    assert loss() > 1.01 * whole
