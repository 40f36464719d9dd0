"""Anyone's own data: a long table of ratings with a table of people, or one wide table."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from midpoint.data.ratings import Origin, Ratings
from midpoint.data.scale import Scale
from midpoint.data.sources.building import build_ratings, with_people
from midpoint.data.sources.delimited import require_filled
from midpoint.data.sources.people import features_of, matching
from midpoint.data.sources.reading import Table, read_table
from midpoint.data.sources.wide import ratings_of_wide, row_numbers
from midpoint.errors import MidpointError

GUESSES: Mapping[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "username", "reviewer", "reviewerid", "customer",
             "customerid", "member", "memberid", "person", "personid", "respondent"),
    "item": ("item", "itemid", "iid", "movie", "movieid", "film", "filmid", "product", "productid",
             "asin", "book", "bookid", "isbn", "song", "songid", "track", "trackid", "show",
             "showid", "business", "businessid", "program", "programme"),
    "rating": ("rating", "score", "stars", "star", "value", "overall", "grade", "vote"),
    "time": ("time", "timestamp", "date", "datetime", "unixreviewtime"),
    "title": ("title", "itemtitle", "itemname", "movietitle", "moviename", "name"),
}  # fmt: skip
"""Names that columns go by, without case, spaces and underscores, the likeliest first."""
PERSONAL = ("gender", "sex", "age", "ageband", "party", "politics", "ideology", "education",
            "occupation", "race", "religion", "income", "region", "country", "zip")  # fmt: skip
"""Names of columns of a wide table that are features even where their values are numbers."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of one's own table are called; what is not named is guessed."""

    user: str | None = None
    """Who rates."""
    item: str | None = None
    """What is rated, in a long table."""
    rating: str | None = None
    """The rating, in a long table."""
    time: str | None = None
    """When it was rated, in a long table."""
    title: str | None = None
    """What a person calls the item, in a long table."""
    items: tuple[str, ...] | None = None
    """The columns that are items, in a wide table; patterns such as `V16*` will do."""
    features: tuple[str, ...] | None = None
    """The columns that are features of users; patterns will do."""


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
        path: One row a rating (user, item, rating, perhaps time and title), or one row a person.
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
        ratings = _load_long(table, columns, scale, name)
    else:
        ratings = _load_wide(table, columns, scale, name, has_users_table=users is not None)
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
    return with_people(ratings, people, table.origin)


def find(cells: pl.DataFrame, role: str, *more: str) -> str | None:
    """Guess which column plays a role by its name; RecBole's `user_id:token` will do."""
    plain = {plain_name(column): column for column in reversed(cells.columns)}
    return next((plain[guess] for guess in (*GUESSES[role], *more) if guess in plain), None)


def _shape(table: Table, columns: Columns) -> Literal["long", "wide"]:
    if columns.items is not None:
        return "wide"
    if columns.item is not None or columns.rating is not None:
        return "long"
    found = [find(table.cells, role) for role in ("item", "rating")]
    return "long" if all(found) or (any(found) and table.cells.width <= 5) else "wide"


def _load_long(table: Table, columns: Columns, scale: Scale | None, name: str) -> Ratings:
    cells, origin = table
    chosen: dict[str, pl.Series] = {}
    for role in ("user", "item", "rating", "time", "title"):
        column = getattr(columns, role) or find(cells, role)
        if column is None and role in {"user", "item", "rating"}:
            raise _missing(role, table)
        if column is not None:
            chosen[role] = cells[matching([column], cells.columns, origin.path)[0]].alias(role)
    require_filled(pl.DataFrame(chosen), ["user", "item"], origin)
    chosen["rating"] = rating_numbers(chosen["rating"], origin)
    if "time" in chosen:
        chosen["time"] = seconds(chosen["time"])
    titles = {}
    if "title" in chosen:
        pairs = pl.DataFrame([chosen["item"], chosen["title"]]).drop_nulls().unique("item")
        titles = {str(item): str(title) for item, title in pairs.iter_rows()}
    return build_ratings(pl.DataFrame(chosen), name=name, origin=origin, scale=scale, titles=titles)


def _load_wide(
    table: Table, columns: Columns, scale: Scale | None, name: str, *, has_users_table: bool
) -> Ratings:
    cells, origin = table
    user = columns.user or find(cells, "user", "id")
    if user is not None:
        matching([user], cells.columns, origin.path)
    rest = [column for column in cells.columns if column != user]
    chosen = None if has_users_table else columns.features
    if columns.items is not None:
        items = [c for c in matching(columns.items, cells.columns, origin.path) if c in rest]
    else:
        named = matching(chosen or (), cells.columns, origin.path)
        items = [c for c in rest if c not in named and _may_be_item(cells[c])]
        if len(items) < 2:
            raise MidpointError(
                f"{origin.path}: neither do columns look like user, item and rating, nor several"
                f" like items; it has {', '.join(cells.columns[:20])}. Name them, or check the"
                " delimiter"
            )
    people = cells.with_columns(user=row_numbers(cells) if user is None else cells[user])
    ratings = ratings_of_wide(people, items, name=name, origin=origin, scale=scale)
    others = [column for column in rest if column not in items]
    features = features_of(people, others, chosen, origin.path)
    return with_people(ratings, features, origin) if features.width > 1 else ratings


def _may_be_item(column: pl.Series) -> bool:
    numeric = column.dtype.is_numeric() or column.dtype in {pl.Boolean, pl.Null}
    return numeric and plain_name(column.name) not in PERSONAL


def rating_numbers(column: pl.Series, origin: Origin) -> pl.Series:
    """Read a column as ratings, naming the first line that is none."""
    require_filled(pl.DataFrame([column]), ["rating"], origin)
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float32)
    number = column.cast(pl.String).str.strip_chars().cast(pl.Float32, strict=False)
    if number.null_count():
        row = int(number.is_null().arg_max() or 0)
        raise MidpointError(
            f"{origin.line(row)}: rating {column[row]!r} is not a number; correct it or remove the"
            " line, or name the column that holds the ratings"
        )
    return number


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


def _missing(role: str, table: Table) -> MidpointError:
    return MidpointError(
        f"{table.origin.path}: no column looks like the {role}; it has"
        f" {', '.join(table.cells.columns[:20])}. Name the right one, or check the delimiter"
    )


def plain_name(name: str) -> str:
    """Write a column's name without case, spaces, signs and RecBole's type."""
    return "".join(letter for letter in name.partition(":")[0].lower() if letter.isalnum())
