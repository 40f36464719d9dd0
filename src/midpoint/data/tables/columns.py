"""What columns are called, and what their names let guess."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase

import polars as pl

from midpoint.data.origin import Origin
from midpoint.data.tables.cells import is_number
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
    "year": ("year", "releaseyear"),
    "genre": ("genre", "genres", "kind", "class"),
    "link": ("link", "url", "imdburl", "website"),
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
    count: str | None = None
    """How often, in a long table of unary data: plays, clicks, purchases. Above 0 is in the set."""
    time: str | None = None
    """When it was rated, in a long table."""
    title: str | None = None
    """What a person calls the item, in a long table."""
    items: tuple[str, ...] | None = None
    """The columns that are items, in a wide table; patterns such as `V16*` will do."""
    features: tuple[str, ...] | None = None
    """The columns that are features of users; patterns will do."""

    def require_only(self, usable: Collection[str], where: str) -> None:
        """Refuse names that nothing would be done with, rather than pass over them."""
        for part in fields(self):
            if getattr(self, part.name) is not None and part.name not in usable:
                option = "columns" if part.name in {"items", "features"} else "column"
                raise MidpointError(
                    f"{where}, so --{part.name.removesuffix('s')}-{option} has no effect; leave it"
                    " out"
                )


def find(cells: pl.DataFrame, role: str, *more: str) -> str | None:
    """Guess which column plays a role by its name; RecBole's `user_id:token` will do."""
    plain = {plain_name(column): column for column in reversed(cells.columns)}
    return next((plain[guess] for guess in (*GUESSES[role], *more) if guess in plain), None)


def require_header(cells: pl.DataFrame, origin: Origin) -> None:
    """Refuse a first line that is a row: a number among its cells, and no name that is known."""
    known = {name for names in GUESSES.values() for name in names} | set(PERSONAL) | {"id"}
    names = [plain_name(column) for column in cells.columns]
    if known.isdisjoint(names) and any(map(is_number, cells.columns)):
        first = ", ".join(cells.columns[:6]) + (", ..." if cells.width > 6 else "")
        if origin.unit == "row":
            raise MidpointError(
                f"{origin.path}: its columns are called {first!r}; call them user, item and rating,"
                " or say which are items by --item-columns, in Python columns=Columns(items=...)"
            )
        raise MidpointError(
            f"{origin.path}, line 1: {first!r} looks like a row of the table, not like names of"
            " columns; put a line such as user,item,rating above it, or if these are names say"
            " which are items by --item-columns"
        )


def matching(patterns: Sequence[str], columns: Sequence[str], where: str) -> list[str]:
    """Return the columns that bear these names or fit these patterns (`V16*`)."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        fits = [c for c in columns if c == pattern] or [
            c for c in columns if fnmatchcase(c, pattern)
        ]
        if not fits:
            raise MidpointError(
                f"{where} has no column {pattern!r}; it has {', '.join(columns[:20])}"
                f"{', ...' if len(columns) > 20 else ''}"
            )
        chosen |= dict.fromkeys(fits)
    return list(chosen)


def plain_name(name: str) -> str:
    """Write a column's name without case, spaces, signs and RecBole's type."""
    return "".join(letter for letter in name.partition(":")[0].lower() if letter.isalnum())
