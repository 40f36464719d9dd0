"""A sample of people that fits into memory, of ratings on a cluster."""

import numpy as np
import polars as pl
from pyspark.sql import Column
from pyspark.sql import functions as sql
from scipy import sparse

from midpoint.analyst.engines.spark.reader import RatingsFrame
from midpoint.data import Ratings

SLICES = 1_000_000
"""People are spread over so many slices by a hash of their names."""


def sampled(ratings: RatingsFrame, people: int, seed: int) -> Ratings:
    """Read the ratings of about so many people, by a hash, of those whose category is known.

    Without a feature that is everybody.
    """
    feature = ratings.feature
    if feature is None:
        everyone = ratings.frame.select(sql.approx_count_distinct("user")).collect()[0][0]
    else:
        everyone = int(ratings.users.sum())
    known = sql.col("category") >= (-1 if feature is None else 0)
    chosen = known & _chosen(people / max(everyone, 1), seed)
    table = pl.DataFrame(ratings.frame.where(chosen).toArrow()).sort("user", "index")
    user = table["user"].cast(pl.String)
    code = dict(zip(user.to_list(), table["category"].to_list(), strict=True))
    parts = [] if feature is None else zip(feature.parts, feature.crossed, strict=True)
    features = {
        name: {who: names[cells[k]] for who, k in code.items()} for (name, names), cells in parts
    }
    return Ratings.from_columns(
        np.array(user.to_list(), np.str_),
        ratings.item_ids[table["index"].to_numpy()],
        table["rating"].to_numpy(),
        scale=ratings.scale,
        features=features,
        name=ratings.name,
    )


def sampled_sets(ratings: RatingsFrame, people: int, seed: int) -> sparse.csr_matrix:
    """Read what about so many people rated, by a hash, whatever their category. (people, items)."""
    everyone = ratings.frame.select(sql.approx_count_distinct("user")).collect()[0][0]
    some = ratings.frame.where(_chosen(people / max(everyone, 1), seed)).select("user", "index")
    table = pl.DataFrame(some.toArrow())
    user = table["user"].rank("dense").to_numpy().astype(np.int64) - 1
    shape = int(user.max(initial=-1)) + 1, len(ratings.item_ids)
    return sparse.csr_matrix((np.ones(len(user)), (user, table["index"].to_numpy())), shape)


def _chosen(share: float, seed: int) -> Column:
    """Tell who belongs to a sample of a share of all people."""
    slice_of = sql.pmod(sql.xxhash64(sql.col("user"), sql.lit(seed)), sql.lit(SLICES))
    return slice_of < round(min(share, 1.0) * SLICES)
