"""Wide tables: one row a person, one column an item, blank where she gave no rating."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from midpoint.data.ratings import Origin, Ratings
from midpoint.data.scale import Scale
from midpoint.data.sources.building import build_ratings
from midpoint.errors import MidpointError


def ratings_of_wide(
    table: pl.DataFrame,
    items: Sequence[str],
    *,
    name: str,
    origin: Origin,
    scale: Scale | None = None,
    titles: Mapping[str, str] | None = None,
) -> Ratings:
    """Turn the item columns of a table with a column `user` into ratings."""
    if not items:
        raise MidpointError(
            f"{origin.path} has no column of ratings; name the item columns, or check the delimiter"
        )
    _require_one_row_each(table["user"], origin)
    numbers = pl.DataFrame([_numbers(table[item], origin) for item in items])
    scale = scale or Scale.guess(numbers.to_numpy().ravel())
    for item in items:
        _require_on_scale(numbers[item], scale, origin)
    long = (
        numbers.with_columns(user=table["user"])
        .unpivot(index="user", variable_name="item", value_name="rating")
        .drop_nulls("rating")
    )
    return build_ratings(long, name=name, origin=Origin(origin.path), scale=scale, titles=titles)


def row_numbers(table: pl.DataFrame) -> pl.Series:
    """Number the people of a table without a column for their names, from one."""
    return pl.Series("user", np.arange(1, table.height + 1))


def _require_one_row_each(users: pl.Series, origin: Origin) -> None:
    if users.null_count():
        row = int(users.is_null().arg_max() or 0)
        raise MidpointError(f"{origin.line(row)}: there is no user; fill it in or remove the line")
    twice = users.is_duplicated()
    if twice.any():
        row = int((users == users.filter(twice)[0]).arg_true()[1])
        raise MidpointError(
            f"{origin.line(row)}: user {users[row]} stands here again; a wide table has one line"
            " for each user"
        )


def _numbers(column: pl.Series, origin: Origin) -> pl.Series:
    """Read a column as ratings; blanks and NaN are no rating."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float32).fill_nan(None)
    number = column.cast(pl.String).str.strip_chars().cast(pl.Float32, strict=False)
    wrong = number.is_null() & column.is_not_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise MidpointError(
            f"{origin.line(row)}: {column[row]!r} in column {column.name!r} is not a rating;"
            " correct it, or leave the column out of the items"
        )
    return number.fill_nan(None)


def _require_on_scale(column: pl.Series, scale: Scale, origin: Origin) -> None:
    legal = scale.contains(column.to_numpy()) | column.is_null().to_numpy()
    if not legal.all():
        row = int(np.argmin(legal))
        raise MidpointError(
            f"{origin.line(row)}: {column[row]:g} in column {column.name!r} is not on the scale"
            f" ({scale}), {int((~legal).sum())} such in the column; correct or blank"
            " it, name the scale, or leave the column out of the items"
        )
