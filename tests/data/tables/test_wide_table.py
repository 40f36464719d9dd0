"""One row a person."""

import logging
from pathlib import Path

import pytest

from midpoint.data import Scale
from midpoint.data.tables.columns import Columns
from midpoint.data.tables.tables import load_table
from midpoint.errors import MidpointError
from tests.support.tables.own_tables import file, labels, triples

WIDE = "id,gender,age,Alien,Brazil\np1,F,30,5,\np2,M,,4,2\n"


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
    with pytest.raises(MidpointError, match="fewer than two like items"):
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
        ("id,sex,A,B\n1,F,5,4\n1,M,3,2\n", r"w\.csv, line 3: user 1 appears again"),
        ("id,sex,A,B\n1,F,5,4\n,M,3,2\n", r"w\.csv, line 3: there is no user"),
        ("id,sex\n1,F\n2,M\n", r"w\.csv: no columns look like .* it has id, sex"),
    ],
)
def test_a_bad_wide_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MidpointError, match=message):
        load_table(file(tmp_path / "w.csv", text))


def test_words_among_named_items_and_values_off_the_scale_are_named(tmp_path: Path) -> None:
    path = file(tmp_path / "w.csv", "id,A,B\n1,5,4\n2,high,2\n")
    with pytest.raises(MidpointError, match=r"line 3: 'high' in column 'A' is not a number"):
        load_table(path, columns=Columns(items=("A", "B")))
    path = file(tmp_path / "w.csv", "id,A,B\n1,5,4\n2,3,2\n3,,50\n")
    with pytest.raises(MidpointError, match=r"w\.csv, line 4: rating 50 is far from the others"):
        load_table(path, shape="wide")
    path = file(tmp_path / "w.csv", "id,A,B\n1,5,4\n2,9,2\n")
    with pytest.raises(MidpointError, match=r"line 3: 9 in column 'A' is not on the scale"):
        load_table(path, scale=Scale.stars(1, 5), shape="wide")


def test_columns_of_ticks_do_not_pass_for_the_worst_grade(tmp_path: Path) -> None:
    path = file(tmp_path / "w.csv", "id,A,B,C\n1,1,,5\n2,1,1,3\n3,,1,4\n4,1,1,2\n")
    with pytest.raises(MidpointError, match=r"ticks, .* \(A, B\), .* grades \(C\).*--item-columns"):
        load_table(path)
    assert load_table(path, columns=Columns(items=("A", "B"))).scale.is_unary
    assert load_table(path, scale=Scale.stars(1, 5)).scale == Scale.stars(1, 5)
    whole = file(tmp_path / "w.csv", "id,A,B\n1,1,5\n2,1,3\n3,1,4\n")  # everybody gave it a 1
    assert load_table(whole).scale.high == 5
