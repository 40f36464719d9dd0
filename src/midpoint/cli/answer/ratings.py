"""Ratings from a file: a table, JSON or TOML, by item or title."""

import codecs
import csv
import io
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.user.agent import Standing

NAMES = ("item", "title")
"""What a column, or a field, that names an item is called."""

DELIMITERS = (",", ";", "\t")
"""What may stand between the columns of a table; spreadsheets take each of them."""


class Rating(NamedTuple):
    """One rating as it is written."""

    name: Any
    """An item or a title."""
    stars: Any
    """The rating."""
    where: str
    """File, and line if it has lines."""


class GivenRatings(NamedTuple):
    """The ratings of a file, all of them on the scale and of known items."""

    named: dict[str, float]
    """In stars, by the names of the file."""
    fixed: dict[str, int]
    """In fixed point, by item."""


def read_ratings(path: Path, standing: "Standing") -> GivenRatings:
    """Read ratings by item or title; say where something is wrong.

    Where items are not rated, a column of names, or a list of them, is a set.
    """
    from midpoint.user.agent.titles import by_item

    named: dict[str, float] = {}
    where: dict[str, str] = {}
    try:
        for rating in _written(path, sets=standing.mark is not None):
            if not isinstance(rating.name, str):
                raise MidpointError(
                    f"{rating.where}: {rating.name!r} is no title and no item; write it as text"
                )
            if rating.name in named:
                raise MidpointError(f"{rating.where}: {rating.name!r} is rated twice; keep one")
            named[rating.name], where[rating.name] = rating.stars, rating.where
    except OSError as error:
        raise MidpointError(f"{path} cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise MidpointError(f"{path} is no text in UTF-8; save it as UTF-8") from None
    return GivenRatings(named, by_item(named, standing, where))


def _written(path: Path, *, sets: bool) -> Iterator[Rating]:
    """Read by what the file's name ends in."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        return _of_json(path, sets=sets)
    if suffix == ".toml":
        return _of_toml(path)
    return _of_table(path, sets=sets)


def _text(path: Path) -> str:
    """Read text in UTF-8, or in UTF-16 as spreadsheets save it, with a mark in front."""
    content = path.read_bytes()
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if marked else "utf-8-sig")


def _of_table(path: Path, *, sets: bool) -> Iterator[Rating]:
    text = _text(path)
    first, usual = text.partition("\n")[0], "\t" if path.suffix.lower() == ".tsv" else ","
    delimiter = max(DELIMITERS, key=lambda mark: (first.count(mark), mark == usual))
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    table.fieldnames = columns = [name.strip().casefold() for name in table.fieldnames or ()]
    column = next((name for name in NAMES if name in columns), None)
    if column is None or not (sets or "rating" in columns):
        needed = "item (or title)" if sets else "item (or title) and rating, such as title,rating"
        raise MidpointError(f"{path} needs a first line with {needed}")
    for row in table:
        where = f"{path}, line {table.line_num}"
        if any(row.get(None) or ()):
            raise MidpointError(
                f"{where} has more columns than the first line; put a title with {delimiter!r} in"
                ' quotes: "..."'
            )
        stars = _stars(row["rating"] or "", delimiter, where) if "rating" in columns else 1.0
        yield Rating(row[column] or "", stars, where)


def _stars(cell: str, delimiter: str, where: str) -> float:
    """Read a number; between semicolons it may be written as 4,5."""
    try:
        return float(cell if delimiter == "," else cell.replace(",", "."))
    except ValueError:
        raise MidpointError(f"{where}: the rating is not a number") from None


def _of_json(path: Path, *, sets: bool) -> Iterator[Rating]:
    """Read an object of stars by name, or a list of objects with item (or title) and rating.

    A set is a list of names.
    """
    try:
        content = json.loads(_text(path), object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise MidpointError(f"{path} is no JSON ({error}); fix it first") from None
    if isinstance(content, _Pairs):
        yield from (Rating(name, stars, str(path)) for name, stars in content)
    elif isinstance(content, list):
        for number, entry in enumerate(content, start=1):
            where = f"{path}, entry {number}"
            if sets and isinstance(entry, str):
                yield Rating(entry, 1.0, where)
                continue
            fields = dict(entry) if isinstance(entry, _Pairs) else {}
            name = next((fields[name] for name in NAMES if name in fields), None)
            stars = fields.get("rating", 1.0 if sets else None)
            if name is None or stars is None:
                raise MidpointError(f"{where} needs item (or title){'' if sets else ' and rating'}")
            yield Rating(name, stars, where)
    else:
        raise MidpointError(f'{path} holds no ratings; write them as {{"title": stars}}')


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON as it is written: a name that comes twice is still there twice."""


def _of_toml(path: Path) -> Iterator[Rating]:
    """Read stars by name, all of the file or its table `ratings`."""
    try:
        content = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise MidpointError(
            f'{path} is no TOML ({error}); write titles in quotes: "Heat (1995)" = 4'
        ) from None
    table = content["ratings"] if isinstance(content.get("ratings"), dict) else content
    yield from (Rating(name, stars, str(path)) for name, stars in table.items())
