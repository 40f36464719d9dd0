"""Cells of tables as loaders read them: names, numbers, times, and what must not be blank."""

from time import time as now

import polars as pl

from midpoint.data.origin import Origin, counted
from midpoint.data.split import DAY
from midpoint.errors import MidpointError


def require_filled(column: pl.Series, what: str, origin: Origin, remedy: str = "") -> None:
    """Refuse a column with an empty cell, naming its line, and what else may be done about it."""
    empty = column.is_null()
    if empty.any():
        row = int(empty.arg_max() or 0)
        raise MidpointError(
            f"{origin.locate(row)}: there is no {what}"
            f" ({counted(int(empty.sum()), f'such {origin.unit}')} in all); fill it in or remove"
            f" the {origin.unit}{remedy}"
        )


def require_one_each(users: pl.Series, origin: Origin) -> None:
    """Refuse a table of people in which somebody has no name, or stands twice."""
    require_filled(users, "user", origin)
    twice = users.is_duplicated()
    if twice.any():
        row = int((users == users.filter(twice)[0]).arg_true()[1])
        raise MidpointError(
            f"{origin.locate(row)}: user {users[row]} appears again; keep one {origin.unit} for"
            " each user"
        )


def without_blank_end(table: pl.DataFrame) -> pl.DataFrame:
    """Drop empty lines at the end of the file; those in between keep the count of lines right."""
    while table.height and all(cell is None for cell in table.row(table.height - 1)):
        table = table.head(table.height - 1)
    return table


def names_of(column: pl.Series) -> pl.Series:
    """Write ids or labels as words without blanks around them."""
    return whole(column).cast(pl.String).str.strip_chars()


def whole(column: pl.Series) -> pl.Series:
    """Make integers of whole numbers that came as 1.0, as those of a column with gaps do.

    NaN, which pandas writes into such gaps, becomes null.
    """
    if not column.dtype.is_float():
        return column
    column = column.fill_nan(None)
    known = column.drop_nulls()
    is_whole = (known % 1 == 0).all() and (known.abs() < 2**63).all()
    return column.cast(pl.Int64) if is_whole else column


def is_number(cell: str, *, must_be_whole: bool = False) -> bool:
    """Tell whether a piece of text is a number."""
    try:
        int(cell) if must_be_whole else float(cell)
    except ValueError:
        return False
    return True


def as_numbers(column: pl.Series) -> pl.Series:
    """Read a column as numbers, null where a cell is none."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float32)
    return column.cast(pl.String).str.strip_chars().cast(pl.Float32, strict=False)


def tells_numbers(column: pl.Series) -> bool:
    """Whether a column may hold ratings: numbers, true and false, or words most of which are."""
    if column.dtype != pl.String:
        return column.dtype.is_numeric() or column.dtype == pl.Boolean
    words = column.drop_nulls()
    return 2 * as_numbers(words.str.replace(",", ".")).count() > len(words)


def rating_numbers(column: pl.Series, origin: Origin, remedy: str) -> pl.Series:
    """Read a column as ratings, blank where it is; the error names the first word among them."""
    number = as_numbers(column)
    wrong = number.is_null() & column.is_not_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        comma = is_number(str(column[row]).replace(",", "."))
        correct = "write a point instead of the comma" if comma else "correct it"
        raise MidpointError(
            f"{origin.locate(row)}: {column[row]!r} in column {column.name!r} is not a number;"
            f" {correct}, or {remedy}"
        )
    return number


def require_counts(column: pl.Series, origin: Origin) -> pl.Series:
    """Read a column of counts; blank is 0, and a negative or infinite one is refused."""
    number = rating_numbers(column, origin, "name the column of counts by --count-column")
    number = number.fill_nan(None).fill_null(0.0)
    wrong = (number < 0) | number.is_infinite()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise MidpointError(
            f"{origin.locate(row)}: a count of {number[row]:g} in column {column.name!r}"
            f" ({counted(int(wrong.sum()), f'such {origin.unit}')} in all); counts are 0 or more,"
            " and ratings are named by --rating-column"
        )
    return number


def require_past(time: pl.Series, origin: Origin) -> pl.Series:
    """Refuse times after tomorrow, which nobody can have used anything at."""
    late = (time > int(now()) + DAY).fill_null(value=False)
    if late.any():
        row = int(late.arg_max() or 0)
        raise MidpointError(
            f"{origin.locate(row)}: its time, {time[row]} seconds after 1970, is in the future"
            f" ({counted(int(late.sum()), f'such {origin.unit}')} in all); correct the times, or"
            " name their column by --time-column"
        )
    return time


def seconds(column: pl.Series) -> pl.Series:
    """Read times as seconds since 1970, from seconds, milliseconds, dates or text."""
    if column.dtype.is_numeric():
        number = column.cast(pl.Int64, strict=False)
        largest = number.max()
        return number // 1000 if isinstance(largest, int) and largest > 10**11 else number
    if column.dtype == pl.String:
        # Dates repeat, and guessing the format of one takes long.
        texts = column.unique()
        try:
            column = column.replace_strict(texts, texts.str.to_datetime(strict=False))
        except pl.exceptions.PolarsError:
            return pl.Series("time", [None] * len(column), dtype=pl.Int64)
    return column.cast(pl.Datetime("ms"), strict=False).dt.epoch("s").alias("time")
