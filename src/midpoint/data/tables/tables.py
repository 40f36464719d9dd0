"""Anyone's own data: a long table of ratings with a table of people, or one wide table."""

import logging
from pathlib import Path
from typing import Literal

import polars as pl

from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.tables.builder import build_ratings, with_people
from midpoint.data.tables.cells import names_of, rating_numbers, require_filled, seconds
from midpoint.data.tables.columns import Columns, find, matching
from midpoint.data.tables.people import features_of
from midpoint.data.tables.reader import Table, read_table
from midpoint.data.tables.wide_table import load_wide
from midpoint.errors import MidpointError


def load_table(
    path: Path,
    *,
    users: Path | None = None,
    columns: Columns | None = None,
    scale: Scale | None = None,
    shape: Literal["long", "wide"] | None = None,
    name: str | None = None,
) -> Ratings:
    """Read one's own ratings from CSV, TSV or Parquet.

    Args:
        path: One row a rating (user, item, rating, perhaps time and title), or one row a person;
            a file, or a directory of Parquet files.
        users: One row a person with her features, in a file of its own.
        columns: What the columns are called.
        scale: What a rating can be; guessed from the ratings where not given.
        shape: One row a rating ("long") or a person ("wide"); guessed where not given.
        name: What the data set is called; the file's name where not given.
    """
    columns = columns or Columns()
    table = read_table(path)
    name = name or path.name.split(".")[0]
    if (shape or _shape(table, columns)) == "long":
        usable = {"user", "item", "rating", "time", "title"} | ({"features"} if users else set())
        columns.require_only(usable, f"{path} has one row a rating")
        ratings = _load_long(table, columns, scale, name)
    else:
        columns.require_only({"user", "items", "features"}, f"{path} has one row a person")
        ratings = load_wide(table, columns, scale, name, has_users_table=users is not None)
    return ratings if users is None else add_users_table(ratings, users, columns)


def add_users_table(ratings: Ratings, path: Path, columns: Columns | None = None) -> Ratings:
    """Add the features of a table with one row a person."""
    columns = columns or Columns()
    table = read_table(path)
    cells = table.cells
    user = columns.user if columns.user in cells.columns else find(cells, "user", "id")
    if user is None:
        raise _missing("user", table)
    rest = [column for column in cells.columns if column != user]
    people = features_of(
        cells.rename({user: "user"}) if user != "user" else cells,
        rest,
        columns.features,
        str(path),
    )
    return with_people(ratings, people, table.origin, level=logging.WARNING)


def _shape(table: Table, columns: Columns) -> Literal["long", "wide"]:
    if columns.items is not None:
        return "wide"
    if columns.item is not None or columns.rating is not None:
        return "long"
    roles = [find(table.cells, role) for role in ("item", "rating")]
    return "long" if all(roles) or (any(roles) and table.cells.width <= 5) else "wide"


def _load_long(table: Table, columns: Columns, scale: Scale | None, name: str) -> Ratings:
    cells, origin = table
    chosen: dict[str, pl.Series] = {}
    for role in ("user", "item", "rating", "time", "title"):
        column = getattr(columns, role) or find(cells, role)
        if column is None and role in {"user", "item", "rating"}:
            raise _missing(role, table)
        if column is not None:
            chosen[role] = cells[matching([column], cells.columns, origin.path)[0]]
    for role in ("user", "item", "rating"):
        require_filled(chosen[role], role, origin)
    remedy = f"remove the {origin.unit}, or name the column that holds the ratings"
    chosen["rating"] = rating_numbers(chosen["rating"], origin, remedy)
    if "time" in chosen:
        chosen["time"] = seconds(chosen["time"])
    titles = {}
    if "title" in chosen:
        pairs = pl.DataFrame({"item": names_of(chosen["item"]), "title": chosen["title"]})
        titles = {item: str(title) for item, title in pairs.drop_nulls().unique("item").iter_rows()}
    return build_ratings(pl.DataFrame(chosen), name=name, origin=origin, scale=scale, titles=titles)


def _missing(role: str, table: Table) -> MidpointError:
    return MidpointError(
        f"{table.origin.path}: no column looks like the {role}; it has"
        f" {', '.join(table.cells.columns[:20])}. Name the right one, or check the delimiter"
    )
