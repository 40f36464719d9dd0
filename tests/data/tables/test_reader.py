"""Tables of any format, numbers that no array holds, and blanks that pandas writes."""

import gzip
import logging
from pathlib import Path

import polars as pl
import pytest

from midpoint.data import Ratings, load
from midpoint.data.tables.reader import SAMPLED_ROWS, read_table
from midpoint.data.tables.tables import load_table
from midpoint.errors import MidpointError
from tests.support.tables.own_tables import file, triples

LONG = (
    "userId,movieId,rating,timestamp,title\n"
    "ann,7,4.0,100,Seven\nbob,7,3.5,200,Seven\nann,8,1,300,\n"
)


USERS = "user_id,gender,age,zip\nann,F,30,0123\nbob,M,50,4567\ncid,M,20,8901\n"


def ids(ratings: Ratings) -> tuple[list[str], list[str]]:
    return ratings.user_ids.tolist(), ratings.item_ids.tolist()


def test_ids_keep_their_leading_zeros(tmp_path: Path) -> None:
    ratings = load_table(file(tmp_path / "a.csv", "user,isbn,rating\n01,00123,4\n02,00124,2\n"))
    assert ratings.item_ids.tolist() == ["00123", "00124"]
    assert ratings.user_ids.tolist() == ["01", "02"]


def test_three_columns_of_numbers_need_no_header(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "midpoint")
    ratings = load_table(file(tmp_path / "u.data", "1\t10\t3\t881\n2\t11\t5\t882\n"))
    assert triples(ratings) == [("1", "10", 3.0), ("2", "11", 5.0)]
    assert "no names of columns; read as user, item, rating, time" in caplog.text
    with pytest.raises(MidpointError, match=r"u\.data, line 3: rating inf is no finite"):
        load_table(file(tmp_path / "u.data", "1\t10\t3\n2\t11\t5\n3\t11\tinf\n"))


def test_types_that_change_after_the_sample_are_read(tmp_path: Path) -> None:
    rows = [f"{k},x,{1 + k % 5}" for k in range(10_500)] + ["last,x,2.5"]
    ratings = load_table(file(tmp_path / "a.csv", "\n".join(["user,item,rating", *rows])))
    assert len(ratings) == 10_501
    assert ratings.user_ids[-1] == "last"


def test_a_quoted_line_break_counts_as_a_line(tmp_path: Path) -> None:
    text = 'user,item,rating,title\na,x,4,"one\ntwo\nthree"\nb,x,bad,four\n'
    with pytest.raises(MidpointError, match="line 5: 'bad'"):
        load_table(file(tmp_path / "a.csv", text))
    with pytest.raises(MidpointError, match="line 3: 'bad'"):
        load_table(file(tmp_path / "a.csv", text.replace("\ntwo\nthree", "")))
    again = text.replace("b,x,bad", "a,x,3")
    with pytest.raises(MidpointError, match="line 5: user a rates item x again, first on line 2"):
        load_table(file(tmp_path / "a.csv", again))


def test_parquet_has_rows_and_no_lines(tmp_path: Path) -> None:
    table = pl.DataFrame({"user": ["a", "a"], "item": ["x", "x"], "rating": [1, 2]})
    table.write_parquet(tmp_path / "a.parquet")
    message = r"a\.parquet, row 2: user a .* first on row 1 \(1 such row in all\)"
    with pytest.raises(MidpointError, match=message):
        load_table(tmp_path / "a.parquet")


def test_parquet_and_gzip_read_as_the_text_does(tmp_path: Path) -> None:
    path = file(tmp_path / "mine.csv", LONG)
    pl.read_csv(path).write_parquet(tmp_path / "mine.parquet")
    (tmp_path / "mine.csv.gz").write_bytes(gzip.compress(LONG.encode()))
    names = ("mine.csv", "mine.parquet", "mine.csv.gz")
    assert len({load_table(tmp_path / name).digest for name in names}) == 1
    (tmp_path / "mine.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(MidpointError, match="no whole Parquet file"):
        load_table(tmp_path / "mine.parquet")


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
