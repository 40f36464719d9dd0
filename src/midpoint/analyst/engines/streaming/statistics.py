"""What the analyst counts of each category, by polars' streaming engine."""

import numpy as np
import polars as pl

from midpoint.analyst.categories.statistics import CategoryStatistics, Cells, assemble
from midpoint.analyst.engines.streaming.scan import Scan
from midpoint.data import Feature


def tally_scan(scan: Scan, feature: Feature) -> CategoryStatistics:
    """Count as `tally` does, from disk: one group of ratings for each cell stays in memory."""
    feature.require_classes()
    rating = pl.col("rating").cast(pl.Float64)
    category = pl.Series("category", feature.codes)
    who = scan.users.select("user").with_columns(category).filter(pl.col("category") >= 0)
    what = scan.items.lazy().select("item").with_row_index("index")
    keys = ["index", "category", *(["rating"] if scan.scale.is_discrete else [])]
    counted = (
        scan.frame.join(who.lazy(), on="user")
        .join(what, on="item")
        .group_by(keys)
        .agg(count=pl.len(), total=rating.sum(), square=(rating * rating).sum())
        .collect(engine="streaming")
    )
    cells = Cells(
        item=counted["index"].to_numpy().astype(np.int64),
        category=counted["category"].to_numpy(),
        count=counted["count"].to_numpy(),
        total=counted["total"].to_numpy(),
        square=counted["square"].to_numpy(),
        value=counted["rating"].to_numpy().astype(np.float64) if scan.scale.is_discrete else None,
    )
    return assemble(
        cells, users=feature.counts, items=scan.items.height, feature=feature, scale=scan.scale
    )
