"""Numbers that no array holds, and blanks that pandas writes."""

from pathlib import Path

import polars as pl
import pytest

from midpoint.data import Ratings, load
from midpoint.data.tables.reader import SAMPLED_ROWS, read_table


def ids(ratings: Ratings) -> tuple[list[str], list[str]]:
    return ratings.user_ids.tolist(), ratings.item_ids.tolist()


@pytest.mark.parametrize("digits", [19, 20, 26, 39, 40, 60, 400])
@pytest.mark.parametrize("role", ["user", "item"])
def test_a_long_number_is_an_id_with_all_its_digits(tmp_path: Path, digits: int, role: str) -> None:
    long = [str(10**digits - k) for k in (3, 2, 1)]
    rows = {"user": ["1", "2", "3"], "item": ["7", "8", "9"], "rating": ["1", "2", "3"]}
    rows[role] = long
    path = tmp_path / "r.csv"
    lines = ["user,item,rating", *(",".join(row) for row in zip(*rows.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    people = tmp_path / "u.csv"
    genders = [f"{user},{gender}" for user, gender in zip(rows["user"], "FMF", strict=True)]
    people.write_text("\n".join(["user,gender", *genders]) + "\n")
    ratings = load(path, users=people)
    assert ids(ratings) == (rows["user"], rows["item"])
    assert ratings.feature("gender").codes.tolist() == [0, 1, 0]


def test_one_long_number_after_many_short_ones_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    short = "".join(f"{k},{k % 3},{k % 5}\n" for k in range(SAMPLED_ROWS + 5))
    for digits in (26, 60):
        path.write_text(f"user,item,rating\n{short}{10**digits},1,4\n")
        cells, _ = read_table(path)
        assert cells["user"][-1] == str(10**digits)
        assert cells["rating"].dtype == pl.Int64
        assert load(path).n_users == SAMPLED_ROWS + 6


def test_a_nan_in_parquet_is_a_blank(tmp_path: Path) -> None:
    rows = {"user": [1, 2, 3], "item": [7, 7, 8], "rating": [1.0, 2.0, 3.0]}
    pl.DataFrame(rows).write_parquet(tmp_path / "r.parquet")
    people = {"user": [1.0, 2.0, 3.0], "class": [1.0, float("nan"), 2.0], "age": [None, 20, 30]}
    pl.DataFrame(people).write_parquet(tmp_path / "u.parquet")
    feature = load(tmp_path / "r.parquet", users=tmp_path / "u.parquet").feature("class")
    assert feature.categories == ("1", "2")
    assert feature.codes.tolist() == [0, -1, 1]


def test_a_directory_of_parquet_is_one_table(tmp_path: Path) -> None:
    for k in (1, 2):
        rows = {"user": [k, k], "item": ["a", "b"], "rating": [k, 3]}
        pl.DataFrame(rows).write_parquet(tmp_path / f"part-{k}.parquet")
    ratings = load(tmp_path)
    assert ids(ratings) == (["1", "2"], ["a", "b"])
    assert ratings.value.tolist() == [1, 3, 2, 3]
