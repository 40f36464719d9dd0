"""From tables as loaders read them to `Ratings`."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from midpoint.data.feature import Feature
from midpoint.data.ratings import Origin, Ratings
from midpoint.data.scale import Scale
from midpoint.data.sources.delimited import require_filled
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
    require_filled(table, ["user", "item", "rating"], origin)
    users, user_names = _numbered(table["user"])
    items, item_names = _numbered(table["item"])
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


def with_people(ratings: Ratings, people: pl.DataFrame, origin: Origin) -> Ratings:
    """Add what a table knows of the users: a column `user`, and one of labels for each feature.

    Users the table lacks have no category; people who rate nothing are ignored.
    """
    table = people.with_columns(user=names_of(people["user"]))
    require_filled(table, ["user"], origin)
    twice = table["user"].is_duplicated()
    if twice.any():
        row = int((table["user"] == table["user"].filter(twice)[0]).arg_true()[1])
        raise MidpointError(
            f"{origin.line(row)}: user {table['user'][row]} stands here again; keep one line for"
            " each user"
        )
    known = pl.DataFrame({"user": ratings.user_ids.tolist()}, schema={"user": pl.String})
    if known.join(table, on="user", how="semi").is_empty():
        raise MidpointError(
            f"{origin.path} knows none of the {ratings.n_users} users of {ratings.name}: it has"
            f" {table['user'][0]!r} where the ratings have {known['user'][0]!r}; check the user"
            " columns"
        )
    matched = known.join(table, on="user", how="left", maintain_order="left")
    for column in matched.columns[1:]:
        labels = matched[column].cast(pl.String).str.strip_chars()
        ratings = ratings.with_feature(Feature.from_labels(column, labels.to_list()))
    return ratings


def names_of(ids: pl.Series) -> pl.Series:
    """Write ids as words; whole numbers that came as 1.0 (a column with gaps) lose the point."""
    return _whole(ids).cast(pl.String).str.strip_chars()


def _numbered(ids: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.str_] | None]:
    """Return whole numbers as they are, anything else as ranks among the sorted names."""
    ids = _whole(ids)
    if ids.dtype.is_integer():
        return ids.to_numpy(), None
    words = names_of(ids)
    names = words.unique().sort()
    ranks = words.cast(pl.Enum(names)).to_physical().to_numpy()
    return ranks.astype(np.int64), np.array(names.to_list(), dtype=np.str_)


def _whole(ids: pl.Series) -> pl.Series:
    whole = ids.dtype.is_float() and (ids.drop_nulls() % 1 == 0).all()
    return ids.cast(pl.Int64) if whole else ids


def _time(table: pl.DataFrame) -> NDArray[np.int64] | None:
    """Return the times, unless they are blank or all the same and so say nothing."""
    if "time" not in table.columns or table["time"].null_count():
        return None
    time = table["time"].to_numpy()
    return None if not len(time) or time.min() == time.max() else time.astype(np.int64)
