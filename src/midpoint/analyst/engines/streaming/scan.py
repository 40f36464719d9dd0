"""Scan a table of ratings on disk: users, items and values."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from midpoint.analyst.engines.streaming.sort import Triples
from midpoint.analyst.engines.tables import (
    Roles,
    Seen,
    chosen_feature,
    feature_column,
    only_values,
    own_values,
    roles_of,
    scale_of,
    step_to,
)
from midpoint.data import Feature, Scale
from midpoint.data.feature import compare_names
from midpoint.data.scale import MOST_LEVELS
from midpoint.data.tables.cells import names_of, require_one_each
from midpoint.data.tables.columns import Columns, find
from midpoint.data.tables.people import features_of
from midpoint.data.tables.reader import read_table
from midpoint.errors import MidpointError

CHUNK = 2**20
"""Ratings that are in memory at a time while they are coded."""


@dataclass(frozen=True, eq=False)
class Scan:
    """A table of ratings that stays on disk; N users, M items."""

    frame: pl.LazyFrame
    """Columns `user`, `item` and `rating`, not read yet."""
    name: str
    """What the data set is called."""
    ratings: int
    """How many ratings there are."""
    users: pl.DataFrame
    """Columns `user` and `count`, ascending: a user's code is her row. Height N."""
    items: pl.DataFrame
    """Columns `item`, `count` and `title`, ascending: an item's code is its row. Height M."""
    scale: Scale
    """What a rating can be."""
    features: dict[str, Feature]
    """What is known of the users, by name."""

    @property
    def user_ids(self) -> NDArray[np.str_]:
        """The users' names. Shape (N,)."""
        return _words(self.users["user"])

    @property
    def item_ids(self) -> NDArray[np.str_]:
        """The items' stable names. Shape (M,)."""
        return _words(self.items["item"])

    @property
    def item_names(self) -> NDArray[np.str_]:
        """What a person calls each item. Shape (M,)."""
        titles = self.items["title"].cast(pl.String)
        return _words(titles.fill_null(names_of(self.items["item"])))

    def feature(self, names: Sequence[str]) -> Feature | None:
        """Return the private feature, or the joint one of several; None if none is named."""
        return chosen_feature(self.features, names, self.name)

    def coded(self) -> Iterator[Triples]:
        """Read the ratings in chunks, in any order, with numbers for names."""
        who = self.users.lazy().select("user").with_row_index("u")
        what = self.items.lazy().select("item").with_row_index("i")
        coded = self.frame.join(who, on="user").join(what, on="item").select("u", "i", "rating")
        batches: Iterable[pl.DataFrame] = coded.collect_batches(
            chunk_size=CHUNK, maintain_order=False, lazy=True, engine="streaming"
        )
        for batch in batches:
            yield Triples(
                batch["u"].to_numpy().astype(np.int32),
                batch["i"].to_numpy().astype(np.int32),
                batch["rating"].to_numpy(),
            )


def scan(
    source: str | Path,
    *,
    users: str | Path | None = None,
    columns: Columns | None = None,
    scale: Scale | None = None,
    features: Sequence[str] = (),
) -> Scan:
    """Look through Parquet (a file, a directory of files, or a pattern) that memory may not hold.

    Args:
        source: One row a rating.
        users: One row a person with her features: CSV, TSV or Parquet.
        columns: What the columns are called.
        scale: What a rating can be; guessed from the ratings where not given.
        features: Which columns of the ratings are features, if there is no table of users.
    """
    columns = columns or Columns()
    raw = _open(source)
    present = raw.collect_schema().names()
    roles = roles_of(columns, present, str(source), () if users else features)
    frame = _long(raw, roles, str(source))
    seen = _look(frame, every=scale is not None and scale.is_discrete)
    known_scale = scale_of(seen, scale, str(source), unary=roles.rating is None)
    step = step_to(seen, known_scale) if scale is None else None
    if step is not None:
        steps = ((pl.col("rating").cast(pl.Float64) - known_scale.low) / step + 0.5).floor()
        frame = frame.with_columns(rating=(known_scale.low + step * steps).cast(pl.Float32))
    who = _collect(frame.group_by("user").agg(count=pl.len())).sort("user")
    what = _collect(
        frame.group_by("item").agg(count=pl.len(), title=pl.col("title").drop_nulls().first())
    )
    if users is None:
        people = _people_of_ratings(raw, roles, features, str(source))
    else:
        people = _people(Path(users), columns, who["user"])
    return Scan(
        frame=frame.select("user", "item", "rating"),
        name=Path(source).name.split(".")[0],
        ratings=seen.ratings,
        users=who,
        items=what.sort("item"),
        scale=known_scale,
        features=_features(who["user"], people),
    )


def _open(source: str | Path) -> pl.LazyFrame:
    path = Path(source)
    if not any(sign in str(source) for sign in "*?[") and not path.exists():
        raise MidpointError(
            f"there is no file or directory {str(source)!r}; name Parquet that is there"
        )
    pattern = path / "**/*.parquet" if path.is_dir() else path
    try:
        frame = pl.scan_parquet(pattern)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise MidpointError(
            f"{source} cannot be read as Parquet ({str(error).splitlines()[0]}); this engine reads"
            " nothing else: convert the table, or train in memory (--engine local)"
        ) from error
    return frame


def _long(raw: pl.LazyFrame, roles: Roles, where: str) -> pl.LazyFrame:
    """Bring the columns to their names."""
    title = pl.lit(None, pl.String) if roles.title is None else pl.col(roles.title).cast(pl.String)
    named = roles.rating or roles.uses
    value = (
        pl.lit(1.0, pl.Float32) if named is None else pl.col(named).cast(pl.Float32, strict=False)
    )
    frame = raw.select(
        _named(raw, roles.user, where).alias("user"),
        _named(raw, roles.item, where).alias("item"),
        value.alias("rating"),
        title.alias("title"),
    )
    return frame if roles.rating is not None else _sets(frame)


def _sets(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Keep each item that somebody used once; what is no count is left for `scale_of` to refuse."""
    count = pl.col("rating").fill_null(0.0)
    used = pl.when((count > 0) & count.is_finite()).then(1.0).otherwise(count).cast(pl.Float32)
    kept = frame.filter(count != 0).with_columns(rating=used)
    return kept.unique(["user", "item"], keep="any", maintain_order=False)


def _named(raw: pl.LazyFrame, column: str, where: str) -> pl.Expr:
    """Keep whole numbers, which sort by size; take the blanks off words, as in memory."""
    kind = raw.collect_schema()[column]
    if kind.is_integer():
        return pl.col(column)
    if kind.is_float():
        raise MidpointError(
            f"{where}: column {column!r} has numbers with a point; write whole numbers or words"
        )
    return pl.col(column).cast(pl.String).str.strip_chars()


def _look(frame: pl.LazyFrame, *, every: bool) -> Seen:
    """Count and check all ratings in one pass; list values where they are few, or `every` one."""
    rating = pl.col("rating")
    fine = pl.col("user").is_not_null() & pl.col("item").is_not_null() & rating.is_finite()
    for name in ("user", "item"):
        if frame.collect_schema()[name] == pl.String:
            fine &= pl.col(name) != ""
    facts = _collect(
        frame.select(
            count=pl.len(),
            blank=pl.len() - fine.fill_null(value=False).sum(),
            low=rating.min(),
            high=rating.max(),
            about=rating.approx_n_unique(),
        )
    ).row(0, named=True)
    distinct, often = np.arange(MOST_LEVELS + 1, dtype=np.float64), np.zeros(0, np.int64)
    if every or facts["about"] <= 2 * MOST_LEVELS:
        values = _collect(frame.group_by("rating").agg(often=pl.len()))
        values = values.drop_nulls().sort("rating")
        distinct = values["rating"].to_numpy().astype(np.float64)
        often = values["often"].to_numpy().astype(np.int64)
    return Seen(facts["count"], facts["low"], facts["high"], distinct, often, facts["blank"])


def _people(path: Path, columns: Columns, users: pl.Series) -> pl.DataFrame:
    """Read a table of users whole: it is as large as the list of users, which is in memory."""
    cells, origin = read_table(path)
    user = columns.user if columns.user in cells.columns else find(cells, "user", "id")
    if user is None:
        raise MidpointError(f"{path}: no column looks like the user; name it by --user-column")
    cells = cells.rename({user: "user"}) if user != "user" else cells
    rest = [column for column in cells.columns if column != "user"]
    people = features_of(cells, rest, columns.features, str(path))
    people = people.with_columns(user=names_of(people["user"]))
    require_one_each(people["user"], origin)
    names = names_of(users).to_list()
    compare_names(names, people["user"].to_list(), str(path), logging.WARNING)
    return people


def _people_of_ratings(
    raw: pl.LazyFrame, roles: Roles, features: Sequence[str], where: str
) -> pl.DataFrame | None:
    """Gather features that stand beside every rating; each user must have one value."""
    if not features:
        return None
    present = [c for c in raw.collect_schema().names() if c not in roles]
    names = list(dict.fromkeys(feature_column(name, present, where) for name in features))
    schema = raw.collect_schema()
    floats = [name for name in names if schema[name].is_float()]
    raw = raw.with_columns(pl.col(floats).fill_nan(None)) if floats else raw
    user = _named(raw, roles.user, where).alias("user")
    by_user = _collect(raw.group_by(user).agg(*own_values(names)))
    people = features_of(only_values(by_user, names, where), names, names, where)
    return people.with_columns(user=names_of(people["user"]))


def _features(users: pl.Series, people: pl.DataFrame | None) -> dict[str, Feature]:
    if people is None:
        return {}
    known = pl.DataFrame({"user": names_of(users)})
    matched = known.join(people, on="user", how="left", maintain_order="left")
    labels = {name: matched[name].cast(pl.String).str.strip_chars() for name in matched.columns[1:]}
    return {name: Feature.from_labels(name, column.to_list()) for name, column in labels.items()}


def _collect(frame: pl.LazyFrame) -> pl.DataFrame:
    return frame.collect(engine="streaming")


def _words(column: pl.Series) -> NDArray[np.str_]:
    return np.array(names_of(column).to_list(), dtype=np.str_)
