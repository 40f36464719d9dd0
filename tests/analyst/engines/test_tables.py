from pathlib import Path

import numpy as np
import polars as pl
import pytest

from midpoint.analyst.engines import Engine, RatingsTables, StreamingEngine
from midpoint.analyst.engines.tables import Roles, only_values, own_values, roles_of
from midpoint.data import Scale
from midpoint.data.tables.columns import Columns
from midpoint.errors import MidpointError

ROWS = pl.DataFrame({"user": ["a", "a", "b"], "gender": ["F", None, "M"], "age": [3, 4, 5]})


def test_a_person_has_the_value_that_any_of_her_rows_gives() -> None:
    by_user = ROWS.group_by("user", maintain_order=True).agg(*own_values(["gender"]))
    assert only_values(by_user, ["gender"], "r.csv").rows() == [("a", "F"), ("b", "M")]


def test_two_values_of_a_feature_are_refused() -> None:
    by_user = ROWS.group_by("user", maintain_order=True).agg(*own_values(["gender", "age"]))
    with pytest.raises(MidpointError, match=r"r\.csv: user a has two values of 'age'; keep one"):
        only_values(by_user, ["gender", "age"], "r.csv")


def test_columns_are_found_by_their_usual_names() -> None:
    roles = roles_of(Columns(), ["userId", "movieId", "rating", "title"], "r.csv")
    assert roles == Roles("userId", "movieId", "rating", "title")


@pytest.mark.parametrize(
    ("stray", "words"),
    [
        (99, r"rating 99 is far from the others, .*\(3 of 103 ratings lie so far off\)"),
        (-1, r"rating -1 stands apart from the levels 1 to 5, .*\(3 of 103 ratings do\)"),
    ],
)
def test_every_engine_counts_the_ratings_that_it_refuses(
    engine: Engine, tmp_path: Path, stray: int, words: str
) -> None:
    table = pl.DataFrame(
        {
            "user": np.arange(103) // 10,
            "item": np.arange(103) % 10,
            "rating": [1, 2, 3, 4, 5] * 20 + [stray] * 3,
        }
    )
    table.write_parquet(tmp_path / "ratings.parquet")
    with pytest.raises(MidpointError, match=words):
        engine.read(RatingsTables(tmp_path / "ratings.parquet"))


def test_more_values_than_levels_usually_are_pass_on_a_scale_that_is_named(tmp_path: Path) -> None:
    """The control has one rating off the scale."""
    rating = np.arange(-300, 301) / 10.0
    path = tmp_path / "ratings.parquet"
    table = {"user": np.arange(601) // 10, "item": np.arange(601) % 10, "rating": rating}
    pl.DataFrame(table).write_parquet(path)
    for scale in (Scale.stars(-30, 30, 0.1), Scale.continuous(-30, 30)):
        assert StreamingEngine().read(RatingsTables(path, scale=scale)).scale == scale
    rating[-1] = 29.95
    pl.DataFrame({**table, "rating": rating}).write_parquet(path)
    with pytest.raises(MidpointError, match=r"rating 29\.95 is not on the scale"):
        StreamingEngine().read(RatingsTables(path, scale=Scale.stars(-30, 30, 0.1)))
