"""Anyone's own data: a long table of ratings with a table of people, or one wide table."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import polars as pl

from midpoint.data.origin import Origin, counted
from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.tables.atomic import ITEMS, PEOPLE, atomic_file, beside
from midpoint.data.tables.builder import build_ratings, with_people
from midpoint.data.tables.cells import (
    names_of,
    rating_numbers,
    require_counts,
    require_filled,
    require_past,
    seconds,
    tells_numbers,
)
from midpoint.data.tables.columns import Columns, find, matching, require_header
from midpoint.data.tables.frames import Frame
from midpoint.data.tables.items import add_titles
from midpoint.data.tables.people import features_of
from midpoint.data.tables.reader import Table, missing, read_table
from midpoint.data.tables.wide_table import load_wide
from midpoint.errors import MidpointError

MOST_LONG = 5
"""More columns than this are taken for items, unless ratings are named or people have many rows."""
USED_ONLY = ", or leave out the column of ratings if the table is to say who used what"
"""What else can be done about ratings that some rows have, and others have not."""


def load_table(
    source: Path | Frame,
    *,
    users: Path | Frame | None = None,
    items: Path | Frame | None = None,
    columns: Columns | None = None,
    scale: Scale | None = None,
    shape: Literal["long", "wide"] | None = None,
    name: str | None = None,
) -> Ratings:
    """Read one's own ratings from CSV, TSV, Parquet, RecBole's atomic files, or data frames.

    Args:
        source: One row a rating (user, item, rating, perhaps time and title), or one row a person;
            a file, a directory of Parquet files, or a table in memory.
        users: One row a person with her features, in a table of its own.
        items: One row an item with its title, and perhaps a year, in a table of its own.
        columns: What the columns are called.
        scale: What a rating can be; guessed from the ratings where not given.
        shape: One row a rating ("long") or a person ("wide"); guessed where not given.
        name: What the data set is called; the file's name where not given.
    """
    columns = columns or Columns()
    if isinstance(source, Path):
        source = atomic_file(source) or source
        users = beside(source, PEOPLE) if users is None else users
        items = beside(source, ITEMS) if items is None else items
    table = read_table(source)
    path = table.origin.path
    name = name or (source.name.split(".")[0] if isinstance(source, Path) else "ratings")
    if shape is None and columns == Columns():
        require_header(table.cells, table.origin)
    if (shape or _shape(table, columns)) == "long":
        usable = {"user", "item", "rating", "count", "time", "title"} | (
            {"features"} if users is not None else set()
        )
        columns.require_only(usable, f"{path} has one row a rating")
        ratings = _load_long(table, columns, scale, name)
    else:
        columns.require_only({"user", "items", "features"}, f"{path} is read with one row a person")
        ratings = load_wide(table, columns, scale, name, has_users_table=users is not None)
    if items is not None:
        ratings = add_titles(ratings, items)
    return ratings if users is None else add_users_table(ratings, users, columns)


def add_users_table(
    ratings: Ratings, source: Path | Frame, columns: Columns | None = None
) -> Ratings:
    """Add the features of a table with one row a person."""
    columns = columns or Columns()
    table = read_table(source, "the table of users")
    cells = table.cells
    user = columns.user if columns.user in cells.columns else find(cells, "user", "id")
    if user is None:
        raise missing("user", table)
    rest = [column for column in cells.columns if column != user]
    people = features_of(
        cells.rename({user: "user"}) if user != "user" else cells,
        rest,
        columns.features,
        table.origin.path,
    )
    return with_people(ratings, people, table.origin, level=logging.WARNING)


def _shape(table: Table, columns: Columns) -> Literal["long", "wide"]:
    if columns.items is not None:
        return "wide"
    if columns.item is not None or columns.rating is not None or columns.count is not None:
        return "long"
    cells = table.cells
    user, item, rating = (find(cells, role) for role in ("user", "item", "rating"))
    if cells.width <= MOST_LONG:
        return "wide" if item is None and rating is None else "long"
    repeats = user is not None and cells[user].is_duplicated().any()
    return "long" if item is not None and (rating is not None or repeats) else "wide"


def _load_long(table: Table, columns: Columns, scale: Scale | None, name: str) -> Ratings:
    cells, origin = table
    if columns.count is not None and columns.rating is not None:
        raise MidpointError(
            f"{origin.path}: name a column of ratings or one of counts, not both; to make sets of"
            " ratings, say from which one on by --liked"
        )
    chosen: dict[str, pl.Series] = {}
    for role in ("user", "item", "rating", "time", "title"):
        column = getattr(columns, role) or find(cells, role)
        if role == "rating" and (columns.count is not None or column is None):
            continue
        if column is None and role in {"user", "item"}:
            raise missing(role, table)
        if column is not None:
            chosen[role] = cells[matching([column], cells.columns, origin.path)[0]]
    if "rating" not in chosen:
        return _load_sets(table, columns, chosen, scale, name)
    for role in ("user", "item"):
        require_filled(chosen[role], role, origin)
    require_filled(chosen["rating"], "rating", origin, USED_ONLY)
    remedy = f"remove the {origin.unit}, or name the column of ratings by --rating-column"
    chosen["rating"] = rating_numbers(chosen["rating"], origin, remedy)
    if "time" in chosen:
        chosen["time"] = require_past(seconds(chosen["time"]), origin)
    titles = _titles(chosen)
    return build_ratings(pl.DataFrame(chosen), name=name, origin=origin, scale=scale, titles=titles)


def _titles(chosen: Mapping[str, pl.Series]) -> dict[str, str]:
    """Return what items are called, by item, if a column says it."""
    if "title" not in chosen:
        return {}
    pairs = pl.DataFrame({"item": names_of(chosen["item"]), "title": chosen["title"]})
    return {item: str(title) for item, title in pairs.drop_nulls().unique("item").iter_rows()}


def _load_sets(
    table: Table,
    columns: Columns,
    chosen: dict[str, pl.Series],
    scale: Scale | None,
    name: str,
) -> Ratings:
    """Read unary data: one row says that somebody used an item, once or several times."""
    cells, origin = table
    if scale is not None and not scale.is_unary:
        raise MidpointError(
            f"{origin.path} has no ratings, so --scale has no effect; leave it out, or name the"
            " column of ratings by --rating-column"
        )
    for role in ("user", "item"):
        require_filled(chosen[role], role, origin)
    if columns.count is None:
        named = {column.name for column in chosen.values()}
        others = [c for c in cells.columns if c not in named and tells_numbers(cells[c])]
        if others:  # a rating by another name must not pass for a mere sign of use
            raise missing("rating", table)
        used = pl.Series([1.0]).new_from_index(0, cells.height) > 0
    else:
        column = cells[matching([columns.count], cells.columns, origin.path)[0]]
        used = require_counts(column, origin) > 0
    rows = pl.DataFrame(
        {role: chosen[role] for role in ("user", "item")}
        | ({"time": require_past(seconds(chosen["time"]), origin)} if "time" in chosen else {})
    ).with_columns(rating=pl.lit(1.0, pl.Float32))
    kept = rows.filter(used)
    if not kept.height:
        raise MidpointError(f"{origin.path}: nobody used anything; check the column of counts")
    # The time of an item is when she first used it, in whatever order the rows are.
    sets = kept.group_by("user", "item", maintain_order=True).agg(pl.all().min())
    notes = {
        "with a count of 0 or none": rows.height - kept.height,
        "of somebody using an item again": kept.height - sets.height,
    }
    made = build_ratings(
        sets, name=name, origin=Origin(origin.path), scale=Scale.unary(), titles=_titles(chosen)
    )
    for what, number in notes.items():
        if number:
            made = made.leaving_out(f"{counted(number, origin.unit)} {what}")
    rated = None if columns.count is None else find(cells, "rating")
    if rated not in {None, columns.count}:
        made = made.leaving_out(f"column {rated!r}, since the counts say who used what")
    return made
