"""What to ask next is chosen by one rule, which knows what was asked and what people rate."""

from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import Evidence, Training
from midpoint.analyst.solicit.questions import next_items, rated_share
from midpoint.analyst.solicit.selection import select
from midpoint.errors import MidpointError


def test_it_is_the_selection_of_the_paper_with_prior_and_shares(trained_stars: Training) -> None:
    profiles = trained_stars.items
    statistics = profiles.statistics
    assert statistics is not None
    precision = profiles.noise_variance * np.linalg.inv(profiles.profile_covariance)
    share = statistics.count.sum(axis=1) / statistics.users.sum()
    known = Evidence.of(profiles, np.arange(5), np.full(5, 3.0)).information
    chosen = next_items(profiles, 6, information=known, certified=True)
    expected = select(
        profiles.vectors,
        6,
        start=known,
        prior=precision,
        weights=share,
        candidates=profiles.informative,
    )
    assert chosen.items.tolist() == expected.items.tolist()
    assert chosen.loss == pytest.approx(expected.loss, rel=1e-12)
    assert chosen.gap == pytest.approx(expected.gap, rel=1e-9)
    alike = next_items(profiles, 6, weighted=False, with_prior=False)
    assert alike.loss != pytest.approx(expected.loss, rel=1e-3)


def test_what_was_touched_is_not_asked_again(trained_stars: Training) -> None:
    profiles = trained_stars.items
    first = profiles.item_ids[next_items(profiles, 8).items].tolist()
    second = profiles.item_ids[next_items(profiles, 8, touched=first).items].tolist()
    assert len(second) == 8
    assert not set(first) & set(second)


def test_items_whose_reports_say_nothing_are_not_asked_before_others(
    trained_stars: Training,
) -> None:
    profiles = trained_stars.items
    first = next_items(profiles, 8).items
    weights = np.ones(profiles.n_items)
    weights[first] = 1e-6
    assert not set(first) & set(next_items(profiles, 8, report_weights=weights).items)


def test_shares_are_of_the_whole_panel_and_need_one(trained_stars: Training) -> None:
    profiles = trained_stars.items
    statistics = profiles.statistics
    assert statistics is not None
    assert np.array_equal(
        np.rint(rated_share(profiles) * statistics.users.sum()), statistics.count.sum(axis=1)
    )
    alone = replace(profiles, statistics=None)
    with pytest.raises(MidpointError, match="counted only for a private feature"):
        next_items(alone, 5)
    assert len(next_items(alone, 5, weighted=False).items) == 5
