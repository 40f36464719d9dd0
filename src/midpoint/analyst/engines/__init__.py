"""Where ratings are while a model is trained: in memory, on disk, or on a cluster.

    engine = StreamingEngine()
    profiles = train_on(engine.read(RatingsTables("ratings.parquet", features=("gender",))))

`SparkEngine` is in `midpoint.analyst.engines.spark`, since PySpark is an extra.
"""

from midpoint.analyst.engines.engine import Engine, RatingsTables, ReadRatings
from midpoint.analyst.engines.local import LocalEngine
from midpoint.analyst.engines.streaming.engine import StreamingEngine
from midpoint.analyst.engines.training import train_on

__all__ = ["Engine", "LocalEngine", "RatingsTables", "ReadRatings", "StreamingEngine", "train_on"]
