"""Who is in which category of the private feature, for everyone on a cluster."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from midpoint.analyst.engines.spark.tables import named, open_parquet
from midpoint.analyst.engines.tables import Roles, chosen_feature, feature_column
from midpoint.data import Feature
from midpoint.data.tables.columns import Columns, find
from midpoint.data.tables.people import features_of
from midpoint.errors import MidpointError

MOST_VALUES = 2**16
"""Values, or combinations of several features' values, that are looked at on this machine."""
COUNTED, KNOWN, PRESENT, CELL, KEY = (
    "counted users",
    "known users",
    "is present",
    "joint cell",
    "as text",
)
"""Columns of our own beside those of the table, under names that those hardly have."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Category:
    """Everyone's category of the private feature."""

    frame: DataFrame
    """Columns `user` and `category`, -1 if not known."""
    feature: Feature
    """What the categories are, without their users."""
    users: NDArray[np.int64]
    """How many users each has. Shape (K,)."""
    everyone: int
    """How many users there are, with a category or without."""


def people_of(
    session: SparkSession,
    raw: DataFrame,
    roles: Roles,
    users: str | None,
    columns: Columns,
    features: Sequence[str],
    where: str,
) -> DataFrame:
    """Return `user` and the columns behind the features, one row a person."""
    if users is None:
        rest = [name for name in raw.columns if name not in roles]
        wanted = list(dict.fromkeys(feature_column(name, rest, where) for name in features))
        raw = _without_nan(raw, wanted)
        each = raw.select(named(raw, roles.user, where).alias("user"), *wanted).distinct()
        known = each.groupBy("user").agg(
            *(sql.max(name).alias(name) for name in wanted),
            *(sql.count_distinct(sql.col(name)).alias(f"{name} differs") for name in wanted),
        )
        wrong = known.where(
            reduce(lambda a, b: a | b, [sql.col(f"{w} differs") > 1 for w in wanted])
        )
        for row in wrong.select("user").head(1):
            raise MidpointError(
                f"{where}: user {row['user']} has two values of one feature; keep one"
            )
        return known.select("user", *wanted)
    table = open_parquet(session, users)
    empty = pl.DataFrame(schema=dict.fromkeys(table.columns, pl.String))
    user = columns.user if columns.user in table.columns else find(empty, "user", "id")
    if user is None:
        raise MidpointError(f"{users}: no column looks like the user; name it by --user-column")
    rest = [name for name in table.columns if name != user]
    wanted = list(dict.fromkeys(feature_column(name, rest, users) for name in features))
    table = _without_nan(table, wanted)
    people = table.select(named(table, user, users).alias("user"), *wanted)
    for row in people.groupBy("user").count().where("count > 1").select("user").head(1):
        raise MidpointError(f"{users}: user {row['user']} appears twice; keep one row each")
    return people


def _without_nan(table: DataFrame, names: Sequence[str]) -> DataFrame:
    """Write null for NaN, which pandas writes for a blank."""
    kinds = dict(table.dtypes)
    floats = [name for name in names if kinds[name] in {"float", "double"}]
    known = {name: sql.when(~sql.isnan(name), sql.col(name)) for name in floats}
    return table.withColumns(known) if known else table


def categories_of(
    session: SparkSession,
    raters: DataFrame,
    people: DataFrame,
    features: Sequence[str],
    where: str,
) -> Category | None:
    """Give every rater her category; labels are made as they are of a small table."""
    columns = list(dict.fromkeys(feature_column(f, people.columns, where) for f in features))
    who = _matched(raters.distinct(), people).cache()
    counted = who.groupBy(*columns).agg(
        sql.count(sql.lit(1)).alias(COUNTED), sql.count(PRESENT).alias(KNOWN)
    )
    cells = pl.DataFrame(counted.limit(MOST_VALUES + 1).toArrow())
    _require_known(cells, columns, where)
    labelled = {name: _labelled(cells, name, where) for name in features}
    feature = chosen_feature(
        {name: part_feature for name, (part_feature, _) in labelled.items()}, features, where
    )
    if feature is None:
        return None
    code = pl.Series(np.zeros(cells.height, np.int32))
    for part_feature, part in labelled.values():
        code = code * len(part_feature.categories) + part  # null where one is not known
    everyone = int(cells[COUNTED].sum())
    cells = cells.with_columns(**{CELL: code.cast(pl.Int32)}).filter(code.is_not_null())
    sums = cells.group_by(CELL).agg(pl.col(COUNTED).sum())
    users = np.zeros(len(feature.categories), np.int64)
    users[sums[CELL].to_numpy()] = sums[COUNTED].to_numpy()
    codes = session.createDataFrame(cells.select(*columns, CELL).to_arrow())
    coded = who.join(sql.broadcast(codes), columns, "left")
    category = sql.coalesce(CELL, sql.lit(-1)).alias("category")
    return Category(coded.select("user", category), feature, users, everyone)


def _matched(raters: DataFrame, people: DataFrame) -> DataFrame:
    """Put beside every rater what is known of her, and `PRESENT`, which is null if nothing is."""
    known = people.withColumn(PRESENT, sql.lit(1))
    if dict(raters.dtypes)["user"] == dict(known.dtypes)["user"]:
        return raters.join(known, "user", "left")
    raters = raters.withColumn(KEY, sql.col("user").cast("string"))
    known = known.withColumn(KEY, sql.col("user").cast("string")).drop("user")
    return raters.join(known, KEY, "left").drop(KEY)


def _require_known(cells: pl.DataFrame, columns: Sequence[str], where: str) -> None:
    if cells.height > MOST_VALUES:
        raise MidpointError(
            f"{where}: {' and '.join(columns)} take more than {MOST_VALUES} values; put them into a"
            " few bins in columns of their own, and name those"
        )
    everyone, known = int(cells[COUNTED].sum()), int(cells[KNOWN].sum())
    if not known:
        raise MidpointError(f"{where} knows none of the {everyone} users; check the names")
    if known < everyone:
        logger.warning("%s knows nothing of %d of %d users", where, everyone - known, everyone)


def _labelled(cells: pl.DataFrame, name: str, where: str) -> tuple[Feature, pl.Series]:
    """Return a feature without its users, and its code in each of the cells, null if unknown."""
    column = feature_column(name, cells.columns, where)
    values = cells.select(column).unique().drop_nulls().sort(column).with_row_index("user")
    labels = features_of(values, [column], [column], where)
    if name not in labels.columns:
        raise MidpointError(f"{where} has no user feature {name!r}; it has {column}")
    words = labels[name].cast(pl.String).str.strip_chars()
    feature = Feature.from_labels(name, words.to_list())
    codes = {
        value: int(code)
        for value, code, known in zip(values[column], feature.codes, feature.known, strict=True)
        if known
    }
    part = pl.Series([codes.get(value) for value in cells[column]], dtype=pl.Int32)
    return Feature(name, feature.categories, np.empty(0, np.int16)), part
