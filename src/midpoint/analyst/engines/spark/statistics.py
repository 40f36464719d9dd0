"""What the analyst counts of each category, as Spark aggregations."""

import numpy as np
from pyspark.sql import functions as sql

from midpoint.analyst.categories.statistics import CategoryStatistics, Cells, assemble
from midpoint.analyst.engines.spark.reader import RatingsFrame
from midpoint.errors import MidpointError


def tally_frame(ratings: RatingsFrame) -> CategoryStatistics:
    """Count as `tally` does; only the counts of each cell come to this machine."""
    feature = ratings.feature
    if feature is None:
        raise MidpointError(f"{ratings.name} was read without a feature; name one")
    present = np.flatnonzero(ratings.users)
    if len(present) < 2:
        names = ", ".join(feature.categories[k] for k in present) or "none"
        raise MidpointError(
            f"feature {feature.name!r} has users in {len(present)} category only ({names});"
            " protecting it needs at least two"
        )
    discrete = ratings.scale.is_discrete
    rating = sql.col("rating").cast("double")
    counted = (
        ratings.frame.where("category >= 0")
        .groupBy("index", "category", *(["rating"] if discrete else []))
        .agg(
            sql.count(sql.lit(1)).alias("count"),
            sql.sum(rating).alias("total"),
            sql.sum(rating * rating).alias("square"),
        )
        .toArrow()
    )
    column = {name: counted[name].to_numpy() for name in counted.column_names}
    cells = Cells(
        item=column["index"],
        category=column["category"],
        count=column["count"],
        total=column["total"],
        square=column["square"],
        value=column["rating"].astype(np.float64) if discrete else None,
    )
    return assemble(
        cells,
        users=ratings.users,
        items=len(ratings.item_ids),
        feature=feature,
        scale=ratings.scale,
    )
