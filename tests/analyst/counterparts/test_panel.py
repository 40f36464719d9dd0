from pathlib import Path

import numpy as np
import pytest

from midpoint.analyst.counterparts import panel
from midpoint.analyst.counterparts.checkpoint import Checkpoint
from midpoint.analyst.counterparts.panel import ByUser, Group, Totals, is_taken, keys_of, uniform
from midpoint.data import Feature, Ratings


def everyone_of(ratings: Ratings) -> ByUser:
    codes = np.where(np.arange(150) % 5 == 0, -1, ratings.feature("kind").codes)
    return ByUser.of(ratings, Feature("kind", ("a", "b"), codes.astype(np.int16)))


def counted(group: Group) -> Totals:
    size = np.bincount(group.category, minlength=2)
    category = np.repeat(group.category, np.diff(group.offsets))
    total = np.bincount(category, group.value, 2).astype(np.float64)
    return Totals(size, total[:, None], np.zeros((2, 1, 1)))


def test_keys_depend_on_name_and_seed_alone() -> None:
    assert keys_of([7, "ann"], 0).tolist() == keys_of(["7", "ann"], 0).tolist()
    assert keys_of(["ann", "7"], 0).tolist() == keys_of(["7", "ann"], 0)[::-1].tolist()
    assert keys_of(["ann"], 0) != keys_of(["ann"], 1)
    assert keys_of([], 0).dtype == np.uint64
    # BLAKE2b-64 of "0", a zero byte and "ann", by another program.
    assert keys_of(["ann"], 0).tolist() == [0xF103E5F033E51BAC]


def test_draws_are_uniform_and_of_each_rating_its_own() -> None:
    key = keys_of(range(4000), 0)
    for more in (None, np.arange(4000, dtype=np.uint64), np.full(4000, 3, np.uint64)):
        draws = np.sort(uniform(key, more))
        assert np.abs(draws - np.arange(4000) / 4000).max() < 0.03  # Kolmogorov and Smirnov
    one, other = uniform(key), uniform(key, np.ones(4000, np.uint64))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.06
    alone = uniform(np.repeat(key[:1], 4000), np.arange(4000, dtype=np.uint64))
    assert np.abs(np.sort(alone) - np.arange(4000) / 4000).max() < 0.03


def test_a_share_of_each_category_is_taken() -> None:
    key, category = keys_of(range(4000), 0), np.arange(4000) % 3 - 1
    taken = is_taken(key, category, np.array([0.25, 1.0]))
    assert not taken[category < 0].any()
    assert taken[category == 1].all()
    assert taken[category == 0].mean() == pytest.approx(0.25, abs=0.04)


def test_thinning_keeps_a_share_and_at_least_one(few: Ratings) -> None:
    group = everyone_of(few)._group(0, 150)
    thin = group.thinned(0.5, 1.0)
    assert 0.7 < len(thin.item) / len(group.item) < 0.8
    assert len(thin.offsets) == len(group.offsets)
    assert (np.diff(group.thinned(0.0, 0.0).offsets) == 1).all()
    assert group.thinned(1.0, 1.0).item.tolist() == group.item.tolist()
    # A person's own ratings decide, no matter who else is there.
    half = everyone_of(few)._group(75, 150).thinned(0.5, 1.0)
    begin = thin.offsets[len(thin.key) - len(half.key)]
    assert half.item.tolist() == thin.item[begin:].tolist()
    assert half.value.tolist() == thin.value[begin:].tolist()


@pytest.mark.parametrize(("people", "ratings"), [(8192, 2**21), (40, 2**21), (8192, 300), (1, 1)])
def test_everyone_of_known_category_is_in_one_group(
    few: Ratings, people: int, ratings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "PEOPLE_AT_ONCE", people)
    monkeypatch.setattr(panel, "RATINGS_AT_ONCE", ratings)
    everyone, groups, shares = everyone_of(few), list[Group](), list[float]()

    def look(group: Group) -> Totals:
        groups.append(group)
        return counted(group)

    total = everyone.add_up(look, Checkpoint(), shares.append)
    whole = everyone.take(np.ones(2))
    assert total.size.tolist() == whole.sizes.tolist()
    assert total.away.sum() == whole.value.sum()
    assert shares[-1] == 1
    assert shares == sorted(shares)
    assert all(len(group.key) <= people for group in groups)
    assert all(len(group.item) <= ratings or len(group.key) == 1 for group in groups)


def test_a_killed_sum_goes_on_after_what_is_kept(
    few: Ratings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "PEOPLE_AT_ONCE", 40)
    everyone, groups = everyone_of(few), list[Group]()

    def look(group: Group) -> Totals:
        if len(groups) == 2:
            groups.clear()
            raise KeyboardInterrupt
        groups.append(group)
        return counted(group)

    with pytest.raises(KeyboardInterrupt):
        everyone.add_up(look, Checkpoint(tmp_path, "one"), lambda _share: None)
    total = everyone.add_up(look, Checkpoint(tmp_path, "one"), lambda _share: None)
    assert len(groups) == 2  # of four
    expected = everyone.add_up(counted, Checkpoint(), lambda _share: None)
    assert total.away.tolist() == expected.away.tolist()
    assert total.size.tolist() == expected.size.tolist()
    again = everyone.add_up(counted, Checkpoint(tmp_path, "another"), lambda _share: None)
    assert again.size.tolist() == expected.size.tolist()
