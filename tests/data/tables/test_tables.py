"""One row a rating, with a table of people."""

import logging
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data import Scale
from midpoint.data.tables.columns import Columns
from midpoint.data.tables.tables import load_table
from midpoint.errors import MidpointError
from tests.support.tables.own_tables import file, labels, triples

LONG = (
    "userId,movieId,rating,timestamp,title\n"
    "ann,7,4.0,100,Seven\nbob,7,3.5,200,Seven\nann,8,1,300,\n"
)


USERS = "user_id,gender,age,zip\nann,F,30,0123\nbob,M,50,4567\ncid,M,20,8901\n"


WIDE = "id,gender,age,Alien,Brazil\np1,F,30,5,\np2,M,,4,2\n"


def test_a_long_table_is_read_by_guesses(tmp_path: Path) -> None:
    ratings = load_table(file(tmp_path / "mine.csv", LONG), users=file(tmp_path / "u.csv", USERS))
    assert triples(ratings) == [("ann", "7", 4.0), ("ann", "8", 1.0), ("bob", "7", 3.5)]
    assert ratings.item_names.tolist() == ["Seven", "8"]
    assert ratings.time is not None
    assert ratings.time.tolist() == [100, 300, 200]
    assert ratings.name == "mine"
    assert ratings.scale == Scale.stars(1, 4, 0.5)
    assert labels(ratings, "gender") == ["F", "M"]


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
@pytest.mark.parametrize("names", ["user,item,score", "uid,product_id,stars", "User ID,asin,value"])
def test_delimiters_and_names_are_guessed(tmp_path: Path, separator: str, names: str) -> None:
    text = f"{names}\nann,x,4\nbob,y,2\n".replace(",", separator)
    ratings = load_table(file(tmp_path / "a.txt", text))
    assert triples(ratings) == [("ann", "x", 4.0), ("bob", "y", 2.0)]


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", "who,what,liked\nann,x,4\nbob,y,2\n")
    with pytest.raises(
        MidpointError, match=r"a\.csv: no columns look like .* it has who, what, liked"
    ):
        load_table(path)
    named = load_table(path, columns=Columns(user="who", item="what", rating="liked"))
    assert triples(named) == [("ann", "x", 4.0), ("bob", "y", 2.0)]
    with pytest.raises(MidpointError, match="has no column 'nobody'; it has who, what, liked"):
        load_table(path, columns=Columns(user="nobody", item="what", rating="liked"))


@given(st.lists(st.tuples(st.text("aäé .'", min_size=1), st.integers(0, 9)), min_size=2, max_size=9,
                unique_by=lambda pair: (pair[0].strip(), pair[1])))  # fmt: skip
def test_words_and_numbers_come_back_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, int]]
) -> None:
    pairs = [(user.strip() or "x", item) for user, item in pairs]
    pairs = list(dict.fromkeys(pairs))
    rows = [
        (user, item, 1 + k % 2) for k, (user, item) in enumerate([*pairs, ("zz", 1), ("zz", 2)])
    ]
    path = tmp_path_factory.mktemp("tables") / "a.parquet"
    pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row").write_parquet(path)
    assert sorted(triples(load_table(path))) == sorted((u, str(i), float(v)) for u, i, v in rows)


def test_times_are_seconds_whatever_they_were(tmp_path: Path) -> None:
    for first, second in [
        ("86400", "86401"),
        ("946684800000", "946684801000"),
        ("2000-01-01 00:00:00", "2000-01-01 00:00:01"),
    ]:
        text = f"user,item,rating,time\na,x,1,{first}\nb,x,2,{second}\n"
        ratings = load_table(file(tmp_path / "a.csv", text))
        assert ratings.time is not None
        assert ratings.time[1] - ratings.time[0] == 1
    same = load_table(file(tmp_path / "a.csv", "user,item,rating,time\na,x,1,0\nb,x,2,0\n"))
    assert same.time is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,item,rating\na,x,4\na,x,5\n", r"line 3: user a rates item x again, first on line 2"),
        ("user,item,rating\na,x,4\nb,x,\n", r"line 3: there is no rating"),
        ("user,item,rating\na,x,4\nb,x,NaN\n", r"line 3: there is no rating"),
        ("user,item,rating\na,x,4\n,x,5\n", r"line 3: there is no user"),
        ("user,item,rating\na,x,4\n\nb,x,5\n", r"line 3: there is no user"),
        (
            "user,item,rating\na,x,4\nb,x,great\n",
            r"line 3: 'great' in column 'rating' is",
        ),
        ("user,item,rating\na,x,4\nb,x,5,6\n", r"line 3: 4 fields where the first has 3"),
        ("user,item,rating\na,x,4\nb,x,4\n", r"a\.csv: the ratings do not vary"),
        ("user,item,rating\n", r"a\.csv has no rows below its header"),
        ("", r"a\.csv is empty"),
        ("user item rating\n1 2 3\n", r"'user item rating' is .* instead of blanks"),
        ("1::2::3\n", r"line 1: '1::2::3' is a single column.*MovieLens 1M"),
        ("user,item,rating\n\0\1\2,,\n", r"a\.csv is no text; save the table as CSV"),
        ("PK\3\4spreadsheet", r"a\.csv is a zip or a spreadsheet"),
        ("user,user,rating\n1,2,3\n", r"column 'user' appears twice"),
        ("user,item,other\n1,2,3\n", r"like the rating; it has user, item, other.*--rating-column"),
        ("ann,Alien,5\nbob,Heat,3\n", r"line 1: 'ann, Alien, 5' looks like a row .*user,item,rat"),
        ("1,F,5,4,3\n2,M,3,2,1\n", r"line 1: '1, F, 5, 4, 3' looks like a row .*--item-columns"),
        (
            "user,item,rating\n"
            + "".join(f"{u},x{v},{v}\n" for u in "ab" for v in range(5))
            + "c,x,50\n",
            r"line 12: rating 50 is far from the others, .* 0 to 4 .*--scale 0:50",
        ),
    ],
)
def test_a_bad_long_table_is_refused_by_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MidpointError, match=message):
        load_table(file(tmp_path / "a.csv", text))


def test_a_value_off_the_named_scale_is_refused(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", "user,item,rating\na,x,4\nb,x,6\n")
    assert load_table(path).scale.high == 6
    with pytest.raises(MidpointError, match=r"a\.csv, line 3: rating 6 is not on the scale"):
        load_table(path, scale=Scale.stars(1, 5))


def test_a_named_column_that_says_nothing_is_refused(tmp_path: Path) -> None:
    long, wide = file(tmp_path / "a.csv", LONG), file(tmp_path / "w.csv", WIDE)
    with pytest.raises(MidpointError, match="one row a rating, so --feature-columns has no effect"):
        load_table(long, columns=Columns(features=("gender",)))
    with pytest.raises(MidpointError, match="one row a person, so --title-column has no effect"):
        load_table(wide, columns=Columns(title="Alien"))


def test_users_without_a_row_have_no_category_and_rows_without_ratings_none_needed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    users = file(tmp_path / "u.csv", "user,gender\nann,F\nnobody,M\n")
    ratings = load_table(file(tmp_path / "a.csv", LONG), users=users)
    assert labels(ratings, "gender") == ["F", None]
    assert "u.csv knows nothing of 1 of 2 users, the first 'bob'" in caplog.text
    assert "u.csv has 1 user without a rating, the first 'nobody'" in caplog.text
    assert ratings.left_out == (f"1 person of {users} without a rating",)
    assert ratings.summary.splitlines()[2:] == [
        "  gender: F 1, not known 1",
        f"  left out: 1 person of {users} without a rating",
    ]
    caplog.clear()
    load_table(tmp_path / "a.csv", users=file(tmp_path / "u.csv", USERS.partition("cid")[0]))
    assert not caplog.text
    with pytest.raises(MidpointError, match="protecting it needs at least two"):
        ratings.feature("gender").require_classes()


@pytest.mark.parametrize(
    ("users", "message"),
    [
        ("user,gender\nx1,F\nx2,M\n", r"u\.csv knows none of the 2 users; .*'x1'.*'ann'"),
        ("user,gender\nann,F\nbob,M\nann,M\n", r"u\.csv, line 4: user ann appears again"),
        ("user,gender\nann,F\n,M\n", r"u\.csv, line 3: there is no user"),
        ("gender,city\nF,here\n", r"u\.csv: no column looks like the user"),
    ],
)
def test_a_bad_users_table_is_refused(tmp_path: Path, users: str, message: str) -> None:
    with pytest.raises(MidpointError, match=message):
        load_table(file(tmp_path / "a.csv", LONG), users=file(tmp_path / "u.csv", users))


def people(count: int) -> str:
    rows = [f"p{k},{k},{k % 3},word{k},{18 + k}" for k in range(count)]
    return "\n".join(["user,income,children,street,age", *rows])


def test_many_values_are_no_feature_unless_asked_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "user,item,rating\n" + "".join(f"p{k},x,{1 + k % 5}\n" for k in range(70))
    path, users = file(tmp_path / "a.csv", text), file(tmp_path / "u.csv", people(70))
    with caplog.at_level(logging.WARNING):
        ratings = load_table(path, users=users)
    assert set(ratings.features) == {"children", "age", "age_band"}
    assert "'income' has 70 distinct numbers" in caplog.text
    assert "'street' has 70 distinct values" in caplog.text
    with pytest.raises(MidpointError, match=r"column 'income' has 70 distinct numbers.*bins"):
        load_table(path, users=users, columns=Columns(features=("income",)))
    chosen = load_table(path, users=users, columns=Columns(features=("child*",)))
    assert set(chosen.features) == {"children"}


def test_numbers_as_names_of_items_are_fine_beside_a_name_that_is_known(tmp_path: Path) -> None:
    ratings = load_table(file(tmp_path / "w.csv", "user,1,2\nann,5,3\nbob,4,\n"))
    assert ratings.item_ids.tolist() == ["1", "2"]
    path = file(tmp_path / "n.csv", "who,1,2\nann,5,3\nbob,4,\n")
    with pytest.raises(MidpointError, match="looks like a row"):
        load_table(path)
    named = load_table(path, columns=Columns(user="who", items=("1", "2")))
    assert triples(named) == [("ann", "1", 5.0), ("ann", "2", 3.0), ("bob", "1", 4.0)]
