import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data import Feature, Ratings, Scale
from midpoint.data.simulation import PRESETS, simulate
from midpoint.data.split import (
    hold_out,
    split_at_random,
    split_by_time,
    split_moment,
    split_ratings,
    user_folds,
)
from midpoint.errors import MidpointError

TINY = simulate(PRESETS["simulated-tiny"]).ratings


def of_counts(counts: list[int]) -> Ratings:
    """Users of so many ratings each."""
    user = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    item = np.concatenate([np.arange(n, dtype=np.int32) for n in counts])
    names = np.arange(max(counts, default=0)).astype(np.str_)
    return Ratings(
        user=user,
        item=item,
        value=np.ones(len(user), dtype=np.float32),
        scale=Scale.stars(1, 5),
        user_ids=np.array([f"user {i}" for i in range(len(counts))]),
        item_ids=names,
        item_names=names,
    )


def pairs(ratings: Ratings) -> set[tuple[str, str]]:
    users = ratings.user_ids[ratings.user].tolist()
    return set(zip(users, ratings.item_ids[ratings.item].tolist(), strict=True))


@given(st.integers(2, 200), st.integers(2, 12), st.integers(0, 2**63))
def test_folds_are_balanced(n_users: int, folds: int, seed: int) -> None:
    folds = min(folds, n_users)
    sizes = np.bincount(user_folds(n_users, folds, seed=seed), minlength=folds)
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1


@given(
    st.lists(st.sampled_from(["a", "b", "c", None]), min_size=4, max_size=200),
    st.integers(2, 4),
    st.integers(0, 100),
)
def test_stratified_folds_balance_every_category(
    labels: list[str | None], folds: int, seed: int
) -> None:
    feature = Feature.from_labels("f", labels)
    fold = user_folds(len(labels), folds, seed=seed, feature=feature)
    strata = [feature.codes == k for k in range(-1, len(feature.categories))]
    for stratum in [np.ones(len(labels), dtype=np.bool_), *strata]:
        sizes = np.bincount(fold[stratum], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


def test_folds_without_a_feature_do_not_balance_it() -> None:
    feature = Feature.from_labels("f", ["a", "b"] * 100)
    spread = []
    for chosen in (None, feature):
        fold = user_folds(200, 10, seed=1, feature=chosen)
        spread.append(np.ptp(np.bincount(fold[feature.codes == 0], minlength=10)))
    assert spread[0] > 1 >= spread[1]


def test_folds_follow_the_seed() -> None:
    first = user_folds(100, seed=1)
    assert np.array_equal(first, user_folds(100, seed=1))
    assert not np.array_equal(first, user_folds(100, seed=2))
    assert not np.array_equal(np.sort(first), first)


@pytest.mark.parametrize(("n_users", "folds"), [(10, 1), (10, 11), (1, 2)])
def test_impossible_folds_are_refused(n_users: int, folds: int) -> None:
    with pytest.raises(MidpointError, match="cannot split"):
        user_folds(n_users, folds, seed=0)


def test_held_out_users_are_not_in_training() -> None:
    folds = user_folds(TINY.n_users, 10, seed=0)
    seen: set[str] = set()
    for k in range(10):
        training, held_out = hold_out(TINY, folds, k)
        assert not set(training.user_ids) & set(held_out.user_ids)
        assert training.n_items == held_out.n_items == TINY.n_items
        assert pairs(training) | pairs(held_out) == pairs(TINY)
        seen |= set(held_out.user_ids.tolist())
    assert seen == set(TINY.user_ids.tolist())


def test_folds_must_fit_and_hold_someone() -> None:
    with pytest.raises(MidpointError, match="do not fit"):
        hold_out(TINY, np.zeros(3, dtype=np.int64), 0)
    with pytest.raises(MidpointError, match="fold 10 holds 0"):
        hold_out(TINY, user_folds(TINY.n_users, 10, seed=0), 10)
    with pytest.raises(MidpointError, match="not of these"):
        user_folds(3, 2, seed=0, feature=Feature.from_labels("f", ["a", "b"]))


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=20),
    st.floats(0.01, 0.99),
    st.integers(0, 2**64 - 1),
)
def test_each_user_gives_her_share(counts: list[int], share: float, seed: int) -> None:
    ratings = of_counts(counts)
    given_part, hidden = split_ratings(ratings, share, seed=seed)
    assert pairs(given_part).isdisjoint(pairs(hidden))
    assert pairs(given_part) | pairs(hidden) == pairs(ratings)
    got = np.diff(given_part.user_offsets)
    for n, count in zip(counts, got.tolist(), strict=True):
        if n < 2:
            assert count == n
        else:
            assert 1 <= count <= n - 1
            assert abs(count - share * n) <= 0.5 or count in {1, n - 1}


def test_a_users_split_does_not_depend_on_who_else_is_there() -> None:
    whole = split_ratings(TINY, seed=3).given
    folds = user_folds(TINY.n_users, 7, seed=0)
    for k in range(7):
        part = hold_out(TINY, folds, k).held_out
        alone = split_ratings(part, seed=3).given
        assert pairs(alone) == {
            (user, item) for user, item in pairs(whole) if user in set(part.user_ids.tolist())
        }


def test_a_users_split_does_not_depend_on_items_she_did_not_rate() -> None:
    user = TINY.select_users(np.array([5]))
    trimmed = user.select_items(np.unique(user.item))
    assert trimmed.n_items < user.n_items
    assert pairs(split_ratings(user, seed=3).given) == pairs(split_ratings(trimmed, seed=3).given)


def test_padding_of_names_does_not_count() -> None:
    longer = of_counts([30, 30])
    padded = Ratings(
        **{
            **{field: getattr(longer, field) for field in longer.__dataclass_fields__},
            "user_ids": longer.user_ids.astype("U90"),
        }
    )
    assert pairs(split_ratings(longer, seed=0).given) == pairs(split_ratings(padded, seed=0).given)


def test_splits_follow_the_seed_and_differ_between_users() -> None:
    ratings = of_counts([40] * 50)
    first = split_ratings(ratings, seed=1).given
    assert pairs(first) == pairs(split_ratings(ratings, seed=1).given)
    assert pairs(first) != pairs(split_ratings(ratings, seed=2).given)
    sets = {tuple(first.item[first.of_user(i)]) for i in range(50)}
    assert len(sets) == 50


def test_every_rating_is_given_equally_often() -> None:
    # 2000 users of ten ratings, seven given: each item 1400 times, give or take 20.
    ratings = of_counts([10] * 2000)
    for seed in range(3):
        times = np.bincount(split_ratings(ratings, seed=seed).given.item)
        assert np.abs(times - 1400).max() < 5 * np.sqrt(2000 * 0.7 * 0.3)


def test_pairs_of_ratings_are_given_together_as_often_as_they_should() -> None:
    # Without replacement: P(both given) = 7/10 x 6/9.
    ratings = of_counts([10] * 4000)
    chosen = np.zeros((4000, 10))
    part = split_ratings(ratings, seed=0).given
    chosen[part.user, part.item] = 1
    together = (chosen.T @ chosen)[~np.eye(10, dtype=np.bool_)] / 4000
    assert np.abs(together - 7 / 15).max() < 5 * np.sqrt(0.25 / 4000)


def test_a_random_split_is_of_the_asked_size_and_by_seed() -> None:
    given_part, hidden = split_at_random(TINY, seed=0)
    assert len(given_part) == round(0.9 * len(TINY))
    assert pairs(given_part) | pairs(hidden) == pairs(TINY)
    assert pairs(given_part).isdisjoint(pairs(hidden))
    assert pairs(given_part) == pairs(split_at_random(TINY, seed=0).given)
    assert pairs(given_part) != pairs(split_at_random(TINY, seed=1).given)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_of_all_or_nothing_is_refused(share: float) -> None:
    for split in (split_ratings, split_at_random):
        with pytest.raises(MidpointError, match="between 0 and 1"):
            split(TINY, share, seed=0)


def test_no_ratings_split_into_none() -> None:
    given_part, hidden = split_ratings(of_counts([0, 0]), seed=0)
    assert len(given_part) == len(hidden) == 0


def timed(ratings: Ratings, seed: int = 0) -> Ratings:
    when = np.random.default_rng(seed).integers(10**9, 10**9 + 10**6, len(ratings))
    return replace(ratings, time=when)


def test_a_split_by_time_is_the_same_moment_for_everybody() -> None:
    ratings = timed(TINY)
    earlier, later = split_by_time(ratings, split_moment(ratings, 0.7))
    assert earlier.time is not None
    assert later.time is not None
    assert earlier.time.max() < later.time.min()
    assert len(earlier) == pytest.approx(0.7 * len(ratings), abs=1)
    assert pairs(earlier) | pairs(later) == pairs(TINY)


def test_a_split_by_time_leaves_something_on_both_sides_if_it_can() -> None:
    ratings = of_counts([5])
    for when in ([7, 7, 7, 7, 8], [6, 7, 7, 7, 7]):
        split = split_by_time(both := replace(ratings, time=np.array(when)), split_moment(both))
        assert len(split.given) * len(split.hidden) == 4


@pytest.mark.parametrize(
    ("when", "says"),
    [
        (None, "has no times.*--time-column, or leave out --split time"),
        ([7] * 5, "have the same time"),
        ([1, 2, 3, 4, int(time.time()) + 10**7], "1 times are in the future"),
    ],
)
def test_times_that_cannot_split_are_refused(when: list[int] | None, says: str) -> None:
    ratings = replace(of_counts([5]), time=None if when is None else np.array(when))
    with pytest.raises(MidpointError, match=says):
        split_moment(ratings)


def test_ratings_without_times_are_not_split_by_them() -> None:
    with pytest.raises(MidpointError, match="has no times"):
        split_by_time(TINY, 0)
