"""Ratings as data frames."""

import sys

import pandas as pd
import polars as pl
import pytest

from midpoint.data import Ratings, load
from midpoint.errors import MidpointError

FEATURES = {"gender": {10: "F", 20: None}}


def test_ratings_leave_as_they_came() -> None:
    table = pd.DataFrame({"user": [10, 10, 20], "item": ["a", "b", "a"], "rating": [4.5, 1.0, 3.0]})
    ratings = load(table)
    pd.testing.assert_frame_equal(ratings.to_pandas(), table)
    assert ratings.to_polars().schema == {
        "user": pl.Int64,
        "item": pl.String,
        "rating": pl.Float64,
    }
    assert load(ratings.to_polars()).digest == ratings.digest


def test_whole_ratings_are_integers_and_times_are_kept() -> None:
    ratings = Ratings.from_columns([10, 20], [1, 2], [3, 4], time=[5, 6], features=FEATURES)
    assert ratings.to_polars().rows() == [(10, 1, 3, 5), (20, 2, 4, 6)]
    assert ratings.to_polars(recbole=True).columns[-1] == "timestamp:float"
    assert ratings.people_to_polars().rows() == [(10, "F"), (20, None)]


def test_ids_with_leading_zeros_stay_words() -> None:
    ratings = Ratings.from_columns(["007", "8"], [1, 2], [3, 4])
    assert ratings.to_polars()["user"].to_list() == ["007", "8"]


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MidpointError, match="pip install pandas"):
        Ratings.from_columns([1, 2], [1, 2], [3, 4]).to_pandas()
