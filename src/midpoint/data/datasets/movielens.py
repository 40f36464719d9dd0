"""MovieLens 1M and 100K as GroupLens packs them, and 100K in RecBole's layout."""

from collections.abc import Callable
from pathlib import Path

import polars as pl

from midpoint.data.origin import Origin
from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.tables.archive import Archive
from midpoint.data.tables.builder import build_ratings, with_people
from midpoint.data.tables.delimited_text import DOUBLE_COLON, as_utf8, read_delimited
from midpoint.data.tables.people import MOVIELENS_STARTS, band, young_or_adult
from midpoint.errors import MidpointError

STARS = Scale.stars(1, 5)
OCCUPATIONS_1M = (
    "other",
    "educator",
    "artist",
    "clerical",
    "college student",
    "customer service",
    "health care",
    "executive",
    "farmer",
    "homemaker",
    "school student",
    "lawyer",
    "programmer",
    "retired",
    "sales",
    "scientist",
    "self-employed",
    "technician",
    "tradesman",
    "unemployed",
    "writer",
)
"""What the occupation codes 0 to 20 of MovieLens 1M mean."""
RATING_COLUMNS: dict[str, type[pl.DataType]] = {
    "user": pl.Int32,
    "item": pl.Int32,
    "rating": pl.Float32,
    "time": pl.Int64,
}
PEOPLE_COLUMNS_100K: dict[str, type[pl.DataType]] = {
    "user": pl.Int32,
    "age": pl.Int32,
    "gender": pl.String,
    "occupation": pl.String,
    "zip": pl.String,
}
PEOPLE_COLUMNS_1M: dict[str, type[pl.DataType]] = {
    "user": pl.Int32,
    "gender": pl.String,
    "age": pl.Int32,
    "job": pl.Int32,
    "zip": pl.String,
}


def load_movielens_1m(path: Path) -> Ratings:
    """Read the zip or directory of MovieLens 1M: gender, age, age_band and occupation."""
    archive = Archive(path)
    where = archive.where("ratings.dat")
    table = read_delimited(
        archive.read("ratings.dat"), where, RATING_COLUMNS, separator=DOUBLE_COLON
    )
    titles = _titles(archive, "movies.dat", lambda line: line.split(DOUBLE_COLON))
    ratings = build_ratings(
        table, name="movielens-1m", origin=Origin(where), scale=STARS, titles=titles
    )
    where = archive.where("users.dat")
    people = read_delimited(
        archive.read("users.dat"), where, PEOPLE_COLUMNS_1M, separator=DOUBLE_COLON
    )
    jobs = [str(code) for code in range(len(OCCUPATIONS_1M))]
    occupation = pl.col("job").cast(pl.String).replace_strict(jobs, OCCUPATIONS_1M, default=None)
    # The column holds each band's first year; the last one is open and cannot be cut at 65.
    closed = people["age"].set(people["age"] == MOVIELENS_STARTS[-1], None)
    return with_people(
        ratings,
        people.select(
            "user",
            "gender",
            age=young_or_adult(closed),
            age_band=band(people["age"], MOVIELENS_STARTS),
            occupation=occupation,
        ),
        Origin(where),
    )


def load_movielens_100k(path: Path) -> Ratings:
    """Read the zip or directory of MovieLens 100K: gender, age, age_band, occupation and times."""
    archive = Archive(path)
    where = archive.where("u.data")
    table = read_delimited(archive.read("u.data"), where, RATING_COLUMNS)
    titles = _titles(archive, "u.item", lambda line: line.split("|"))
    ratings = build_ratings(
        table, name="movielens-100k", origin=Origin(where), scale=STARS, titles=titles
    )
    where = archive.where("u.user")
    people = read_delimited(archive.read("u.user"), where, PEOPLE_COLUMNS_100K, separator="|")
    return with_people(ratings, _people_100k(people), Origin(where))


def load_movielens_100k_recbole(path: Path) -> Ratings:
    """Read MovieLens 100K from RecBole's atomic files, whose titles and years stand apart."""
    archive = Archive(path)
    where = archive.where("ml-100k.inter")
    table = read_delimited(archive.read("ml-100k.inter"), where, RATING_COLUMNS, has_header=True)
    lines = as_utf8(archive.read("ml-100k.item")).decode().splitlines()[1:]
    titles = {}
    for line in lines:
        item, title, year, *_ = [*line.split("\t"), "", ""]
        titles[item] = f"{title} ({year})" if year.isdigit() else title
    origin = Origin(where, first_line=2)
    ratings = build_ratings(table, name="movielens-100k", origin=origin, scale=STARS, titles=titles)
    where = archive.where("ml-100k.user")
    people = read_delimited(
        archive.read("ml-100k.user"), where, PEOPLE_COLUMNS_100K, has_header=True
    )
    return with_people(ratings, _people_100k(people), Origin(where, first_line=2))


def _people_100k(people: pl.DataFrame) -> pl.DataFrame:
    return people.select(
        "user",
        "gender",
        age=young_or_adult(people["age"]),
        age_band=band(people["age"], MOVIELENS_STARTS),
        occupation="occupation",
    )


def _titles(archive: Archive, name: str, split: Callable[[str], list[str]]) -> dict[str, str]:
    """Map item ids to titles, which are Latin-1 and may hold a colon."""
    titles = {}
    lines = as_utf8(archive.read(name)).decode().split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        cells = split(line.rstrip("\r"))
        if len(cells) < 2:
            raise MidpointError(
                f"{archive.where(name)}, line {number}: {line[:40]!r} has no id and title;"
                " get the data again"
            )
        titles[cells[0]] = cells[1].strip()
    return titles
