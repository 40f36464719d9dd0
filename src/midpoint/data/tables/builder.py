"""From tables as loaders read them, one row a rating or a person, to `Ratings`."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from midpoint.data.end_levels import require_ends_are_levels
from midpoint.data.feature import Feature, compare_names
from midpoint.data.origin import Origin
from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.tables.cells import (
    names_of,
    rating_numbers,
    require_filled,
    require_one_each,
    whole,
)
from midpoint.errors import MidpointError


def build_ratings(
    table: pl.DataFrame,
    *,
    name: str,
    origin: Origin,
    scale: Scale | None = None,
    titles: Mapping[str, str] | None = None,
) -> Ratings:
    """Build from a table with the columns `user`, `item`, `rating` and perhaps `time`.

    Ids are whole numbers or words. Words are numbered here, in sorted order, since numbers sort
    many times faster; if something is wrong they go in as they are, so that the error names them.
    """
    for column in ("user", "item", "rating"):
        require_filled(table[column], column, origin)
    users, user_names = _numbered(table["user"], "user", origin)
    items, item_names = _numbered(table["item"], "item", origin)
    values = table["rating"].to_numpy()
    time = _time(table)
    try:
        ratings = Ratings.from_columns(
            users,
            items,
            values,
            scale=scale,
            item_names=None if item_names is not None else titles,
            time=time,
            name=name,
            origin=origin,
        )
    except MidpointError:
        Ratings.from_columns(
            table["user"].to_numpy(), table["item"].to_numpy(), values, scale=scale, origin=origin
        )
        raise
    if user_names is not None:
        ratings = replace(ratings, user_ids=user_names)
    if item_names is not None:
        called = [(titles or {}).get(str(item), str(item)) for item in item_names]
        ratings = replace(ratings, item_ids=item_names, item_names=np.array(called, dtype=np.str_))
    return ratings


def ratings_of_wide(
    table: pl.DataFrame,
    items: Sequence[str],
    *,
    name: str,
    origin: Origin,
    scale: Scale | None = None,
    titles: Mapping[str, str] | None = None,
) -> Ratings:
    """Build from a table with a column `user` and one for each item, blank where not rated."""
    if not items:
        raise MidpointError(
            f"{origin.path} has no column of ratings; name the item columns, or check the delimiter"
        )
    require_one_each(names_of(table["user"]), origin)
    remedy = "leave the column out of the items (--item-columns)"
    numbers = table.select(
        rating_numbers(table[item], origin, remedy).fill_nan(None) for item in items
    )
    if scale is None:
        scale = _guess_wide(numbers.to_numpy(), origin)
        brought = (pl.Series(part.name, scale.nearest(part.to_numpy())) for part in numbers)
        numbers = numbers.select(part.fill_nan(None) for part in brought)
    for item in items:
        _require_on_scale(numbers[item], scale, origin)
    long = (
        numbers.with_columns(user=table["user"])
        .unpivot(index="user", variable_name="item", value_name="rating")
        .drop_nulls("rating")
    )
    return build_ratings(long, name=name, origin=Origin(origin.path), scale=scale, titles=titles)


def _guess_wide(numbers: NDArray[Any], origin: Origin) -> Scale:
    """Guess the scale of a table with a row for each person and a column for each item."""
    value = numbers.ravel()
    rated = np.flatnonzero(np.isfinite(value))
    row, column = np.divmod(rated, numbers.shape[1])
    scale = Scale.guess(value, origin.path, lambda index: origin.locate(index // numbers.shape[1]))
    require_ends_are_levels(row, column, value[rated], lambda index: origin.locate(row[index]))
    return scale


def row_numbers(table: pl.DataFrame) -> pl.Series:
    """Number the people of a table without a column for their names, from one."""
    return pl.Series("user", np.arange(1, table.height + 1))


def with_people(
    ratings: Ratings, people: pl.DataFrame, origin: Origin, *, level: int = logging.DEBUG
) -> Ratings:
    """Add what a table knows of the users: a column `user`, and one of labels for each feature.

    Users the table lacks have no category, and people who rate nothing are left out: both are
    logged, loudly where the table is somebody's own and may be the wrong one.
    """
    table = people.with_columns(user=names_of(people["user"]))
    require_one_each(table["user"], origin)
    users = ratings.user_ids.tolist()
    left_out = compare_names(users, table["user"].to_list(), origin.path, level)
    known = pl.DataFrame({"user": users}, schema={"user": pl.String})
    matched = known.join(table, on="user", how="left", maintain_order="left")
    for column in matched.columns[1:]:
        labels = matched[column].cast(pl.String).str.strip_chars()
        ratings = ratings.with_feature(Feature.from_labels(column, labels.to_list()))
    return ratings.leaving_out(left_out) if left_out else ratings


def _numbered(
    ids: pl.Series, role: str, origin: Origin
) -> tuple[NDArray[np.int64], NDArray[np.str_] | None]:
    """Return whole numbers as they are, anything else as ranks among the sorted names."""
    ids = whole(ids)
    if ids.dtype.is_integer():
        return ids.to_numpy(), None
    words = names_of(ids)
    require_filled(words.set(words == "", None), role, origin)
    names = words.unique().sort()
    ranks = words.cast(pl.Enum(names)).to_physical().to_numpy()
    return ranks.astype(np.int64), np.array(names.to_list(), dtype=np.str_)


def _time(table: pl.DataFrame) -> NDArray[np.int64] | None:
    """Return the times, unless they are blank or all the same and so say nothing."""
    if "time" not in table.columns or table["time"].null_count():
        return None
    time = table["time"].to_numpy()
    return None if not len(time) or time.min() == time.max() else time.astype(np.int64)


def _require_on_scale(column: pl.Series, scale: Scale, origin: Origin) -> None:
    legal = scale.contains(column.to_numpy()) | column.is_null().to_numpy()
    if not legal.all():
        row = int(np.argmin(legal))
        raise MidpointError(
            f"{origin.locate(row)}: {column[row]:g} in column {column.name!r} is not on the scale"
            f" ({scale}), {int((~legal).sum())} such in the column; correct or blank"
            " it, name the scale, or leave the column out of the items"
        )
