"""Columns are found by their names, by patterns, and never passed over in silence."""

import polars as pl
import pytest

from midpoint.data.tables.columns import GUESSES, Columns, find, matching, plain_name
from midpoint.errors import MidpointError


@pytest.mark.parametrize(
    ("names", "role", "found"),
    [
        (["User ID", "x"], "user", "User ID"),
        (["user_id:token", "x"], "user", "user_id:token"),
        (["score", "rating"], "rating", "rating"),  # the likeliest name, wherever it stands
        (["rating", "Rating"], "rating", "rating"),  # the first of two that look alike
        (["a", "b"], "item", None),
    ],
)
def test_a_column_is_guessed_by_its_name(names: list[str], role: str, found: str | None) -> None:
    assert find(pl.DataFrame({name: [1] for name in names}), role) == found


def test_a_table_may_have_guesses_of_its_own_which_come_last() -> None:
    cells = pl.DataFrame({"voter": [1], "member": [2]})
    assert find(cells, "user", "voter") == "member"
    assert find(cells.drop("member"), "user", "voter") == "voter"
    assert all(plain_name(name) == name for names in GUESSES.values() for name in names)


def test_patterns_take_columns_once_and_a_name_is_taken_literally() -> None:
    columns = ["V161", "V162", "V*", "age"]
    assert matching(["V16*", "V161"], columns, "t.csv") == ["V161", "V162"]
    assert matching(["V*"], columns, "t.csv") == ["V*"]
    with pytest.raises(MidpointError, match=r"t\.csv has no column 'W\*'; it has V161, V162, V\*"):
        matching(["W*"], columns, "t.csv")
    with pytest.raises(MidpointError, match=r"c19, \.\.\.$"):
        matching(["x"], [f"c{k}" for k in range(21)], "t.csv")


def test_a_name_that_nothing_is_done_with_is_refused() -> None:
    Columns(user="who").require_only({"user"}, "this table is wide")
    with pytest.raises(MidpointError, match="is wide, so --rating-column has no effect"):
        Columns(rating="r").require_only({"user"}, "this table is wide")
    with pytest.raises(MidpointError, match="so --item-columns has no effect"):
        Columns(items=("a",)).require_only({"user"}, "this table is long")
