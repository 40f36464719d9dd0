"""From tables, one row a rating or a person, to `Ratings`."""

import logging

import numpy as np
import polars as pl
import pytest

from midpoint.data import Scale
from midpoint.data.origin import Origin
from midpoint.data.tables.builder import build_ratings, ratings_of_wide, row_numbers, with_people
from midpoint.errors import MidpointError

ORIGIN = Origin("table.csv")
LONG = pl.DataFrame(
    {"user": ["bo", "al", "bo"], "item": ["z", "z", "a"], "rating": [4.0, 2.0, 5.0]}
)


def test_words_are_numbered_in_sorted_order_and_keep_their_names() -> None:
    ratings = build_ratings(LONG, name="made", origin=ORIGIN, titles={"z": "Zulu"})
    assert ratings.user_ids.tolist() == ["al", "bo"]
    assert ratings.item_ids.tolist() == ["a", "z"]
    assert ratings.item_names.tolist() == ["a", "Zulu"]
    rows = zip(ratings.user, ratings.item, ratings.value, strict=True)
    assert sorted(tuple(map(float, row)) for row in rows) == [(0, 1, 2), (1, 0, 5), (1, 1, 4)]


def test_an_error_names_words_as_they_are_in_the_table() -> None:
    twice = pl.concat([LONG, LONG.head(1)])
    with pytest.raises(MidpointError, match="bo"):
        build_ratings(twice, name="made", origin=ORIGIN)
    blank = LONG.with_columns(item=pl.Series(["z", " ", "a"]))
    with pytest.raises(MidpointError, match="item"):
        build_ratings(blank, name="made", origin=ORIGIN)


@pytest.mark.parametrize(
    ("time", "kept"), [([1, 2, 3], True), ([7, 7, 7], False), ([1, None, 3], False)]
)
def test_times_that_say_nothing_are_left_out(time: list[int | None], kept: bool) -> None:
    table = LONG.with_columns(time=pl.Series(time))
    assert (build_ratings(table, name="made", origin=ORIGIN).time is not None) == kept


def test_blanks_of_a_wide_table_are_no_ratings() -> None:
    wide = pl.DataFrame({"user": [1, 2], "a": [5.0, None], "b": [None, 3.0]})
    ratings = ratings_of_wide(wide, ["a", "b"], name="made", origin=ORIGIN, scale=Scale.stars(1, 5))
    assert ratings.item_ids[ratings.item].tolist() == ["a", "b"]
    assert ratings.value.tolist() == [5, 3]
    off = wide.with_columns(b=pl.Series([None, 9.0]))
    with pytest.raises(MidpointError, match="9 in column 'b' is not on the scale"):
        ratings_of_wide(off, ["a", "b"], name="made", origin=ORIGIN, scale=Scale.stars(1, 5))
    with pytest.raises(MidpointError, match="no column of ratings"):
        ratings_of_wide(wide, [], name="made", origin=ORIGIN)


def test_ratings_of_a_wide_table_in_no_levels_are_rounded_and_blanks_stay() -> None:
    wide = pl.DataFrame({"user": [1, 2], "a": [-9.97, None], "b": [3.14, 10.0]})
    ratings = ratings_of_wide(wide, ["a", "b"], name="made", origin=ORIGIN)
    assert ratings.scale == Scale.stars(-10, 10, 0.2)
    assert ratings.value.tolist() == pytest.approx([-10, 3.2, 10])
    endless = wide.with_columns(b=pl.Series([3.14, np.inf]))
    with pytest.raises(MidpointError, match="inf in column 'b' is not on the scale"):
        ratings_of_wide(endless, ["a", "b"], name="made", origin=ORIGIN)


def test_people_are_matched_by_name_whatever_their_order(caplog: pytest.LogCaptureFixture) -> None:
    ratings = build_ratings(LONG, name="made", origin=ORIGIN)
    people = pl.DataFrame({"user": ["bo", "nobody"], "gender": [" F", "M"]})
    with caplog.at_level(logging.DEBUG, "midpoint"):
        gender = with_people(ratings, people, ORIGIN).features["gender"]
    assert [None if code < 0 else gender.categories[code] for code in gender.codes] == [None, "F"]
    assert caplog.records
    with pytest.raises(MidpointError, match="bo"):
        with_people(ratings, pl.concat([people, people.head(1)]), ORIGIN)


def test_rows_are_numbered_from_one() -> None:
    np.testing.assert_array_equal(row_numbers(LONG).to_numpy(), [1, 2, 3])
