"""Cells as names, numbers and times; what is blank or doubled is named by its line."""

import polars as pl
import pytest

from midpoint.data.origin import Origin
from midpoint.data.tables.cells import (
    is_number,
    names_of,
    rating_numbers,
    require_filled,
    require_one_each,
    seconds,
    whole,
    without_blank_end,
)
from midpoint.errors import MidpointError

ORIGIN = Origin("t.csv", first_line=2)


def test_names_are_words_without_a_point_and_without_blanks() -> None:
    assert names_of(pl.Series([1.0, None, 3.0])).to_list() == ["1", None, "3"]
    assert names_of(pl.Series([" a ", "b"])).to_list() == ["a", "b"]
    assert names_of(pl.Series([1.5, 2.0])).to_list() == ["1.5", "2.0"]


def test_whole_numbers_become_integers_and_nan_a_blank() -> None:
    column = whole(pl.Series([1.0, float("nan")]))
    assert column.dtype == pl.Int64
    assert column.to_list() == [1, None]
    assert whole(pl.Series([1e300, 2.0])).dtype == pl.Float64  # no integer holds it


def test_blanks_and_doubles_are_named_by_line() -> None:
    with pytest.raises(MidpointError, match=r"t\.csv, line 3: there is no user \(2 such lines"):
        require_filled(pl.Series(["a", None, None]), "user", ORIGIN)
    with pytest.raises(MidpointError, match=r"t\.csv, line 4: user b appears again"):
        require_one_each(pl.Series(["a", "b", "b"]), ORIGIN)
    require_one_each(pl.Series(["a", "b"]), ORIGIN)


def test_only_blank_lines_at_the_end_are_dropped() -> None:
    table = pl.DataFrame({"a": ["x", None, "y", None, None], "b": [None, None, "z", None, None]})
    assert without_blank_end(table).rows() == [("x", None), (None, None), ("y", "z")]


def test_a_word_among_ratings_is_named_and_blanks_stay() -> None:
    good = rating_numbers(pl.Series("r", ["4", None, " 3.5 "]), ORIGIN, "leave it out")
    assert good.to_list() == [4.0, None, 3.5]
    with pytest.raises(MidpointError, match="line 3: 'good' in column 'r' is not a number"):
        rating_numbers(pl.Series("r", ["4", "good"]), ORIGIN, "leave it out")
    with pytest.raises(MidpointError, match="a point instead of the comma"):
        rating_numbers(pl.Series("r", ["4", "3,5"]), ORIGIN, "leave it out")


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([86_400]),
        pl.Series(["1970-01-02"]),
        pl.Series(["1970-01-02 00:00:00"]),
        pl.Series(["1970-01-02"]).str.to_date(),
    ],
    ids=["seconds", "date", "time", "typed"],
)
def test_times_are_seconds_whatever_they_were(column: pl.Series) -> None:

    assert seconds(column).to_list() == [86_400]


def test_milliseconds_are_known_by_their_size_and_words_are_no_times() -> None:
    assert seconds(pl.Series([1_600_000_000_000])).to_list() == [1_600_000_000]
    assert seconds(pl.Series(["soon", "later"])).to_list() == [None, None]


def test_what_is_a_number() -> None:
    assert is_number("1e3")
    assert not is_number("1e3", must_be_whole=True)
    assert not is_number("one")
