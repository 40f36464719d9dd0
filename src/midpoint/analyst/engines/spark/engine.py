"""The engine on a cluster: Apache Spark, ratings in Parquet."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.engines.counts import CountedFeature, Counts
from midpoint.analyst.engines.engine import RatingsTables, Then
from midpoint.analyst.engines.spark.factorizer import fit_on_spark
from midpoint.analyst.engines.spark.panel import SparkPanel
from midpoint.analyst.engines.spark.reader import RatingsFrame, read_ratings
from midpoint.analyst.engines.spark.statistics import tally_frame
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles


@dataclass(frozen=True, slots=True)
class SparkRatings:
    """Ratings on a cluster, with their private feature."""

    frame: RatingsFrame
    """Where they are, and what one look through them shows."""

    def counts(self) -> Counts:
        """Say how many there are of what, to choose a scheme by."""
        frame, known = self.frame, None
        if frame.feature is not None:
            known = CountedFeature(frame.feature.name, frame.feature.categories, frame.users)
        return Counts(frame.ratings, frame.n_users, len(frame.item_ids), frame.scale, known)

    def tally(self) -> CategoryStatistics:
        """Count what the users of each category of the private feature do."""
        return tally_frame(self.frame)

    def fit(
        self,
        factorizer: Factorizer,
        progress: Callable[[Progress], None] | None = None,
        *,
        then: Then | None = None,
        unfinished: Unfinished | None = None,
    ) -> ItemProfiles:
        """Learn item profiles on the cluster."""
        left = unfinished or Unfinished()
        profiles = fit_on_spark(factorizer, self.frame, progress, left)
        if then is None or self.frame.feature is None:
            return profiles
        left.keep(profiles)
        return then(profiles, SparkPanel(self.frame))


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Trains on the cluster that a Spark session (`open_session`) belongs to."""

    session: SparkSession
    """Where work is done."""
    name: str = "spark"
    """What `midpoint train --engine` calls it."""

    def read(self, tables: RatingsTables) -> SparkRatings:
        """Look through the tables once; addresses stay as they are given."""
        frame = read_ratings(
            self.session,
            str(tables.source),
            users=None if tables.users is None else str(tables.users),
            columns=tables.columns,
            scale=tables.scale,
            features=tables.features,
        )
        return SparkRatings(frame)
