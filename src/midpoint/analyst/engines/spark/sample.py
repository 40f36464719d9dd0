"""A sample of people that fits into memory, of ratings on a cluster."""

import numpy as np
import polars as pl
from pyspark.sql import functions as sql

from midpoint.analyst.engines.spark.reader import RatingsFrame
from midpoint.data import Ratings
from midpoint.errors import MidpointError

SLICES = 1_000_000
"""People are spread over so many slices by a hash of their names."""


def sampled(ratings: RatingsFrame, people: int, seed: int) -> Ratings:
    """Read the ratings of about so many people, by a hash, of those whose category is known."""
    feature = ratings.feature
    if feature is None:
        raise MidpointError(f"{ratings.name} was read without a feature; name one")
    share = min(people / max(int(ratings.users.sum()), 1), 1.0)
    slice_of = sql.pmod(sql.xxhash64(sql.col("user"), sql.lit(seed)), sql.lit(SLICES))
    chosen = (sql.col("category") >= 0) & (slice_of < round(share * SLICES))
    table = pl.DataFrame(ratings.frame.where(chosen).toArrow()).sort("user", "index")
    user = table["user"].cast(pl.String)
    code = dict(zip(user.to_list(), table["category"].to_list(), strict=True))
    features = {
        name: {who: names[cells[k]] for who, k in code.items()}
        for (name, names), cells in zip(feature.parts, feature.crossed, strict=True)
    }
    return Ratings.from_columns(
        np.array(user.to_list(), np.str_),
        ratings.item_ids[table["index"].to_numpy()],
        table["rating"].to_numpy(),
        scale=ratings.scale,
        features=features,
        name=ratings.name,
    )
