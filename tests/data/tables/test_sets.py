"""Tables of unary data: who used what, once or several times."""

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from midpoint.data import Scale, as_sets, load
from midpoint.data.tables.columns import Columns
from midpoint.errors import MidpointError

ROWS = pl.DataFrame({"user": ["a", "a", "b", "b", "a"], "item": ["x", "y", "x", "z", "x"]})
COUNT = Columns(count="plays")


def with_plays(*plays: float | None) -> pl.DataFrame:
    return ROWS.with_columns(plays=pl.Series(plays, dtype=pl.Float64))


def test_a_table_without_ratings_is_a_set_for_each_person() -> None:
    sets = load(ROWS)
    assert sets.scale == Scale.unary()
    assert sets.value.tolist() == [1.0] * 4
    assert sets.left_out == ("1 row of somebody using an item again",)
    assert str(sets.scale) == "unary: sets of items"


def test_ratings_that_are_all_one_are_a_set() -> None:
    assert load(ROWS.head(4).with_columns(rating=pl.lit(1))).scale.is_unary
    with pytest.raises(MidpointError, match=r"do not vary.*--count-column"):
        load(ROWS.head(4).with_columns(rating=pl.lit(5)))


def test_counts_above_zero_are_in_the_set() -> None:
    sets = load(with_plays(3, 0, 1, 2, None), columns=COUNT)
    assert sets.user.tolist() == [0, 1, 1]
    assert sets.item.tolist() == [0, 0, 1]
    assert sets.left_out == ("2 rows with a count of 0 or none",)


def test_ratings_beside_named_counts_are_left_out_and_that_is_said() -> None:
    both = with_plays(3, 0, 1, 2, None).with_columns(rating=pl.lit(4))
    sets = load(both, columns=COUNT)
    assert sets.scale.is_unary
    assert sets.left_out[-1] == "column 'rating', since the counts say who used what"
    named = load(both.rename({"plays": "stars"}).drop("rating"), columns=Columns(count="stars"))
    assert named.left_out == ("2 rows with a count of 0 or none",)


def test_a_file_with_times_and_people_is_read_likewise(tmp_path: Path) -> None:
    path, people = tmp_path / "clicks.csv", tmp_path / "people.csv"
    path.write_text("user,item,time,page\na,x,100,home\na,y,200,shop\nb,x,300,home\n")
    people.write_text("user,gender\na,F\nb,M\n")
    sets = load(path, users=people)
    assert sets.scale.is_unary
    assert sets.time is not None
    assert sets.time.tolist() == [100, 200, 300]
    assert sets.feature("gender").categories == ("F", "M")


def test_the_time_of_an_item_is_that_of_its_first_use() -> None:
    latest_first = ROWS.with_columns(time=pl.Series([500, 400, 300, 200, 100]))
    sets = load(latest_first)
    assert sets.time is not None
    assert sets.item_ids[sets.item].tolist() == ["x", "y", "x", "z"]
    assert sets.time.tolist() == [100, 400, 300, 200]


def test_a_log_of_many_columns_is_a_set_for_each_person() -> None:
    more = {name: pl.lit("tv") for name in ("device", "country", "page", "version")}
    assert load(ROWS.with_columns(**more)).scale.is_unary


@pytest.mark.parametrize(
    "other",
    [
        [True, False, True, True, False],
        ["4", "5", "none", "3", "1"],
        ["4,5", "3,0", "1,0", "2", "5"],
    ],
)
def test_a_rating_by_another_name_does_not_pass_for_a_sign_of_use(other: list[object]) -> None:
    with pytest.raises(MidpointError, match=r"no column looks like the rating.*--count-column"):
        load(ROWS.with_columns(verdict=pl.Series(other)))


@pytest.mark.parametrize(
    ("table", "columns", "says"),
    [
        (with_plays(3, 0, -1, 2, 5), COUNT, r"row 3: a count of -1 in column 'plays' \(1 such row"),
        (with_plays(3, 0, float("inf"), 2, 5), COUNT, "row 3: a count of inf"),
        (with_plays(3, 0, 1, 2, 5), None, r"no column looks like the rating.*--count-column"),
        (with_plays(0, 0, 0, 0, 0), COUNT, "nobody used anything"),
        (
            with_plays(1, 2, 3, 4, 5).with_columns(rating=pl.lit(4)),
            Columns(count="plays", rating="rating"),
            "ratings or one of counts, not both",
        ),
        (
            ROWS.with_columns(rating=pl.Series([5, None, 3, 1, 2])),
            None,
            r"row 2: there is no rating \(1 such row in all\).*leave out the column of ratings",
        ),
        (ROWS.with_columns(time=pl.lit(int(time.time()) + 10**7)), None, "is in the future"),
    ],
)
def test_bad_tables_are_refused(table: pl.DataFrame, columns: Columns | None, says: str) -> None:
    with pytest.raises(MidpointError, match=says):
        load(table, columns=columns)


def test_a_scale_of_sets_is_refused_where_it_cannot_be() -> None:
    with pytest.raises(MidpointError, match="so --scale has no effect"):
        load(ROWS, scale=Scale.stars(1, 5))
    with pytest.raises(MidpointError, match="levels must ascend"):
        Scale(0.5, 1.0, (1.0,))


def test_liked_ratings_make_sets() -> None:
    rated = load(ROWS.head(4).with_columns(rating=pl.Series([4, 2, 5, 3])))
    liked = as_sets(rated, 4)
    assert liked.scale.is_unary
    assert liked.name == "ratings-liked-4"
    assert len(liked) == 2
    assert liked.left_out == ("2 ratings below 4 (--liked)",)
    assert len(as_sets(rated, rated.scale.low)) == 4  # all that was rated: views
    assert np.array_equal(as_sets(rated, 5).user_ids, ["b"])
    for wrong, says in ((9, "ratings of ratings go from"), (4, "is unary already")):
        with pytest.raises(MidpointError, match=says):
            as_sets(liked if wrong == 4 else rated, wrong)
