"""Predictions of many people at once are those of each alone."""

import numpy as np
import pytest

from midpoint.analyst import Evidence, ItemProfiles, Training, posterior
from midpoint.analyst.score.evidence import Estimate
from midpoint.analyst.score.predictions import Predictor
from midpoint.wire import ONE


@pytest.fixture(scope="module")
def profiles(trained_stars: Training) -> ItemProfiles:
    return trained_stars.items


@pytest.fixture(scope="module")
def estimates(profiles: ItemProfiles) -> Estimate:
    """Return what is estimated of three people."""
    rng = np.random.default_rng(0)
    rated = [rng.choice(profiles.n_items, n, replace=False) for n in (1, 9, 40)]
    each = [Evidence.of(profiles, items, rng.uniform(1, 5, len(items))) for items in rated]
    information = np.stack([evidence.information for evidence in each])
    moment = np.stack([evidence.moment for evidence in each])
    return posterior(Evidence(information, moment, 50), profiles)


def test_they_are_the_equation_in_the_order_of_messages(
    profiles: ItemProfiles, estimates: Estimate
) -> None:
    predictor = Predictor(profiles)
    score, deviation = (
        predictor.scores(estimates.mean),
        predictor.deviations(estimates.covariance),
    )
    for n in range(3):
        alone = Estimate(estimates.mean[n], estimates.covariance[n])
        mean, spread = (numbers[profiles.order] for numbers in alone.predict(profiles))
        assert score[n] / ONE == pytest.approx(mean, abs=1 / ONE)
        assert deviation[n] / ONE == pytest.approx(spread, abs=1 / ONE)
        assert score[n] / ONE != pytest.approx(mean[::-1], abs=1 / ONE)  # the control


def test_deviations_of_some_items_are_those_of_all(
    profiles: ItemProfiles, estimates: Estimate
) -> None:
    predictor, at = Predictor(profiles), np.array([2, 7, 30])
    some = predictor.deviations_at(at, estimates.covariance[1])
    assert np.abs(some - predictor.deviations(estimates.covariance)[1, at]).max() <= 1


def test_deviations_are_the_same_without_the_table(
    profiles: ItemProfiles, estimates: Estimate, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = Predictor(profiles).deviations(estimates.covariance)
    monkeypatch.setattr("midpoint.analyst.score.predictions.PRODUCTS", 0)
    without = Predictor(profiles)
    assert np.abs(without.deviations(estimates.covariance) - expected).max() <= 1
    assert without._products is None
