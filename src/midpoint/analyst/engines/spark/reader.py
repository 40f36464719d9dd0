"""Ratings as a Spark table: Parquet from a path or any Hadoop address, items numbered."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from midpoint.analyst.engines.spark.people import Category, categories_of, people_of
from midpoint.analyst.engines.spark.tables import named, open_parquet
from midpoint.analyst.engines.tables import Roles, Seen, roles_of, scale_of, step_to
from midpoint.analyst.learn.admission import Admission
from midpoint.data import Feature, Scale
from midpoint.data.scale import MOST_LEVELS
from midpoint.data.tables.cells import names_of
from midpoint.data.tables.columns import Columns


@dataclass(frozen=True, eq=False)
class RatingsFrame:
    """Ratings somewhere on a cluster; M items."""

    frame: DataFrame
    """Columns `user`, `index` (of the item), `rating` and `category` (-1 if not known)."""
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
    n_users: int = 0
    """Users in all, with a category or without; 0 if no feature was named."""
    admission: Admission | None = None
    """How many reports are among the ratings, where there are some."""


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
    roles = roles_of(columns, raw.columns, source, () if users else features)
    frame = _long(raw, roles, source)
    listed = _items(frame)
    seen = _seen(frame, listed)
    found_scale = scale_of(seen, scale, source, unary=roles.rating is None)
    step = step_to(seen, found_scale) if scale is None else None
    if step is not None:
        steps = sql.floor((sql.col("rating").cast("double") - found_scale.low) / step + 0.5)
        frame = frame.withColumn("rating", (found_scale.low + step * steps).cast("float"))
    ids = names_of(listed["item"])
    category = None
    if features:
        people = people_of(session, raw, roles, users, columns, features, source)
        category = categories_of(session, frame.select("user"), people, features, users or source)
    return RatingsFrame(
        frame=_coded(session, frame, listed["item"], category),
        name=source.rstrip("/").rpartition("/")[2].split(".")[0],
        ratings=int(listed["count"].sum()),
        item_ids=np.array(ids.to_list(), dtype=np.str_),
        item_names=np.array(listed["title"].fill_null(ids).to_list(), dtype=np.str_),
        scale=found_scale,
        feature=category.feature if category else None,
        users=category.users if category else np.zeros(0, np.int64),
        n_users=category.everyone if category else 0,
    )


def _long(raw: DataFrame, roles: Roles, where: str) -> DataFrame:
    title = (
        sql.lit(None).cast("string") if roles.title is None else sql.col(roles.title).cast("string")
    )
    column = roles.rating or roles.uses
    value = sql.lit(1.0).cast("float") if column is None else sql.col(column).try_cast("float")
    frame = raw.select(
        named(raw, roles.user, where).alias("user"),
        named(raw, roles.item, where).alias("item"),
        value.alias("rating"),
        title.alias("title"),
    )
    return frame if roles.rating is not None else _sets(frame)


def _sets(frame: DataFrame) -> DataFrame:
    """Keep each item that somebody used once; what is no count is left for `scale_of` to refuse."""
    count = sql.coalesce(sql.col("rating"), sql.lit(0.0).cast("float"))
    finite = ~sql.isnan(count) & (count < float("inf"))
    used = sql.when(finite & (count > 0), sql.lit(1.0)).otherwise(count).cast("float")
    return frame.where(count != 0).withColumn("rating", used).dropDuplicates(["user", "item"])


def _items(frame: DataFrame) -> pl.DataFrame:
    """List the items, ascending, with title and count, and check their ratings in one pass."""
    rating = sql.col("rating")
    named = (sql.col("user").cast("string") != "") & (sql.col("item").cast("string") != "")
    fine = named & ~sql.isnan(rating) & (sql.abs(rating) < float("inf"))
    # Titles are part of the key: Spark would sort all rows for the first of them.
    grouped = frame.groupBy("item", "title").agg(
        sql.count(sql.lit(1)).alias("count"),
        sql.count(sql.when(fine, 1)).alias("fine"),
        sql.min(rating).alias("low"),
        sql.max(rating).alias("high"),
    )
    listed = pl.DataFrame(grouped.toArrow()).group_by("item").agg(
        pl.col("title").cast(pl.String).drop_nulls().min(),
        pl.col("count", "fine").sum(),
        pl.col("low").min(),
        pl.col("high").max(),
    )  # fmt: skip
    return listed.sort("item")


def _seen(frame: DataFrame, listed: pl.DataFrame) -> Seen:
    """Sum up the items' ratings; list values, but not more than a discrete scale can have."""
    values = pl.DataFrame(frame.groupBy("rating").count().limit(MOST_LEVELS + 1).toArrow())
    values = values.drop_nulls().sort("rating")
    count, fine = int(listed["count"].sum()), int(listed["fine"].sum())
    ends = listed.select(pl.col("low").min(), pl.col("high").max()).to_numpy()[0].astype(np.float64)
    distinct = values["rating"].to_numpy().astype(np.float64)
    often = values["count"].to_numpy().astype(np.int64)
    return Seen(count, ends[0], ends[1], distinct, often, count - fine)


def _coded(
    session: SparkSession, frame: DataFrame, items: pl.Series, category: Category | None
) -> DataFrame:
    numbered = pl.DataFrame({"item": items, "index": np.arange(len(items), dtype=np.int32)})
    indices = session.createDataFrame(numbered.to_arrow())
    coded = frame.select("user", "item", "rating").join(sql.broadcast(indices), "item").drop("item")
    if category is None:
        return coded.withColumn("category", sql.lit(-1))
    return coded.join(category.frame, "user")
