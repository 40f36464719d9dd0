"""Ratings as a Spark table: Parquet from a path or any Hadoop address, items numbered."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import polars as pl
from numpy.typing import NDArray
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from midpoint.analyst.bulk import Roles, Seen, chosen_feature, feature_column, roles_of, scale_of
from midpoint.data import Feature, Scale
from midpoint.data.scale import MOST_LEVELS
from midpoint.data.sources.cells import names_of
from midpoint.data.sources.columns import Columns, find
from midpoint.data.sources.people import features_of
from midpoint.errors import MidpointError

MOST_VALUES = 1000
"""Distinct values of a feature that are looked at; ages in years are fewer."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class RatingsFrame:
    """Ratings somewhere on a cluster; M items."""

    frame: DataFrame
    """Columns `user`, `place` (the item's number), `rating` and `category` (-1 if not known)."""
    name: str
    """What the data set is called."""
    ratings: int
    """How many ratings there are."""
    item_ids: NDArray[np.str_]
    """The items' stable names, ascending. Shape (M,)."""
    item_names: NDArray[np.str_]
    """What a person calls each item. Shape (M,)."""
    scale: Scale
    """What a rating can be."""
    feature: Feature | None
    """The private feature, or the joint one of several, without its users."""
    users: NDArray[np.int64]
    """Users in each of its categories. Shape (K,)."""


def read_ratings(
    session: SparkSession,
    source: str,
    *,
    users: str | None = None,
    columns: Columns | None = None,
    scale: Scale | None = None,
    features: Sequence[str] = (),
) -> RatingsFrame:
    """Look through ratings and people in Parquet.

    Args:
        session: Where to do it.
        source: One row a rating: a path, or any address that the cluster reads.
        users: One row a person with her features; without it they are columns of the ratings.
        columns: What the columns are called.
        scale: What a rating can be; guessed from the ratings where not given.
        features: The private features.
    """
    columns = columns or Columns()
    raw = open_parquet(session, source)
    roles = roles_of(columns, raw.columns, source)
    frame = _long(raw, roles, source)
    seen = _look(frame)
    found_scale = scale_of(seen, scale, source)
    items = frame.groupBy("item").agg(sql.first("title", ignorenulls=True).alias("title"))
    listed = pl.DataFrame(items.orderBy("item").toArrow())
    ids = names_of(listed["item"])
    people = None
    if features:
        people = _people(session, raw, roles, users, columns, features, source)
    category = _categories(session, frame, people, features, users or source)
    return RatingsFrame(
        frame=_coded(session, frame, listed["item"], category),
        name=source.rstrip("/").rpartition("/")[2].split(".")[0],
        ratings=seen.ratings,
        item_ids=np.array(ids.to_list(), dtype=np.str_),
        item_names=np.array(
            listed["title"].cast(pl.String).fill_null(ids).to_list(), dtype=np.str_
        ),
        scale=found_scale,
        feature=category.feature if category else None,
        users=category.users if category else np.zeros(0, np.int64),
    )


@dataclass(frozen=True, eq=False)
class _Category:
    """Everyone's category of the private feature."""

    frame: DataFrame
    """Columns `user` and `category`."""
    feature: Feature
    """What the categories are."""
    users: NDArray[np.int64]
    """How many users each has."""


def open_parquet(session: SparkSession, source: str) -> DataFrame:
    """Open Parquet at a path or any Hadoop address; nothing but its columns is read yet."""
    try:
        return session.read.parquet(source)
    except (PySparkException, Py4JJavaError) as error:
        raise MidpointError(
            f"{source} cannot be read as Parquet ({_reason(error)}); check the address, that every"
            " worker can reach it, and that Spark has the library for such addresses"
        ) from error


def _reason(error: PySparkException | Py4JJavaError) -> str:
    """Return what Java or Spark says in one line, without its stack."""
    said = str(error.java_exception if isinstance(error, Py4JJavaError) else error)
    return said.splitlines()[0]


def _long(raw: DataFrame, roles: Roles, where: str) -> DataFrame:
    title = (
        sql.lit(None).cast("string") if roles.title is None else sql.col(roles.title).cast("string")
    )
    return raw.select(
        _name(raw, roles.user, where).alias("user"),
        _name(raw, roles.item, where).alias("item"),
        sql.col(roles.rating).try_cast("float").alias("rating"),
        title.alias("title"),
    )


def _name(raw: DataFrame, column: str, where: str) -> Column:
    """Keep whole numbers, which sort by size; take the blanks off words, as in memory."""
    kind = dict(raw.dtypes)[column]
    if kind in {"tinyint", "smallint", "int", "bigint"}:
        return sql.col(column)
    if kind in {"float", "double"}:
        raise MidpointError(
            f"{where}: column {column!r} has numbers with a point; write whole numbers or words"
        )
    return sql.trim(sql.col(column).cast("string"))


def _look(frame: DataFrame) -> Seen:
    """Count and check all ratings in one pass; list values only where they are few."""
    rating = sql.col("rating")
    named = (sql.col("user").cast("string") != "") & (sql.col("item").cast("string") != "")
    fine = named & ~sql.isnan(rating) & (sql.abs(rating) < float("inf"))
    count, blank, low, high, about = frame.agg(
        sql.count(sql.lit(1)),
        sql.count(sql.lit(1)) - sql.count(sql.when(fine, 1)),
        sql.min(rating),
        sql.max(rating),
        sql.approx_count_distinct(rating),
    ).collect()[0]
    distinct = np.arange(MOST_LEVELS + 1, dtype=np.float64)
    if about <= 2 * MOST_LEVELS:
        values = frame.select("rating").distinct().toArrow()["rating"].drop_null()
        distinct = np.sort(values.to_numpy()).astype(np.float64)
    return Seen(count, low, high, distinct, blank)


def _people(
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
        told = raw.groupBy(_name(raw, roles.user, where).alias("user")).agg(
            *(sql.max(name).alias(name) for name in wanted),
            *(sql.count_distinct(sql.col(name)).alias(f"{name} differs") for name in wanted),
        )
        wrong = told.where(
            reduce(lambda a, b: a | b, [sql.col(f"{w} differs") > 1 for w in wanted])
        )
        for row in wrong.select("user").head(1):
            raise MidpointError(
                f"{where}: user {row['user']} has two values of one feature; keep one"
            )
        return told.select("user", *wanted)
    table = open_parquet(session, users)
    empty = pl.DataFrame(schema=dict.fromkeys(table.columns, pl.String))
    user = columns.user if columns.user in table.columns else find(empty, "user", "id")
    if user is None:
        raise MidpointError(f"{users}: no column looks like the user; name it by --user-column")
    rest = [name for name in table.columns if name != user]
    wanted = list(dict.fromkeys(feature_column(name, rest, users) for name in features))
    people = table.select(_name(table, user, users).alias("user"), *wanted)
    for row in people.groupBy("user").count().where("count > 1").select("user").head(1):
        raise MidpointError(f"{users}: user {row['user']} stands there twice; keep one row each")
    return people


def _categories(
    session: SparkSession,
    frame: DataFrame,
    people: DataFrame | None,
    features: Sequence[str],
    where: str,
) -> _Category | None:
    """Give every rater her category; labels are made as they are of a small table."""
    if people is None:
        return None
    told = people.withColumn("told", sql.lit(1))
    raters = frame.select("user").distinct()
    if dict(raters.dtypes)["user"] != dict(told.dtypes)["user"]:
        told = told.withColumn("user", sql.col("user").cast("string"))
        raters = raters.withColumn("key", sql.col("user").cast("string"))
        raters = raters.join(told.withColumnRenamed("user", "key"), "key", "left").drop("key")
    else:
        raters = raters.join(told, "user", "left")
    raters = raters.cache()
    everyone, known = raters.agg(sql.count(sql.lit(1)), sql.count("told")).collect()[0]
    if not known:
        raise MidpointError(f"{where} knows none of the {everyone} users; check the names")
    if known < everyone:
        logger.warning("%s knows nothing of %d of %d users", where, everyone - known, everyone)
    found: dict[str, Feature] = {}
    code = sql.lit(0)
    for name in features:
        raters, found[name] = _labelled(session, raters, name, where)
        part = sql.col(f"code of {name}")
        code = code * len(found[name].categories) + part
    feature = chosen_feature(found, features, where)
    if feature is None:
        return None
    who = raters.select("user", sql.coalesce(code, sql.lit(-1)).alias("category"))
    table = who.where("category >= 0").groupBy("category").count().toArrow()
    users = np.zeros(len(feature.categories), np.int64)
    users[table["category"].to_numpy()] = table["count"].to_numpy()
    return _Category(who, feature, users)


def _labelled(
    session: SparkSession, raters: DataFrame, name: str, where: str
) -> tuple[DataFrame, Feature]:
    """Add the code of a feature's category, by the labels of its distinct values."""
    column = feature_column(name, raters.columns, where)
    distinct = raters.select(column).distinct().limit(MOST_VALUES).toArrow()
    values = pl.DataFrame(distinct).with_row_index("user").drop_nulls()
    labels = features_of(values, [column], [column], where)
    if name not in labels.columns:
        raise MidpointError(f"{where} has no user feature {name!r}; it has {column}")
    words = labels[name].cast(pl.String).str.strip_chars()
    feature = Feature.from_labels(name, words.to_list())
    table = pl.DataFrame(
        {column: values[column], f"code of {name}": feature.codes.astype(np.int32)}
    )
    codes = session.createDataFrame(table.filter(pl.Series(feature.known)).to_arrow())
    return raters.join(sql.broadcast(codes), column, "left"), Feature(
        name, feature.categories, np.empty(0, np.int16)
    )


def _coded(
    session: SparkSession, frame: DataFrame, items: pl.Series, category: _Category | None
) -> DataFrame:
    numbered = pl.DataFrame({"item": items, "place": np.arange(len(items), dtype=np.int32)})
    places = session.createDataFrame(numbered.to_arrow())
    coded = frame.select("user", "item", "rating").join(sql.broadcast(places), "item").drop("item")
    if category is None:
        return coded.withColumn("category", sql.lit(-1))
    return coded.join(category.frame, "user")
