import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midpoint.data.tables.delimited_text import ColumnType, as_utf8, read_delimited
from midpoint.errors import MidpointError

COLUMNS: dict[str, ColumnType] = {"user": pl.Int32, "item": pl.Int32, "rating": pl.Float32}
rows = st.lists(
    st.tuples(st.integers(1, 9999), st.integers(1, 9999), st.sampled_from([0.5, 1.0, 4.5])),
    min_size=1,
)


@given(rows, st.sampled_from(["\t", "::", "|"]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_was_written_is_read(
    rows: list[tuple[int, int, float]], separator: str, ending: str, end_blank: bool
) -> None:
    text = "".join(separator.join(map(str, row)) + ending for row in rows)
    table = read_delimited((text + ending * end_blank).encode(), "f", COLUMNS, separator=separator)
    assert table.rows() == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1::2::3\n1::x::3\n", r"f, line 2: item 'x' is not a whole number"),
        ("1::2::3\n1::2::good\n", r"f, line 2: rating 'good' is not a number"),
        ("1::2::3\n1::2\n", r"f, line 2: 2 fields where 3 are expected"),
        ("1::2::3\n1::2::3::4\n", r"f, line 2: 4 fields where 3 are expected"),
        ("1::2::3\n1:7:2::3\n", r"f, line 2: 2 fields where 3"),
        ("1\t2\t3\n", r"f, line 1: 1 field where 3 are expected .*'::'"),
        ("", "f is empty"),
        (" \n\n", "f is empty"),
    ],
)
def test_a_bad_line_is_named(text: str, message: str) -> None:
    with pytest.raises(MidpointError, match=message):
        read_delimited(text.encode(), "f", COLUMNS, separator="::")


def test_a_header_is_skipped_and_counted_as_a_line() -> None:
    good, bad = b"u\ti\tr\n1\t2\t3\n", b"u\ti\tr\n1\t2\tx\n"
    assert read_delimited(good, "f", COLUMNS, has_header=True).rows() == [(1, 2, 3.0)]
    with pytest.raises(MidpointError, match="line 2"):
        read_delimited(bad, "f", COLUMNS, has_header=True)


@given(st.text(st.characters(codec="latin-1", exclude_characters="\0"), min_size=1))
def test_utf_8_and_utf_16_are_read_as_what_they_are(text: str) -> None:
    assert as_utf8(text.encode()).decode() == text
    assert as_utf8(text.encode("utf-16")).decode() == text


def test_other_bytes_are_latin_1() -> None:
    assert as_utf8("Misérables".encode("latin-1")).decode() == "Misérables"
    assert as_utf8("1\t2\n".encode("utf-16-le")) == b"1\t2\n"
    assert as_utf8("1\t2\n".encode("utf-16-be")) == b"1\t2\n"
