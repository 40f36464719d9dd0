"""Flixster: its file of timed ratings and its file of profiles.

The files went round as `Ratings.timed.txt` (tabs, UTF-16, a header), `profile.txt` (commas) and
`movie-names.txt` (tabs, HTML entities). Copies differ in case, ending, encoding and header, so
none of these is relied on.
"""

import html
from pathlib import Path

import polars as pl

from midpoint.data.origin import Origin
from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.sources.catalogue import FLIXSTER_PROFILES, FLIXSTER_RATINGS
from midpoint.data.tables.archive import Archive
from midpoint.data.tables.builder import build_ratings, with_people
from midpoint.data.tables.cells import rating_numbers, require_filled, seconds
from midpoint.data.tables.delimited_text import as_utf8
from midpoint.data.tables.people import DECADE_STARTS, band, young_or_adult
from midpoint.data.tables.reader import read_text_table
from midpoint.errors import MidpointError

HALF_STARS = Scale.stars(0.5, 5, 0.5)
TITLE_FILES = ("movie-names.txt", "movie-names.csv")
RATING_COLUMNS = ("user", "item", "rating", "time")
PROFILE_COLUMNS = ("user", "gender", "location", "memberfor", "lastlogin", "profileview", "age")


def load_flixster(path: Path) -> Ratings:
    """Read the zip or directory of Flixster: gender, age, age_band, and days as times."""
    archive = Archive(path)
    name = archive.one_of(FLIXSTER_RATINGS)
    table, origin = _with_names(archive, name, RATING_COLUMNS)
    times = seconds(table["time"]) if "time" in table.columns else None
    require_filled(table["rating"], "rating", origin)
    numbers = rating_numbers(table["rating"], origin, "remove the line")
    table = table.with_columns(rating=numbers)
    if times is not None:
        table = table.with_columns(time=times)
    ratings = build_ratings(
        table, name="flixster", origin=origin, scale=HALF_STARS, titles=_titles(archive)
    )
    people, origin = _with_names(archive, archive.one_of(FLIXSTER_PROFILES), PROFILE_COLUMNS)
    gender = pl.col("gender").str.strip_chars().str.to_lowercase().str.slice(0, 1)
    labels = people.select(
        "user",
        gender=gender.replace_strict(["f", "m"], ["F", "M"], default=None),
        age=young_or_adult(people["age"]),
        age_band=band(people["age"], DECADE_STARTS),
    )
    # Somebody without a profile number is nobody who can be matched.
    return with_people(ratings, labels.drop_nulls("user"), origin)


def _with_names(
    archive: Archive, name: str, columns: tuple[str, ...]
) -> tuple[pl.DataFrame, Origin]:
    """Read a table with or without header and call its columns by our names, by position."""
    content = as_utf8(archive.read(name)).removeprefix(b"\xef\xbb\xbf")
    first = content[:4096].split(b"\n", 1)[0]
    if first[:1].isdigit():
        separator = max((b"\t", b",", b";"), key=first.count)
        header = separator.join(column.encode() for column in columns[: first.count(separator) + 1])
        content = header + b"\n" + content
    table, origin = read_text_table(content, archive.where(name))
    if table.width < min(len(columns), 3):
        raise MidpointError(
            f"{origin.path}, line 1: {table.width} columns where {', '.join(columns)} are expected"
        )
    if first[:1].isdigit():
        origin = origin._replace(first_line=1)
    return table.rename(dict(zip(table.columns, columns, strict=False))), origin


def _titles(archive: Archive) -> dict[str, str]:
    """Map film numbers to names, where the copy has them; the number may stand first or last."""
    name = archive.find(TITLE_FILES)
    titles = {}
    for line in as_utf8(archive.read(name)).decode().splitlines() if name else ():
        left, _, right = line.strip().partition("\t")
        item, title = (left, right) if left.isdigit() else (right, left)
        titles[item.strip()] = html.unescape(title.strip())
    return titles
