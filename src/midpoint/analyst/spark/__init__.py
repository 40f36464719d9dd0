"""Training and batch work on Apache Spark: ratings that do not fit one machine."""

from midpoint.analyst.spark.factorise import fit_on_spark
from midpoint.analyst.spark.reading import RatingsFrame, read_ratings
from midpoint.analyst.spark.scoring import score_people
from midpoint.analyst.spark.session import open_session
from midpoint.analyst.spark.statistics import tally_frame
from midpoint.analyst.spark.tables import open_parquet, require_new_place
from midpoint.analyst.spark.watching import followed

__all__ = [
    "RatingsFrame",
    "fit_on_spark",
    "followed",
    "open_parquet",
    "open_session",
    "read_ratings",
    "require_new_place",
    "score_people",
    "tally_frame",
]
