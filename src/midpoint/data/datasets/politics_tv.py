"""Politics-and-TV style tables: one row a person, a column for each show, gender and politics."""

from pathlib import Path

import polars as pl

from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.sources.catalogue import POLITICS_TV_TABLES
from midpoint.data.tables.archive import Archive
from midpoint.data.tables.builder import ratings_of_wide, row_numbers, with_people
from midpoint.data.tables.columns import PERSONAL, find, plain_name
from midpoint.data.tables.reader import Table, read_table, read_text_table
from midpoint.errors import MidpointError

POLITICS = ("politics", "party", "politicalaffiliation", "affiliation", "political")
GENDER = ("gender", "sex")


def load_politics_tv(path: Path, *, min_rated: int = 41) -> Ratings:
    """Read a table of shows rated 1 to 5, with the features gender and politics (D or R).

    Args:
        path: The table, or a zip or directory with it.
        min_rated: The least number of shows a person must have rated; the paper keeps those who
            rated more than 40 of the 50 (Section 7.1).
    """
    table, origin = _table(path)
    user = find(table, "user", "id")
    by_plain_name = {plain_name(column): column for column in table.columns}
    gender, politics = (
        next((by_plain_name[name] for name in names if name in by_plain_name), None)
        for names in (GENDER, POLITICS)
    )
    if gender is None and politics is None:
        raise MidpointError(
            f"{origin.path}, line 1: there is no column gender or politics; name them so"
        )
    apart = {user, gender, politics}
    shows = [c for c in table.columns if c not in apart and plain_name(c) not in PERSONAL]
    table = table.with_columns(user=row_numbers(table) if user is None else table[user])
    ratings = ratings_of_wide(
        table, shows, name="politics-and-tv", origin=origin, scale=Scale.stars(1, 5)
    )
    people = table.select(
        "user",
        **{} if gender is None else {"gender": _initial(gender, "FM")},
        **{} if politics is None else {"politics": _initial(politics, "DR")},
    )
    ratings = with_people(ratings, people, origin)
    rated = ratings.user_offsets[1:] - ratings.user_offsets[:-1]
    if not (rated >= min_rated).any():
        raise MidpointError(
            f"{origin.path}: nobody rated {min_rated} shows (the most is {rated.max()});"
            " ask for fewer"
        )
    return ratings.select_users(rated >= min_rated)


def _table(path: Path) -> Table:
    if path.is_file() and path.suffix.lower() != ".zip":
        return read_table(path)
    archive = Archive(path)
    name = archive.one_of(POLITICS_TV_TABLES)
    return read_text_table(archive.read(name), archive.where(name))


def _initial(column: str, letters: str) -> pl.Expr:
    """Code labels by their first letter; others (independents, blanks) are missing."""
    first = pl.col(column).cast(pl.String).str.strip_chars().str.to_uppercase().str.slice(0, 1)
    return first.replace_strict(list(letters), list(letters), default=None)
