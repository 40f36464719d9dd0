import polars as pl
import pytest

from midpoint.analyst.engines.tables import Roles, only_values, own_values, roles_of
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
