"""Tables in memory: pandas, polars, triples, and data sets of other libraries."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from midpoint.data import Ratings, load
from midpoint.errors import MidpointError
from tests.support.tables.own_tables import labels, triples

ROWS = [(10, 7, 4.0), (10, 8, 1.0), (20, 7, 3.5), (30, 8, 2.0)]
PAIRS = [(str(user), str(item), value) for user, item, value in ROWS]
PEOPLE = {"user": [10, 20, 30], "gender": ["F", "M", None]}


def pandas_rows(**kinds: str) -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=["user", "item", "rating"]).astype(kinds)


def same(ratings: Ratings) -> None:
    assert triples(ratings) == PAIRS
    assert labels(ratings, "gender") == ["F", "M", None]


@pytest.mark.parametrize(
    "kinds",
    [
        {},
        {"user": "Int64", "rating": "Float64"},
        {"user": "string", "item": "category"},
        {"user": "object", "rating": "object"},
        {"user": "float64"},
    ],
)
def test_pandas_in_every_type_of_column(kinds: dict[str, str]) -> None:
    same(load(pandas_rows(**kinds), users=pd.DataFrame(PEOPLE)))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, ""])
def test_whatever_stands_for_a_missing_category_is_missing(missing: Any) -> None:
    people = pd.DataFrame({**PEOPLE, "gender": ["F", "M", missing]})
    same(load(pandas_rows(), users=people))


def test_features_may_be_numbers_with_gaps() -> None:
    people = pd.DataFrame({"user": [10, 20, 30], "group": [1, 2, None]})
    assert people["group"].dtype == float
    ratings = load(pandas_rows(), users=people)
    assert labels(ratings, "group") == ["1", "2", None]
    nullable = load(pandas_rows(), users=people.astype({"group": "Int64"}))
    assert labels(nullable, "group") == ["1", "2", None]


def test_polars_lazy_or_not_and_an_index_with_a_name() -> None:
    table = pl.DataFrame(ROWS, schema=["user", "item", "rating"], orient="row")
    same(load(table, users=pl.DataFrame(PEOPLE)))
    same(load(table.lazy(), users=pl.DataFrame(PEOPLE).lazy()))
    same(load(pandas_rows().set_index("user"), users=pd.DataFrame(PEOPLE).set_index("user")))


def test_a_wide_frame_and_times() -> None:
    wide = pd.DataFrame({"user": ["a", "b"], "sex": ["F", "M"], "x": [1, None], "y": [2, 3]})
    ratings = load(wide)
    assert triples(ratings) == [("a", "x", 1.0), ("a", "y", 2.0), ("b", "y", 3.0)]
    assert labels(ratings, "sex") == ["F", "M"]
    when = pd.to_datetime(["2000-01-01", "2000-01-02", "2000-01-03", "2000-01-04"])
    for moments in (when, when.tz_localize("UTC")):
        timed = load(pandas_rows().assign(time=moments))
        assert timed.time is not None
        assert np.diff(timed.time).tolist() == [86400] * 3


def test_triples_as_cornac_takes_them() -> None:
    assert triples(load(ROWS)) == PAIRS
    timed = load([(*row, 100 + k) for k, row in enumerate(ROWS)])
    assert timed.time is not None
    assert timed.time.tolist() == [100, 101, 102, 103]
    for rows, message in (([(1, 2)], "row 1: .* is not"), ([*ROWS, (1, 2)], r"row 5: \(1, 2\)")):
        with pytest.raises(MidpointError, match=message):
            load(rows)


def test_a_cornac_data_set_keeps_its_names() -> None:
    data = SimpleNamespace(
        uir_tuple=(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1]), np.array([4.0, 1.0, 3.5, 2.0])),
        uid_map={10: 0, 20: 1, 30: 2},
        iid_map={7: 0, 8: 1},
        timestamps=None,
    )
    same(load(data, users=pd.DataFrame(PEOPLE)))


def test_a_lenskit_data_set_is_asked_for_its_original_names() -> None:
    asked: list[dict[str, object]] = []

    def interaction_table(**how: object) -> pd.DataFrame:
        asked.append(how)
        return pandas_rows().rename(columns={"user": "user_id", "item": "item_id"})

    data = SimpleNamespace(interaction_table=interaction_table)
    same(load(data, users=pd.DataFrame(PEOPLE)))
    assert asked == [{"format": "pandas", "original_ids": True}]


def test_the_real_lenskit_and_cornac_where_they_are_installed() -> None:
    lenskit = pytest.importorskip("lenskit.data")
    cornac = pytest.importorskip("cornac.data")
    frame = pandas_rows().rename(columns={"user": "user_id", "item": "item_id"})
    same(load(lenskit.from_interactions_df(frame), users=pd.DataFrame(PEOPLE)))
    same(load(cornac.Dataset.from_uir(ROWS), users=pd.DataFrame(PEOPLE)))
    ratings = load(pandas_rows(), users=pd.DataFrame(PEOPLE))
    same(load(ratings.to_lenskit(), users=pd.DataFrame(PEOPLE)))
    same(load(cornac.Dataset.from_uir(ratings.to_polars().rows()), users=pd.DataFrame(PEOPLE)))


def test_ratings_leave_for_lenskit_by_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = load(pandas_rows().assign(time=[1, 2, 3, 4]), users=pd.DataFrame(PEOPLE))
    monkeypatch.setitem(sys.modules, "lenskit", None)
    monkeypatch.setitem(sys.modules, "lenskit.data", None)
    with pytest.raises(MidpointError, match="pip install lenskit"):
        ratings.to_lenskit()
    library = SimpleNamespace(from_interactions_df=lambda frame: frame)
    monkeypatch.setitem(sys.modules, "lenskit.data", library)
    assert ratings.to_lenskit().columns.tolist() == ["user_id", "item_id", "rating", "timestamp"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame(ROWS), r"its columns are called '0, 1, 2'; call them user, item and rating"),
        (pandas_rows().iloc[:0], "the table of ratings has no rows"),
        (pandas_rows().assign(rating=["a", 1, 2, 3]), r"the table of ratings, row 1: 'a' in"),
        (pandas_rows().rename(columns={"item": "user"}), "column 'user' .* appears twice"),
        (pandas_rows().rename(columns={"rating": "mark"}), "like the rating; .*--count-column"),
        (7, "a int cannot be loaded"),
    ],
)
def test_what_cannot_be_read_is_refused(table: Any, message: str) -> None:
    with pytest.raises(MidpointError, match=message):
        load(table)


def test_titles_of_a_table_of_items() -> None:
    items = pd.DataFrame(
        {"item": [7, 8, 9], "title": ["Seven", None, "Nine"], "year": [1995, 1, 2]}
    )
    ratings = load(pandas_rows(), items=items)
    assert ratings.item_names.tolist() == ["Seven (1995)", "8"]
    with pytest.raises(MidpointError, match="knows none of the 2 items, such as '7'"):
        load(pandas_rows(), items=items.assign(item=["x", "y", "z"]))
    with pytest.raises(MidpointError, match="the table of items: no column looks like the title"):
        load(pandas_rows(), items=items[["item", "year"]])
