"""Text tables of a known format, read fast; when one cannot be read, the line that is wrong."""

import codecs
from collections.abc import Mapping
from functools import partial

import polars as pl

from midpoint.data.origin import counted
from midpoint.data.tables.cells import is_number, without_blank_end
from midpoint.errors import MidpointError

DOUBLE_COLON = "::"
"""MovieLens 1M's separator; read as single colons with an empty column in between."""

ColumnType = type[pl.DataType]


def as_utf8(content: bytes) -> bytes:
    """Bring text to UTF-8: UTF-16 (Flixster) is seen by its zeros, other bytes are Latin-1."""
    head = content[:4096]
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace").encode()
    even, odd = head[::2].count(0), head[1::2].count(0)
    # Zeros on one side only, and many of them: a stray one does not make UTF-16 of a file.
    if min(even, odd) == 0 and 8 * max(even, odd) >= len(head) > 0:
        encoding = "utf-16-be" if even else "utf-16-le"
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
    table = without_blank_end(table.select(list(columns)))
    if any(table[name].null_count() for name, kind in columns.items() if kind is not pl.String):
        raise fault("a field is blank")
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
                f"{where}, line {number}: {counted(len(cells), 'field')} where {len(columns)} are"
                f" expected"
                f" ({', '.join(columns)} separated by {separator!r}); check the file's format"
            )
        for (name, kind), cell in zip(columns.items(), cells, strict=False):
            if kind is not pl.String and not cell:
                return MidpointError(
                    f"{where}, line {number}: there is no {name}; fill it in or remove the line"
                )
            if kind is not pl.String and not is_number(cell, must_be_whole=kind is not pl.Float32):
                return MidpointError(
                    f"{where}, line {number}: {name} {cell!r} is not a"
                    f" {'number' if kind is pl.Float32 else 'whole number'};"
                    " correct it or remove the line"
                )
    return MidpointError(f"{where} cannot be read: {error}; check that it is the right file")
