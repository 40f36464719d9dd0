import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data import Feature, Origin, Ratings, Scale
from midpoint.errors import MidpointError

Naive = dict[tuple[str, str], float]
"""The naive implementation: a rating by user and item."""

TABLES = st.dictionaries(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("uvwxyz")),
    st.integers(1, 5).map(float),
    min_size=1,
)
GENDER = {"a": "F", "b": "M", "c": "F", "d": None, "e": "M", "f": None}


def build(table: Naive) -> Ratings:
    return Ratings.from_columns(
        [user for user, _ in table],
        [item for _, item in table],
        list(table.values()),
        scale=Scale.stars(1, 5),
        features={"gender": GENDER},
        time=[ord(user) * 1000 + ord(item) for user, item in table],
    )


def naive(ratings: Ratings) -> Naive:
    return {
        (str(ratings.user_ids[i]), str(ratings.item_ids[j])): float(r)
        for i, j, r in zip(ratings.user, ratings.item, ratings.value, strict=True)
    }


def require_sorted(ratings: Ratings) -> None:
    pairs = list(zip(ratings.user.tolist(), ratings.item.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert ratings.time is not None
    for i, j, t in zip(ratings.user, ratings.item, ratings.time, strict=True):
        assert t == ord(ratings.user_ids[i]) * 1000 + ord(ratings.item_ids[j])


def small() -> Ratings:
    return build({("b", "x"): 2.0, ("a", "y"): 4.0, ("a", "x"): 1.0, ("d", "z"): 5.0})


@given(TABLES)
def test_building_keeps_every_rating(table: Naive) -> None:
    ratings = build(table)
    assert naive(ratings) == table
    assert ratings.user_ids.tolist() == sorted({user for user, _ in table})
    assert ratings.item_ids.tolist() == sorted({item for _, item in table})
    require_sorted(ratings)


@given(TABLES)
def test_slices_by_user_and_by_item_agree_with_a_dictionary(table: Naive) -> None:
    ratings = build(table)
    for i, name in enumerate(ratings.user_ids.tolist()):
        own = ratings.of_user(i)
        items = ratings.item_ids[ratings.item[own]].tolist()
        assert dict(zip(items, ratings.value[own].tolist(), strict=True)) == {
            item: r for (user, item), r in table.items() if user == name
        }
    for j, name in enumerate(ratings.item_ids.tolist()):
        positions = ratings.of_item(j)
        assert np.all(np.diff(positions) > 0)
        users = ratings.user_ids[ratings.user[positions]].tolist()
        assert dict(zip(users, ratings.value[positions].tolist(), strict=True)) == {
            user: r for (user, item), r in table.items() if item == name
        }


@given(TABLES, st.data())
def test_selections_agree_with_a_dictionary(table: Naive, data: st.DataObject) -> None:
    ratings = build(table)
    users = set(data.draw(st.lists(st.sampled_from(ratings.user_ids.tolist()))))
    items = set(data.draw(st.lists(st.sampled_from(ratings.item_ids.tolist()))))
    mask = np.isin(ratings.user_ids, sorted(users))
    chosen = ratings.select_users(mask)
    assert naive(chosen) == {pair: r for pair, r in table.items() if pair[0] in users}
    assert chosen.user_ids.tolist() == sorted(users)
    assert chosen.item_ids.tolist() == ratings.item_ids.tolist()
    gender = chosen.feature("gender")
    labels = [gender.categories[k] if k >= 0 else None for k in gender.codes]
    assert labels == [GENDER.get(user) for user in sorted(users)]
    require_sorted(chosen)
    by_index = ratings.select_users(np.flatnonzero(mask))
    assert by_index.digest == chosen.digest

    both = chosen.select_items(np.isin(ratings.item_ids, sorted(items)))
    assert naive(both) == {
        pair: r for pair, r in table.items() if pair[0] in users and pair[1] in items
    }
    assert both.item_ids.tolist() == both.item_names.tolist() == sorted(items)
    require_sorted(both)


@given(TABLES)
def test_selecting_ratings_keeps_users_and_items(table: Naive) -> None:
    ratings = build(table)
    high = ratings.select_ratings(ratings.value > 3)
    assert naive(high) == {pair: r for pair, r in table.items() if r > 3}
    assert (high.n_users, high.n_items) == (ratings.n_users, ratings.n_items)
    assert high.user_offsets[-1] == high.by_item.offsets[-1] == len(high)
    positions = np.flatnonzero(ratings.value > 3)
    assert naive(ratings.select_ratings(positions)) == naive(high)


@pytest.mark.parametrize("positions", [[1, 0], [0, 0]])
def test_a_selection_that_would_unsort_or_repeat_is_refused(positions: list[int]) -> None:
    ratings, chosen = small(), np.array(positions)
    for select in (ratings.select_ratings, ratings.select_users, ratings.select_items):
        with pytest.raises(MidpointError, match="ascending"):
            select(chosen)


def test_whole_numbers_are_ordered_as_numbers_and_words_as_words() -> None:
    numbers = Ratings.from_columns([10, 9, 10], [1, 1, 2], [1, 2, 3])
    words = Ratings.from_columns(["10", "9", "10"], ["1", "1", "2"], [1, 2, 3])
    assert numbers.user_ids.tolist() == ["9", "10"]
    assert words.user_ids.tolist() == ["10", "9"]
    assert naive(numbers) == naive(words)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.uint64, np.int64])
def test_numbers_of_any_width_are_names(dtype: type[np.integer[Any]]) -> None:
    bounds = np.iinfo(dtype)
    users = np.array([bounds.min, bounds.max] + [0] * 100, dtype=dtype)
    items = np.arange(102)
    ratings = Ratings.from_columns(users, items, [1, 2] + [3] * 100)
    table = naive(ratings)
    assert table[str(bounds.max), "1"] == 2
    assert table[str(bounds.min), "0"] == 1
    assert len(table) == 102


def test_sparse_numbers_are_names_as_well() -> None:
    ratings = Ratings.from_columns([10**12, 5], [0, 0], [1, 2])
    assert naive(ratings) == {("5", "0"): 2, (str(10**12), "0"): 1}


def test_a_duplicate_is_named_by_file_and_line() -> None:
    with pytest.raises(MidpointError) as caught:
        Ratings.from_columns(
            ["a", "b", "a"], ["x", "x", "x"], [1, 2, 3], origin=Origin("votes.csv", first_line=2)
        )
    message = str(caught.value)
    assert "votes.csv, line 4" in message
    assert "first on line 2" in message
    assert "user a" in message
    assert "item x" in message
    assert "1 such line in all" in message
    assert "keep one" in message


def test_what_is_no_rating_and_who_is_no_user_is_named_by_row() -> None:
    with pytest.raises(MidpointError, match="ratings, row 3: rating 'z' is not a number"):
        Ratings.from_columns(["a", "b", "c"], ["x", "x", "x"], ["1", "2", "z"])
    with pytest.raises(MidpointError, match="row 2: time 'noon' is not a number"):
        Ratings.from_columns(["a", "b"], ["x", "x"], [1, 2], time=["1", "noon"])
    for nobody in (None, ""):
        users = np.array(["a", nobody, "c"], dtype=np.object_)
        with pytest.raises(MidpointError, match="row 2: there is no user"):
            Ratings.from_columns(users, ["x", "x", "x"], [1, 2, 3])
    with pytest.raises(MidpointError, match="row 1: there is no item"):
        Ratings.from_columns([1, 2], [float("nan"), 7], [1, 2])
    with pytest.raises(MidpointError, match="user column has the shape"):
        Ratings.from_columns([[1], [2]], [1, 2], [1, 2])


def test_long_numbers_keep_all_their_digits() -> None:
    for users in ([10**25, 10**25 + 1], [2**63, 2**63 + 1], [-1, 2**63 + 1], [2**63, -(2**62)]):
        ratings = Ratings.from_columns([*users, users[0]], [1, 1, 2], [1, 2, 3])
        assert set(ratings.user_ids.tolist()) == {str(user) for user in users}


def test_whole_floats_are_names_without_a_point() -> None:
    ratings = Ratings.from_columns([1.0, 2.0], [0.5, 2.0], [1, 2])
    assert ratings.user_ids.tolist() == ["1", "2"]
    assert ratings.item_ids.tolist() == ["0.5", "2.0"]


def test_names_that_do_not_rate_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    def labelled(labels: dict[str, str | None]) -> Ratings:
        return Ratings.from_columns(
            ["a", "b"], ["x", "x"], [1, 2], features={"gender": labels}, name="votes"
        )

    labelled({"a": "F", "b": "M"})
    assert not caplog.text
    labelled({"a": "F", "x": "M", "y": "M"})
    assert "votes: feature 'gender' knows nothing of 1 of 2 users, the first 'b'" in caplog.text
    assert "has 2 users without a rating, the first 'x'" in caplog.text
    with pytest.raises(MidpointError, match=r"knows none of the 2 users; it has 'x' where .* 'a'"):
        labelled({"x": "F"})


@pytest.mark.parametrize("bad", [0.0, 3.5, 6.0, float("nan"), float("inf")])
def test_a_value_off_the_scale_is_named_by_line(bad: float) -> None:
    with pytest.raises(MidpointError, match=r"votes.csv, line 2: rating .* is not on the scale"):
        Ratings.from_columns(
            ["a", "b"], ["x", "x"], [1, bad], scale=Scale.stars(1, 5), origin=Origin("votes.csv")
        )


def test_nan_is_refused_where_the_scale_is_guessed() -> None:
    with pytest.raises(MidpointError, match="row 2: rating nan is no finite"):
        Ratings.from_columns(["a", "b", "c"], ["x", "x", "x"], [1, float("nan"), 2])


def test_columns_must_be_there_and_of_one_length() -> None:
    with pytest.raises(MidpointError, match="has no ratings"):
        Ratings.from_columns([], [], [])
    with pytest.raises(MidpointError, match="differ in length"):
        Ratings.from_columns(["a", "b", "c"], ["x", "y"], [1, 2])
    for time in ([1], [1, 2, 3]):
        with pytest.raises(MidpointError, match="differ in length"):
            Ratings.from_columns(["a", "b"], ["x", "y"], [1, 2], time=time)


def test_titles_stand_in_for_names_where_there_are_any() -> None:
    ratings = Ratings.from_columns([1, 2], ["x", "y"], [1, 2], item_names={"y": "Yesterday"})
    assert ratings.item_names.tolist() == ["x", "Yesterday"]


def test_nothing_can_be_changed() -> None:
    ratings = small()
    with pytest.raises(FrozenInstanceError):
        ratings.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        ratings.features["age"] = ratings.feature("gender")  # type: ignore[index]
    for array in (ratings.user, ratings.item, ratings.value, ratings.user_ids, ratings.item_names):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


def test_the_maker_of_the_arrays_can_still_write_them() -> None:
    user, ids = np.array([0, 1], dtype=np.int32), np.array(["a", "b"])
    value = np.array([1, 2], dtype=np.float32)
    ratings = Ratings(user, user[::-1].copy(), value, Scale.stars(1, 5), ids, ids, ids)
    codes = np.array([0, 1], dtype=np.int16)
    feature = Feature("gender", ("F", "M"), codes)
    for array in (user, value, ids, codes):
        array[0] = array[0]
    assert not any(array.flags.writeable for array in (ratings.value, feature.codes))


@pytest.mark.parametrize(
    ("user", "item", "message"),
    [
        ([0, 2], [0, 1], "user 0 to 2"),
        ([-1, 0], [0, 1], "user -1 to 0"),
        ([0, 1], [0, 2], "item 0 to 2"),
        ([0, 1], [-1, 0], "item -1 to 0"),
        ([1, 0], [0, 0], "does not come after"),
        ([0, 0], [1, 0], "does not come after"),
        ([0, 0], [1, 1], "does not come after"),
    ],
)
def test_indices_that_compiled_code_must_not_follow_are_refused(
    user: list[int], item: list[int], message: str
) -> None:
    good = Ratings.from_columns(["a", "b"], ["x", "y"], [1, 2])
    with pytest.raises(MidpointError, match=message):
        replace(good, user=np.array(user, np.int32), item=np.array(item, np.int32))
    assert len(replace(good, user=np.array([0, 0], np.int32))) == 2


def test_a_feature_is_found_by_name_alone_or_joined() -> None:
    ratings = small()
    age = Feature.from_labels("age", ["old", "young", "old"])
    both = ratings.with_feature(age).feature("gender", "age")
    assert both.categories == ("F+old", "F+young", "M+old", "M+young")
    assert both.codes.tolist() == [0, 3, -1]
    assert "age" not in ratings.features
    with pytest.raises(MidpointError, match="no user feature 'age'; it has gender"):
        ratings.feature("age")
    with pytest.raises(MidpointError, match="one by one, as in --feature gender --feature age"):
        ratings.feature("gender,age")
    with pytest.raises(MidpointError, match="'gender' is named twice"):
        ratings.feature("gender", "gender")


def test_a_feature_must_be_of_these_users() -> None:
    with pytest.raises(MidpointError, match="one entry for each user"):
        small().with_feature(Feature.from_labels("age", ["old"]))


def test_the_digest_changes_with_all_that_matters_and_only_then() -> None:
    ratings = small()
    assert ratings.digest == small().digest == replace(ratings, name="other").digest
    value = ratings.value.copy()
    value[0] += 1
    gender = ratings.feature("gender")
    flipped = Feature("gender", gender.categories, np.array([1, 0, -1], dtype=np.int16))
    others = [
        replace(ratings, value=value),
        replace(ratings, scale=Scale.stars(0, 5)),
        replace(ratings, user_ids=np.array(["a", "b", "e"])),
        replace(ratings, item_ids=np.array(["x", "y", "w"])),
        ratings.with_feature(flipped),
        ratings.with_feature(replace(flipped, name="sex")),
        ratings.select_ratings(np.array([0, 1, 2])),
    ]
    digests = {other.digest for other in others}
    assert len(digests) == len(others)
    assert ratings.digest not in digests


def test_the_digest_tells_scales_apart_that_print_alike() -> None:
    even = Scale.discrete([0, 1, 2, 3, 4, 5, 6, 8])
    odd = Scale.discrete([0, 1, 2, 3, 4, 5, 7, 8])
    assert str(even) == str(odd)
    assert replace(small(), scale=even).digest != replace(small(), scale=odd).digest


def test_it_says_what_it_is() -> None:
    assert repr(small()) == (
        "<Ratings ratings: 3 users x 3 items, 4 ratings on 1 2 3 4 5; features gender>"
    )


def test_goes_to_another_process_and_back() -> None:
    ratings = Ratings.from_columns(
        ["a", "a", "b"], ["x", "y", "x"], [1, 2, 5], features={"gender": {"a": "F", "b": "M"}}
    )
    back = pickle.loads(pickle.dumps(ratings))  # noqa: S301 - our own bytes
    assert back.digest == ratings.digest
    assert back.features["gender"].categories == ("F", "M")
    assert not back.value.flags.writeable


@pytest.mark.parametrize("kind", [int, float, np.int64, np.float32, str])
def test_features_and_titles_are_found_by_number_as_well_as_by_name(
    kind: Callable[[int], Any],
) -> None:
    ratings = Ratings.from_columns(
        [0, 0, 1, 2],
        [7, 8, 7, 8],
        [1, 2, 3, 4],
        features={"gender": {kind(0): "F", kind(1): "M", kind(2): "F"}},
        item_names={kind(7): "Fargo"},
    )
    assert ratings.feature("gender").codes.tolist() == [0, 1, 0]
    assert ratings.item_names.tolist() == ["Fargo", "8"]


def test_a_user_who_is_a_number_and_a_text_is_refused() -> None:
    with pytest.raises(MidpointError, match="'gender' names a user twice"):
        Ratings.from_columns([0, 0], [1, 2], [5, 1], features={"gender": {0: "F", "0": "M"}})
