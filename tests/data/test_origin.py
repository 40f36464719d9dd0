"""Where a row of a table stands in its file, so that an error can name the line."""

import pytest

from midpoint.data.origin import Origin, counted


@pytest.mark.parametrize(("row", "line"), [(0, 2), (1, 3), (2, 5), (3, 7)])
def test_lines_count_the_head_and_breaks_within_cells_before_them(row: int, line: int) -> None:
    origin = Origin("a.csv", first_line=2, breaks=(1, 2))
    assert origin.number(row) == line
    assert origin.locate(row) == f"a.csv, line {line}"


def test_a_file_without_lines_has_rows() -> None:
    assert Origin("a.parquet", unit="row").locate(4) == "a.parquet, row 5"


def test_a_count_has_the_form_of_its_noun() -> None:
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
