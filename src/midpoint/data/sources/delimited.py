"""Text tables of a known format, read fast; when one cannot be read, the line that is wrong."""

import codecs
from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from midpoint.data.ratings import Origin
from midpoint.errors import MidpointError

DOUBLE_COLON = "::"
"""MovieLens 1M's separator; read as single colons with an empty column in between."""

ColumnType = type[pl.DataType]


def as_utf8(content: bytes) -> bytes:
    """Bring text to UTF-8: UTF-16 (Flixster) is told by its zeros, other bytes are Latin-1."""
    head = content[:4096]
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace").encode()
    if b"\0" in head:
        encoding = "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
        return content.decode(encoding, errors="replace").encode()
    if content.isascii():
        return content
    try:
        content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1").encode()
    return content


def read_delimited(
    content: bytes,
    where: str,
    columns: Mapping[str, ColumnType],
    *,
    separator: str = "\t",
    has_header: bool = False,
) -> pl.DataFrame:
    """Read a table whose columns are known beforehand, without quotes.

    Args:
        content: The bytes of the file.
        where: The file's name for error messages.
        columns: All columns in the order of the file, with their types; only text may be blank.
        separator: One character, or `DOUBLE_COLON`.
        has_header: Whether the first line names the columns; `columns` rules in any case.
    """
    if not content or content.isspace():
        raise MidpointError(f"{where} is empty; get the file again")
    content = as_utf8(content)
    fault = partial(
        _fault, content, where, columns, separator=separator, header_lines=int(has_header)
    )
    schema: dict[str, ColumnType] = {}
    for name, kind in columns.items():
        if schema and separator == DOUBLE_COLON:
            schema[f"gap before {name}"] = pl.Int8
        schema[name] = kind
    try:
        table = pl.read_csv(
            content,
            separator=separator[0],
            has_header=False,
            skip_rows=int(has_header),
            schema=schema,
            quote_char=None,
        )
    except pl.exceptions.PolarsError as error:
        raise fault(error) from error
    gaps = [table[name] for name in schema if name not in columns]
    if any(gap.null_count() < len(gap) for gap in gaps):
        raise fault("a colon stands alone")
    table = _without_blank_end(table.select(list(columns)))
    if any(table[name].null_count() for name, kind in columns.items() if kind is not pl.String):
        raise fault("a field is blank")
    return table


def require_filled(table: pl.DataFrame, columns: Sequence[str], origin: Origin) -> None:
    """Refuse a table with an empty cell in any of these columns, naming its line."""
    for column in columns:
        empty = table[column].is_null()
        if empty.any():
            row = int(empty.arg_max() or 0)
            raise MidpointError(
                f"{origin.line(row)}: there is no {column} ({int(empty.sum())} such lines in all);"
                " fill it in or remove the line"
            )


def _without_blank_end(table: pl.DataFrame) -> pl.DataFrame:
    """Drop empty lines at the end of the file; those in between keep the count of lines right."""
    while table.height and all(value is None for value in table.row(table.height - 1)):
        table = table.head(table.height - 1)
    return table


def _fault(
    content: bytes,
    where: str,
    columns: Mapping[str, ColumnType],
    error: Exception | str,
    *,
    separator: str,
    header_lines: int,
) -> MidpointError:
    """Find the first line that does not fit: slow, and only walked when something is wrong."""
    lines = content.decode("utf-8", errors="replace").rstrip("\r\n").split("\n")
    for number, line in enumerate(lines[header_lines:], start=1 + header_lines):
        cells = line.rstrip("\r").split(separator)
        if len(cells) != len(columns) and line.strip():
            return MidpointError(
                f"{where}, line {number}: {len(cells)} fields where {len(columns)} are expected"
                f" ({', '.join(columns)} separated by {separator!r}); check the file's format"
            )
        for (name, kind), cell in zip(columns.items(), cells, strict=False):
            if kind is not pl.String and not cell:
                return MidpointError(
                    f"{where}, line {number}: there is no {name}; fill it in or remove the line"
                )
            if kind is not pl.String and not _is_number(cell, kind):
                return MidpointError(
                    f"{where}, line {number}: {name} {cell!r} is not a"
                    f" {'number' if kind is pl.Float32 else 'whole number'};"
                    " correct it or remove the line"
                )
    return MidpointError(f"{where} cannot be read: {error}; check that it is the right file")


def _is_number(cell: str, kind: ColumnType) -> bool:
    try:
        float(cell) if kind is pl.Float32 else int(cell)
    except ValueError:
        return False
    return True
