"""Everyone else's reports beside a panel on a cluster: ratings of people of unknown category.

They are checked on this machine and count as raw ratings do: MLlib knows no weights, so what coins
added to them is not weighed, unlike in memory and on disk.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from midpoint.analyst.engines.spark.reader import RatingsFrame
from midpoint.analyst.learn.admission import PanelData, admit, require_teaching
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.errors import MidpointError


def with_reports(panel: RatingsFrame, reports: CollectedReports | None, seed: int) -> RatingsFrame:
    """Put the reports that may teach beside a panel's ratings."""
    if reports is None:
        return panel
    if panel.feature is None:
        raise MidpointError("reports protect a private feature; name it to learn from them")
    if panel.scale.is_unary:
        raise MidpointError("reports of sets are learned from in memory; ask for engine local")
    frame = panel.frame
    busiest = frame.groupBy("user").count().agg(sql.max("count")).first()
    known = PanelData(panel.item_ids, panel.scale, int(busiest[0]) if busiest else 0)
    feature = replace(panel.feature, codes=np.repeat(np.arange(len(panel.users)), panel.users))
    taught = admit(known, feature, reports, seed=seed)
    require_teaching(reports, taught.admission)
    columns = {
        "user": [f"report {n + 1}" for n in taught.person.tolist()],
        "index": taught.item,
        "rating": taught.value,
        "category": np.full(len(taught.item), -1, np.int32),
    }
    others = frame.sparkSession.createDataFrame(pa.table(columns))
    theirs = frame.withColumn("user", sql.col("user").cast("string")).select(*columns)
    types = [sql.col(name).cast(kind).alias(name) for name, kind in theirs.dtypes]
    return replace(
        panel,
        frame=theirs.unionByName(others.select(*types)),
        ratings=panel.ratings + len(taught.item),
        admission=taught.admission,
    )
