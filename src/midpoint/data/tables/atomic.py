"""RecBole's atomic files: `.inter`, `.user` and `.item`, whose columns name their type."""

from pathlib import Path

import polars as pl

from midpoint.data.output import RECBOLE
from midpoint.data.ratings import Ratings
from midpoint.errors import MidpointError
from midpoint.files import replace_file

ATOMIC = INTERACTIONS, PEOPLE, ITEMS = ".inter", ".user", ".item"
"""How the names of the files end."""


def atomic_file(path: Path) -> Path | None:
    """Return the file of ratings: the path itself, or the only one of a directory; else None."""
    if path.suffix.lower() == INTERACTIONS:
        return path
    files = sorted(path.glob(f"*{INTERACTIONS}")) if path.is_dir() else []
    if len(files) > 1:
        raise MidpointError(f"{path} holds several data sets; name one: {files[0]}")
    return files[0] if files else None


def beside(path: Path, suffix: str) -> Path | None:
    """Return the file of people or items beside a file of ratings, if there is one."""
    if path.suffix.lower() != INTERACTIONS:
        return None
    other = path.with_suffix(suffix)
    return other if other.exists() else None


def without_types(cells: pl.DataFrame) -> pl.DataFrame:
    """Take the types off the names of columns: `gender:token` becomes `gender`.

    A column of several values in a cell, such as genres, is no feature of a person; titles are such
    columns, too, so only those of numbers go.
    """
    kept = [column for column in cells.columns if not column.endswith(":float_seq")]
    return cells.select(pl.col(column).alias(column.partition(":")[0]) for column in kept)


def write_atomic(ratings: Ratings, directory: Path | str, name: str | None = None) -> Path:
    """Write ratings, people with their features, and titles as RecBole reads them.

    The file of people shows every category: leave it out of a copy that hides one.

    Args:
        ratings: What to write.
        directory: Where to; RecBole calls its last part the data set.
        name: What the files are called; as the directory unless given.

    Returns:
        The file of ratings.
    """
    root = Path(directory)
    root.mkdir(parents=True, exist_ok=True)
    base = root / (name or root.resolve().name)
    items = pl.DataFrame(
        {
            RECBOLE["item"]: ratings.item_ids.tolist(),
            "title:token_seq": [" ".join(name.split()) for name in ratings.item_names.tolist()],
        }
    )
    people = ratings.people_to_polars()
    typed = {c: f"{c}:token" for c in people.columns} | {"user": RECBOLE["user"]}
    for suffix, table in (
        (INTERACTIONS, ratings.to_polars(recbole=True)),
        (PEOPLE, people.rename(typed)),
        (ITEMS, items),
    ):
        replace_file(base.with_name(base.name + suffix), table.write_csv(separator="\t").encode())
    return base.with_name(base.name + INTERACTIONS)
