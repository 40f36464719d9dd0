from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from midpoint.audit.run.folds import (
    FoldData,
    FoldProfiles,
    audited_people,
    first_comers,
    learn,
    one_against_rest,
)
from midpoint.data import Feature, Simulation
from midpoint.errors import MidpointError
from tests.support.audits.small_audit import PLAN


def test_each_user_is_held_out_once(tiny: Simulation) -> None:
    folds = [FoldData.of(tiny.ratings, PLAN, number) for number in range(2)]
    held_out = [set(one.given.user_ids.tolist()) for one in folds]
    assert held_out[0] | held_out[1] == set(tiny.ratings.user_ids.tolist())
    assert not held_out[0] & held_out[1]
    for one, ids in zip(folds, held_out, strict=True):
        assert not ids & set(one.training.user_ids.tolist())
        assert len(one.given) + len(one.hidden) + len(one.training) == len(tiny.ratings)


def test_held_out_ratings_are_split_the_same_in_any_company(tiny: Simulation) -> None:
    fewer = tiny.ratings.select_users(np.arange(tiny.ratings.n_users) != 0)
    number = {str(user): k for k in (0, 1) for user in FoldData.of(fewer, PLAN, k).given.user_ids}
    user = next(iter(number))
    without = FoldData.of(fewer, PLAN, number[user]).given
    again = next(
        one
        for k in (0, 1)
        if user in (one := FoldData.of(tiny.ratings, PLAN, k).given).user_ids.tolist()
    )
    rated = [
        one.item[one.of_user(one.user_ids.tolist().index(user))].tolist()
        for one in (without, again)
    ]
    assert rated[0] == rated[1]


def test_profiles_for_cross_fitting_leave_their_part_out(
    fold: FoldData, profiles: FoldProfiles
) -> None:
    def users(one: int | None) -> int:
        learned = profiles.whole if one is None else profiles.without[one]
        assert learned.statistics is not None
        return int(learned.statistics.users.sum())

    sizes = np.bincount(fold.part)
    assert users(None) == fold.training.n_users
    assert [users(p) for p in range(3)] == [fold.training.n_users - size for size in sizes]


def test_profiles_come_back_from_disk(
    fold: FoldData, profiles: FoldProfiles, tmp_path: Path
) -> None:
    directory = tmp_path / "fold"
    profiles.save(directory)
    again = FoldProfiles.load(directory, fold)
    assert np.array_equal(again.whole.vectors, profiles.whole.vectors)
    assert np.array_equal(again.without[2].vectors, profiles.without[2].vectors)
    assert len(again.without_two) == 3
    for two, found in again.without_two.items():
        assert np.array_equal(found.vectors, profiles.without_two[two].vectors)


def test_people_of_unknown_category_are_left_out(tiny: Simulation) -> None:
    feature = tiny.ratings.features["gender"]
    codes = feature.codes.copy()
    codes[:20] = -1
    ratings = tiny.ratings.with_feature(Feature("gender", feature.categories, codes))
    people, known = audited_people(ratings, PLAN)
    assert people.n_users == tiny.ratings.n_users - 20
    assert known.known.all()


def test_too_few_people_for_the_folds_are_refused(tiny: Simulation) -> None:
    feature = tiny.ratings.features["gender"]
    codes = np.zeros_like(feature.codes)
    codes[:3] = 1
    ratings = tiny.ratings.with_feature(Feature("gender", feature.categories, codes))
    with pytest.raises(MidpointError, match=r"has 3 people of gender 'M'"):
        audited_people(ratings, PLAN)


def test_questions_are_one_for_two_categories_and_each_for_three() -> None:
    category = np.array([0, 1, 2, 1])
    assert [(k, ones.tolist()) for k, ones in one_against_rest(category % 2, 2)] == [
        (1, [0, 1, 0, 1])
    ]
    assert [(k, ones.tolist()) for k, ones in one_against_rest(category, 3)] == [
        (0, [1, 0, 0, 0]),
        (1, [0, 1, 0, 1]),
        (2, [0, 0, 1, 0]),
    ]


def test_early_profiles_are_of_those_who_came_first(fold: FoldData) -> None:
    early = learn(fold, early=True)
    assert early.whole.statistics is not None
    assert early.whole.statistics.users.sum() == fold.first_half.sum()
    assert fold.first_half.sum() == (fold.training.n_users + 1) // 2
    apart = early.without_parts(frozenset({0, 2}))
    assert apart.statistics is not None
    assert apart.statistics.users.sum() == (fold.first_half & (fold.part == 1)).sum()
    assert early.without_parts(frozenset()) is early.whole


def test_first_comers_follow_times_where_they_are_known(tiny: Simulation) -> None:
    ratings = tiny.ratings.select_users(np.arange(tiny.ratings.n_users) < 7)
    timed = replace(ratings, time=(100 - ratings.user).astype(np.int64))
    assert first_comers(timed, 0).tolist() == [False] * 3 + [True] * 4
    drawn = [first_comers(ratings, seed).tolist() for seed in (0, 1)]
    assert drawn[0] != drawn[1]
    assert [sum(half) for half in drawn] == [4, 4]


def test_split_by_time_nothing_later_teaches_or_is_attacked(tiny: Simulation) -> None:
    """The control is the random split, under which later ratings teach."""
    when = np.random.default_rng(0).integers(0, 1000, len(tiny.ratings))
    when[tiny.ratings.user == 0] = 999  # somebody who came late
    people, _ = audited_people(replace(tiny.ratings, time=when), plan := replace(PLAN, until=700))
    assert people.n_users == tiny.ratings.n_users - 1
    assert "1 person who rated nothing before 1970-01-01 (--split time)" in people.left_out
    fold, control = FoldData.of(people, plan, 0), FoldData.of(people, PLAN, 0)
    for part in (fold.training, fold.given, fold.attacked):
        assert part.time is not None
        assert part.time.max() < 700
    assert fold.hidden.time is not None
    assert fold.hidden.time.min() >= 700
    assert control.training.time is not None
    assert control.training.time.max() >= 700
    assert [len(part.user) for part in fold.thinned[0]] == [len(fold.of_part(p)) for p in range(3)]


def test_a_split_by_time_does_not_give_all() -> None:
    with pytest.raises(MidpointError, match="leave out --given all"):
        replace(PLAN, until=1, share=1.0)
