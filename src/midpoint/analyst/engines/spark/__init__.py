"""Training and batch work on Apache Spark: ratings that do not fit one machine."""

from midpoint.analyst.engines.spark.engine import SparkEngine
from midpoint.analyst.engines.spark.factorizer import fit_on_spark
from midpoint.analyst.engines.spark.progress import followed
from midpoint.analyst.engines.spark.reader import RatingsFrame, read_ratings
from midpoint.analyst.engines.spark.scores import score_people
from midpoint.analyst.engines.spark.session import open_session
from midpoint.analyst.engines.spark.statistics import tally_frame
from midpoint.analyst.engines.spark.tables import open_parquet, require_new_address

__all__ = [
    "RatingsFrame",
    "SparkEngine",
    "fit_on_spark",
    "followed",
    "open_parquet",
    "open_session",
    "read_ratings",
    "require_new_address",
    "score_people",
    "tally_frame",
]
