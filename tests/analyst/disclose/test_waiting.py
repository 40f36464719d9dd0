"""How many panel answers an item needs before devices reveal it, held to thinned panels."""

from bisect import bisect_left
from dataclasses import replace

import numpy as np
import pytest

from midpoint.analyst import Factorizer, ItemProfiles
from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.disclose.leak import LeakBudget
from midpoint.analyst.disclose.waiting import waiting
from midpoint.data import PRESETS, simulate
from tests.support.tables.two_kinds import two_kinds

LEAK = 0.8


def thinned(profiles: ItemProfiles, item: int, answers: int) -> ItemProfiles:
    """Return a model of a panel that gave fewer answers about one item, in the same proportions."""
    counted = profiles.statistics
    assert isinstance(counted, CategoryStatistics)
    share = answers / counted.count[item].sum()
    count, total, square = counted.count.copy(), counted.total.copy(), counted.square.copy()
    count[item] = np.rint(count[item] * share)
    total[item], square[item] = total[item] * share, square[item] * share
    fewer = replace(counted, count=count, total=total, square=square)
    return replace(profiles, statistics=fewer)


def kept(profiles: ItemProfiles, item: int) -> bool:
    return bool(LeakBudget(profiles).within(LEAK).keep[item] >= 0.5)


def test_an_item_is_revealed_from_about_as_many_answers_on_as_are_said() -> None:
    whole = two_kinds().first
    now = waiting(whole, LEAK)
    assert whole.statistics is not None
    known = [j for j in np.argsort(-now.answers) if not now.waits[j]][:6]
    ratios = []
    for item in map(int, known):
        few = max(int(now.answers[item]) // 5, 4)
        said = int(waiting(thinned(whole, item, few), LEAK).needed[item])
        grid = range(few, int(now.answers[item]) + 1)
        enough = grid[bisect_left(grid, True, key=lambda n: kept(thinned(whole, item, n), item))]
        ratios.append(said / enough)
    assert 0.7 < np.median(ratios) < 1.4
    assert min(ratios) > 0.4
    assert max(ratios) < 2.5


def test_what_waits_needs_more_than_it_has_and_what_is_kept_does_not() -> None:
    profiles = two_kinds().first
    found = waiting(profiles, LEAK)
    assert 0 < found.waits.sum() < profiles.n_items
    short = (found.needed > found.answers) | (found.needed == -1)
    assert np.mean(short[found.waits]) > 0.95
    assert not short[~found.waits].any()
    people = profiles.statistics.users.sum() if profiles.statistics else 0
    assert found.needed.max() <= people
    words = found.words(profiles.item_names)
    first = found.ask_next[0]
    assert f"{found.waits.sum()} of {profiles.n_items} items wait" in words
    assert f"(has {found.answers[first]}, needs {found.needed[first]})" in words


def test_a_smaller_budget_asks_for_more_answers_and_none_for_nothing() -> None:
    profiles = two_kinds().first
    tight, loose = waiting(profiles, 0.6), waiting(profiles, 0.8)
    assert tight.waits.sum() > loose.waits.sum()
    both = (tight.needed >= 0) & (loose.needed >= 0)
    assert (tight.needed[both] >= loose.needed[both]).mean() > 0.95
    free = waiting(profiles, 0.99)  # more than all items together leak
    assert not free.waits.any()
    assert free.words(profiles.item_names) == ""
    assert np.array_equal(free.needed, free.answers)


def test_without_a_feature_nothing_waits() -> None:
    profiles = replace(two_kinds().first, statistics=None)
    with pytest.raises(Exception, match="private feature"):
        waiting(profiles, LEAK)


def test_items_of_sets_wait_for_how_often_they_are_used_alone() -> None:
    plays = replace(PRESETS["simulated-plays"], users=240, items=60, ratings=4_000)
    profiles = Factorizer(dimension=4, iterations=4).fit(simulate(plays, seed=1).ratings, "gender")
    found = waiting(replace(profiles, scheme="dmpss"), 0.55)
    assert 0 < found.waits.sum() < profiles.n_items
    assert (found.needed[found.needed >= 0] >= found.answers[found.needed >= 0]).all()
    assert "items wait" in found.words(profiles.item_names)
