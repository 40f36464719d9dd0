import gzip
import logging
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data import Ratings, Scale
from midpoint.data.tables.columns import Columns
from midpoint.data.tables.tables import load_table
from midpoint.errors import MidpointError

LONG = (
    "userId,movieId,rating,timestamp,title\n"
    "ann,7,4.0,100,Seven\nbob,7,3.5,200,Seven\nann,8,1,300,\n"
)
USERS = "user_id,gender,age,zip\nann,F,30,0123\nbob,M,50,4567\ncid,M,20,8901\n"
WIDE = "id,gender,age,Alien,Brazil\np1,F,30,5,\np2,M,,4,2\n"


def file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def triples(ratings: Ratings) -> list[tuple[str, str, float]]:
    return [
        (str(ratings.user_ids[u]), str(ratings.item_ids[i]), float(v))
        for u, i, v in zip(ratings.user, ratings.item, ratings.value, strict=True)
    ]


def labels(ratings: Ratings, name: str) -> list[str | None]:
    feature = ratings.features[name]
    return [None if code < 0 else feature.categories[code] for code in feature.codes.tolist()]


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
    with pytest.raises(MidpointError, match=r"a\.csv: neither .* it has who, what, liked"):
        load_table(path)
    named = load_table(path, columns=Columns(user="who", item="what", rating="liked"))
    assert triples(named) == [("ann", "x", 4.0), ("bob", "y", 2.0)]
    with pytest.raises(MidpointError, match="has no column 'nobody'; it has who, what, liked"):
        load_table(path, columns=Columns(user="nobody", item="what", rating="liked"))


def test_three_columns_of_numbers_need_no_header(tmp_path: Path) -> None:
    ratings = load_table(file(tmp_path / "u.data", "1\t10\t3\t881\n2\t11\t5\t882\n"))
    assert triples(ratings) == [("1", "10", 3.0), ("2", "11", 5.0)]
    with pytest.raises(MidpointError, match=r"u\.data, line 3: rating inf is no finite"):
        load_table(file(tmp_path / "u.data", "1\t10\t3\n2\t11\t5\n3\t11\tinf\n"))


def test_parquet_and_gzip_read_as_the_text_does(tmp_path: Path) -> None:
    path = file(tmp_path / "mine.csv", LONG)
    pl.read_csv(path).write_parquet(tmp_path / "mine.parquet")
    (tmp_path / "mine.csv.gz").write_bytes(gzip.compress(LONG.encode()))
    names = ("mine.csv", "mine.parquet", "mine.csv.gz")
    assert len({load_table(tmp_path / name).digest for name in names}) == 1
    (tmp_path / "mine.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(MidpointError, match="no whole Parquet file"):
        load_table(tmp_path / "mine.parquet")


def test_ids_keep_their_leading_zeros(tmp_path: Path) -> None:
    ratings = load_table(file(tmp_path / "a.csv", "user,isbn,rating\n01,00123,4\n02,00124,2\n"))
    assert ratings.item_ids.tolist() == ["00123", "00124"]
    assert ratings.user_ids.tolist() == ["01", "02"]


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
        ("user,user,rating\n1,2,3\n", r"column 'user' stands twice"),
        ("user,item,other\n1,2,3\n", r"no column looks like the rating; it has user, item, other"),
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


def test_a_named_column_that_says_nothing_is_refused(tmp_path: Path) -> None:
    long, wide = file(tmp_path / "a.csv", LONG), file(tmp_path / "w.csv", WIDE)
    with pytest.raises(MidpointError, match="one row a rating, so --feature-columns says nothing"):
        load_table(long, columns=Columns(features=("gender",)))
    with pytest.raises(MidpointError, match="one row a person, so --title-column says nothing"):
        load_table(wide, columns=Columns(title="Alien"))


def test_users_without_a_row_have_no_category_and_rows_without_ratings_none_needed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    users = file(tmp_path / "u.csv", "user,gender\nann,F\nnobody,M\n")
    ratings = load_table(file(tmp_path / "a.csv", LONG), users=users)
    assert labels(ratings, "gender") == ["F", None]
    assert "u.csv knows nothing of 1 of 2 users, the first 'bob'" in caplog.text
    assert "u.csv has 1 user without a rating, the first 'nobody'" in caplog.text
    caplog.clear()
    load_table(tmp_path / "a.csv", users=file(tmp_path / "u.csv", USERS.partition("cid")[0]))
    assert not caplog.text
    with pytest.raises(MidpointError, match="protecting it needs at least two"):
        ratings.feature("gender").require_classes()


@pytest.mark.parametrize(
    ("users", "message"),
    [
        ("user,gender\nx1,F\nx2,M\n", r"u\.csv knows none of the 2 users; .*'x1'.*'ann'"),
        ("user,gender\nann,F\nbob,M\nann,M\n", r"u\.csv, line 4: user ann stands here again"),
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


def test_a_wide_table_is_read_by_guesses(tmp_path: Path) -> None:
    ratings = load_table(file(tmp_path / "w.csv", WIDE))
    assert triples(ratings) == [("p1", "Alien", 5.0), ("p2", "Alien", 4.0), ("p2", "Brazil", 2.0)]
    assert labels(ratings, "gender") == ["F", "M"]


def test_a_blank_column_of_a_wide_table_is_neither_item_nor_feature(tmp_path: Path) -> None:
    ratings = load_table(file(tmp_path / "w.csv", "id,sex,A,B,C\n1,F,5,4,\n2,M,3,2,\n"))
    assert ratings.item_ids.tolist() == ["A", "B"]
    assert set(ratings.features) == {"sex"}


def test_the_log_says_what_was_taken_for_items_and_features(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        load_table(file(tmp_path / "w.csv", WIDE))
    assert "its items are Alien, Brazil; its features are gender" in caplog.text


def test_a_stray_word_does_not_make_a_feature_of_an_item(tmp_path: Path) -> None:
    text = "id,gender,Alien,Brazil\n1,F,5,4\n2,M,gut,2\n3,M,1,2\n"
    path = file(tmp_path / "w.csv", text)
    with pytest.raises(MidpointError, match=r"w\.csv, line 3: 'gut' in column 'Alien'"):
        load_table(path)
    named = load_table(path, columns=Columns(items=("Brazil",), features=("Alien",)))
    assert labels(named, "Alien") == ["5", "gut", "1"]
    mostly_words = file(tmp_path / "w.csv", text.replace("F,5", "F,bad") + "4,F,3,3\n5,F,so,5\n")
    with pytest.raises(MidpointError, match="nor several like items"):
        load_table(mostly_words)


def test_a_column_far_from_the_others_is_no_item(tmp_path: Path) -> None:
    text = "id,gender,Alien,Brazil,height,weight\n1,F,5,4,160,50\n2,M,1,2,199,90\n"
    path = file(tmp_path / "w.csv", text)
    with pytest.raises(MidpointError, match=r"'height' \(160 to 199\) .* --item-columns"):
        load_table(path, columns=Columns(features=("gender", "weight")))
    with pytest.raises(MidpointError, match=r"'(height|weight)'"):
        load_table(path)
    named = load_table(path, columns=Columns(items=("Alien", "Brazil")))
    assert named.item_ids.tolist() == ["Alien", "Brazil"]


def test_items_and_features_of_a_wide_table_can_be_named(tmp_path: Path) -> None:
    path = file(tmp_path / "w.csv", "who,V1,V2,income,sex\n1,5,4,3,F\n2,4,,1,M\n")
    columns = Columns(user="who", items=("V*",), features=("sex", "income"))
    ratings = load_table(path, columns=columns)
    assert ratings.item_ids.tolist() == ["V1", "V2"]
    assert labels(ratings, "income") == ["3", "1"]
    with pytest.raises(MidpointError, match="has no column 'W\\*'"):
        load_table(path, columns=Columns(user="who", items=("W*",)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,sex,A,B\n1,F,5,4\n1,M,3,2\n", r"w\.csv, line 3: user 1 stands here again"),
        ("id,sex,A,B\n1,F,5,4\n,M,3,2\n", r"w\.csv, line 3: there is no user"),
        ("id,sex\n1,F\n2,M\n", r"w\.csv: neither do columns look like .* it has id, sex"),
    ],
)
def test_a_bad_wide_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MidpointError, match=message):
        load_table(file(tmp_path / "w.csv", text))


def test_words_among_named_items_and_values_off_the_scale_are_named(tmp_path: Path) -> None:
    path = file(tmp_path / "w.csv", "id,A,B\n1,5,4\n2,high,2\n")
    with pytest.raises(MidpointError, match=r"line 3: 'high' in column 'A' is not a number"):
        load_table(path, columns=Columns(items=("A", "B")))
    path = file(tmp_path / "w.csv", "id,A,B\n1,5,4\n2,9,2\n")
    with pytest.raises(MidpointError, match=r"line 3: 9 in column 'A' is not on the scale"):
        load_table(path, scale=Scale.stars(1, 5), shape="wide")
