"""Level tables, and what becomes of fine scales: devices report on few levels."""

from dataclasses import replace

import numpy as np
import pytest

import midpoint as mp
from midpoint.analyst import disclose
from midpoint.analyst.disclose.levels import level_table
from midpoint.analyst.score.weights import coin_noise
from midpoint.audit.attackers.auc import auc
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol
from midpoint.wire import ONE, from_fixed
from tests.support.people.position_world import the_positions
from tests.support.people.scale_use import (
    learned_from,
    population,
    reported,
    round_people,
    spread_of,
    spread_people,
)


def test_round_numbers_show_and_few_levels_hide_them() -> None:
    """The same people, attacked by how round their values are, how many, and how far apart."""
    profiles = learned_from(round_people(1600, 0), "dmp")
    people = population(round_people(1600, 1))

    def read(how: LearningProtocol) -> float:
        sent = reported(how, profiles, people)
        rows = sent.value.reshape(people.n_users, -1)
        views = (
            (rows % 10 == 0).mean(axis=1),
            np.array([len(np.unique(row)) for row in rows]),
            spread_of(sent, profiles),
        )
        return max(abs(auc(view, people.category) - 0.5) for view in views)

    assert read(LearningProtocol("no")) > 0.35
    assert read(LearningProtocol("dmp")) > 0.3
    assert read(LearningProtocol("dmp", levels=5)) < 0.15


def test_every_level_that_is_reported_is_one_of_the_few_and_the_mean_is_kept() -> None:
    profiles, people = learned_from(round_people(400, 0), "dmp"), population(round_people(400, 1))
    whole = reported(LearningProtocol("dmp"), profiles, people).value
    few = reported(LearningProtocol("dmp", levels=5), profiles, people).value
    assert set(np.unique(few)) == {0, 25, 50, 75, 100}
    assert len(np.unique(whole)) > 50
    assert few.mean() == pytest.approx(whole.mean(), abs=4 * 12.5 / np.sqrt(len(few)))


def test_the_coin_between_few_levels_counts_as_noise() -> None:
    profiles = learned_from(round_people(400, 0), "dmp")
    noise = [coin_noise(disclose(profiles, f"dmp{levels}")) for levels in ("", ":levels=5")]
    people = population(round_people(400, 1))
    sent = [
        reported(LearningProtocol("dmp", levels=levels), profiles, people).value
        for levels in (None, 5)
    ]
    added = np.square(sent[1] - sent[0]).mean()
    assert (noise[1] - noise[0]).mean() == pytest.approx(added, rel=0.15)


def test_from_training_to_recommendations_on_few_levels() -> None:
    """She rates on all levels and is shown predictions on them; her report says one of five."""
    analyst = mp.Analyst.train(round_people(300, 0), "kind", scheme="dmp:levels=5", progress=False)
    assert analyst.profiles.scheme == "dmp:levels=5"
    device = mp.Device(analyst.published, kind="a", agree_to_show_rated=True)
    rated = {f"i{j:03}": 37 + j for j in range(25)}
    report = device.protect(rated)
    assert {value / ONE for _, value in report.answers} <= {0, 25, 50, 75, 100}
    assert len(report.answers) == 25
    ranked = device.rank(analyst.score(report))
    assert len(ranked) == 5
    assert any(row.stars % 25 for row in ranked)


def test_tables_of_scaled_residuals_are_distributions_with_the_same_means() -> None:
    profiles = learned_from(spread_people(1200, 0, (0.1, 0.45)), "cmp")
    estimates = profiles.estimates()
    plain, scaled = (level_table(profiles, estimates, spread=on) for on in (False, True))
    assert scaled.sum(axis=2) == pytest.approx(np.ones(scaled.shape[:2]))
    levels = np.array(profiles.scale.levels)
    assert scaled @ levels == pytest.approx(plain @ levels, abs=0.1)
    assert np.abs(scaled - plain).max() > 0.01
    count = the_positions(profiles).level_count
    assert count is not None
    assert profiles.statistics is not None
    assert count.sum(axis=2) == pytest.approx(profiles.statistics.count)
    frequencies = level_table(profiles, profiles.estimates("plain"), spread=True)
    assert frequencies == pytest.approx(count / count.sum(axis=2, keepdims=True))


def test_a_model_without_spreads_says_what_to_do() -> None:
    profiles = learned_from(spread_people(200, 0, (0.1, 0.1)), "cmp")
    old = replace(
        profiles, positions=replace(the_positions(profiles), spread=None, level_count=None)
    )
    assert disclose(old, "cmp") == disclose(profiles, "cmp")
    with pytest.raises(MidpointError, match="train it again with --spread"):
        disclose(old, "cmp:spread=on")
    with pytest.raises(MidpointError, match="train it again with --spread"):
        level_table(old, old.estimates(), spread=True)


def test_without_settings_nothing_is_said_of_levels_or_spreads() -> None:
    profiles = learned_from(spread_people(200, 0, (0.1, 0.1)), "cmp")
    plain, spread = disclose(profiles, "cmp"), disclose(profiles, "cmp:spread=on:levels=3")
    assert b"reported" not in plain.raw
    assert b"spread" not in plain.raw
    assert spread.prior is not None
    assert from_fixed(spread.scale.reported or ()).tolist() == [1, 5, 9]
    assert np.array(spread.prior.spread).shape == (1, 2, 2)
