"""Tables of any format, read with guesses: delimiter, encoding, header and types."""

import csv
import io
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from midpoint.data.origin import Origin, counted
from midpoint.data.tables.archive import read_bytes
from midpoint.data.tables.atomic import ATOMIC, without_types
from midpoint.data.tables.cells import is_number, without_blank_end
from midpoint.data.tables.delimited_text import DOUBLE_COLON, as_utf8
from midpoint.data.tables.frames import Frame, frame_cells
from midpoint.errors import MidpointError

logger = logging.getLogger(__name__)

BLANKS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
"""What people write where there is nothing."""
SEPARATORS = ",\t;|"
BINARY = {
    b"PK\x03\x04": "a zip or a spreadsheet",
    b"PAR1": "Parquet under another name",
    b"%PDF": "a PDF",
    b"SQLite format 3": "a database",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
}
"""How files begin that are often taken for tables of text."""
CONTROL = frozenset(range(32)) - frozenset(b"\t\n\v\f\r")
"""Bytes that text does not have."""
FLOATS = (pl.Float32, pl.Float64)
"""Columns in which pandas writes NaN for a blank."""
LONG_NUMBER = r"^\s*[+-]?\d{19,}\s*$"
"""A whole number that 64 bits may not hold: an id, which is read as a word."""
HEAD = 1 << 16
"""Bytes at the beginning that are looked at to guess what the file is like."""
SAMPLED_ROWS = 10_000
"""Rows looked at to guess the types of columns; if a later row disagrees all are."""

UNARY = (
    ". If the table only says who used what, name its column of counts by --count-column, or leave"
    " out the columns of numbers"
)


class Table(NamedTuple):
    """A table as read, and where from."""

    cells: pl.DataFrame
    """The columns, their names as in the file."""
    origin: Origin
    """The file and the line of the first row."""


def read_table(source: Path | Frame, what: str = "the table of ratings") -> Table:
    """Read a table with a header, or three or four columns of numbers without one.

    Args:
        source: A file, a directory of Parquet files, or a table in memory.
        what: What to call a table in memory in messages.
    """
    if not isinstance(source, Path):
        cells, origin = frame_cells(source, what)
        return Table(_long_numbers_as_words(cells), origin)
    path = source
    if path.is_dir() or path.suffix.lower() in {".parquet", ".pq"}:
        try:
            files = path / "**/*.parquet" if path.is_dir() else path
            cells = pl.read_parquet(files).with_columns(pl.col(FLOATS).fill_nan(None))
            return Table(_long_numbers_as_words(cells), Origin(str(path), unit="row"))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise MidpointError(
                f"{path} is no whole Parquet file ({error}); get it again, or name a CSV file"
            ) from error
    table = read_text_table(read_bytes(path), str(path))
    if path.suffix.lower() in ATOMIC:
        return table._replace(cells=without_types(table.cells))
    return table


def read_text_table(content: bytes, where: str) -> Table:
    """Read delimited text, guessing the delimiter from the first line."""
    if not content or content.isspace():
        raise MidpointError(f"{where} is empty; check the path")
    content = _text(content, where)
    first = content[:HEAD].split(b"\n", 1)[0].decode(errors="ignore").strip("\r")
    separator = max(SEPARATORS, key=first.count)
    if separator not in first:
        raise _single_column(first, where)
    cells = next(csv.reader([first], delimiter=separator))
    if len(cells) in {3, 4} and all(is_number(cell) for cell in cells):
        names, header = ["user", "item", "rating", "time"][: len(cells)], 0
        logger.info("%s has no names of columns; read as %s", where, ", ".join(names))
    else:
        names, header = cells, 1
    twice = [cell for cell in names if names.count(cell) > 1]
    if twice and 2 * sum(map(is_number, names)) > len(names):
        raise MidpointError(
            f"{where}, line 1: {first[:40]!r} looks like a row of the table, not like names of"
            " columns; put a line of names above it"
        )
    if twice:
        raise MidpointError(f"{where}, line 1: column {twice[0]!r} appears twice; rename one")
    table = _parse(content, where, separator, names, header)
    return Table(table, Origin(where, first_line=1 + header, breaks=_breaks(table)))


def _text(content: bytes, where: str) -> bytes:
    """Bring text to UTF-8, and say of other files what they are."""
    kind = next((kind for start, kind in BINARY.items() if content.startswith(start)), None)
    text = as_utf8(content).removeprefix(b"\xef\xbb\xbf")
    if kind is None and not CONTROL.isdisjoint(text[:HEAD]):
        kind = "no text"
    if kind is not None:
        raise MidpointError(f"{where} is {kind}; save the table as CSV or Parquet and name that")
    return text


def _single_column(first: str, where: str) -> MidpointError:
    message = (
        f"{where}, line 1: {first[:60]!r} is a single column; separate columns by a comma, tab,"
    )
    message += " semicolon or bar"
    if DOUBLE_COLON in first:
        message += " instead of '::', or name the directory if this is MovieLens 1M (ratings.dat,"
        message += " users.dat, movies.dat)"
    elif len(first.split()) > 1:
        message += " instead of blanks"
    return MidpointError(message)


def _breaks(cells: pl.DataFrame) -> tuple[int, ...]:
    """Find the rows that go over several lines, since a quoted cell holds a line break."""
    broken: list[int] = []
    for column in cells.select(pl.col(pl.String)):
        rows = column.str.contains("\n", literal=True).arg_true()
        for row in rows.to_list():
            broken += [row] * str(column[row]).count("\n")
    return tuple(sorted(broken))


def _parse(
    content: bytes, where: str, separator: str, names: Sequence[str], header: int
) -> pl.DataFrame:
    """Read with guessed types: from a sample, from all rows, and with long numbers as words."""
    words = _ids_with_leading_zero(content, separator, names, header)

    def read(rows: int | None) -> pl.DataFrame:
        return pl.read_csv(
            content,
            separator=separator,
            has_header=False,
            skip_rows=header,
            new_columns=list(names),
            schema_overrides=dict.fromkeys(words, pl.String),
            null_values=BLANKS,
            infer_schema_length=rows,
        )

    for rows, last in ((SAMPLED_ROWS, False), (None, False), (None, True)):
        try:
            if last:
                words += [column.name for column in read(0) if _has_long_number(column)]
            cells = read(rows)
        except pl.exceptions.NoDataError as error:
            raise MidpointError(f"{where} has no rows below its header") from error
        except (pl.exceptions.PolarsError, ValueError) as error:
            problem = error
        else:
            return _long_numbers_as_words(without_blank_end(cells))
    raise _ragged(content, where, separator, len(names)) or MidpointError(
        f"{where} cannot be read: {problem}; check its delimiter and quotes"
    ) from problem


def _has_long_number(words: pl.Series) -> bool:
    return bool(words.str.contains(LONG_NUMBER).any())


def _long_numbers_as_words(cells: pl.DataFrame) -> pl.DataFrame:
    """Write whole numbers of more than 64 bits as words: no array holds them."""
    return cells.with_columns(pl.col(pl.Int128, pl.UInt128).cast(pl.String))


def _ids_with_leading_zero(
    content: bytes, separator: str, names: Sequence[str], header: int
) -> list[str]:
    """Find columns such as ISBNs, which would lose their zeros if they were read as numbers."""
    head = content[:HEAD].decode("utf-8", errors="ignore").split("\n")[header:200]
    rows = list(csv.reader(head, delimiter=separator))
    return [
        name
        for k, name in enumerate(names)
        if any(k < len(row) and row[k][:1] == "0" and row[k].isdigit() and len(row[k]) > 1
               for row in rows)
    ]  # fmt: skip


def _ragged(content: bytes, where: str, separator: str, width: int) -> MidpointError | None:
    """Find the first line with too many fields."""
    reader = csv.reader(io.StringIO(content.decode()), delimiter=separator)
    for row in reader:
        if len(row) > width:
            return MidpointError(
                f"{where}, line {reader.line_num}: {counted(len(row), 'field')} where the first has"
                f" {width}; check for a stray {separator!r}, or quote the text that holds it"
            )
    return None


def missing(role: str, table: Table) -> MidpointError:
    """Return the error that says which column was looked for, and which option names it."""
    return MidpointError(
        f"{table.origin.path}: no column looks like the {role}; it has"
        f" {', '.join(table.cells.columns[:20])}. Name the right one by --{role}-column, or check"
        " the delimiter" + (UNARY if role == "rating" else "")
    )
