"""The engine on a cluster: Apache Spark, ratings in Parquet."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.engines.engine import RatingsTables, Then
from midpoint.analyst.engines.spark.factorizer import fit_on_spark
from midpoint.analyst.engines.spark.panel import SparkPanel
from midpoint.analyst.engines.spark.reader import RatingsFrame, read_ratings
from midpoint.analyst.engines.spark.reports import with_reports
from midpoint.analyst.engines.spark.sample import sampled
from midpoint.analyst.engines.spark.statistics import tally_frame
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.data import Ratings, Scale


@dataclass(frozen=True, slots=True)
class SparkRatings:
    """Ratings on a cluster, with their private feature."""

    frame: RatingsFrame
    """Where they are, and what one look through them shows."""
    reports: CollectedReports | None = None
    """What other people reported."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the private features; several make a joint one."""
        feature = self.frame.feature
        return () if feature is None else tuple(name for name, _ in feature.parts)

    @property
    def scale(self) -> Scale:
        """What a rating can be."""
        return self.frame.scale

    def sample(self, people: int, seed: int) -> Ratings:
        """Read the ratings of about so many people, of those whose category is known."""
        return sampled(self.frame, people, seed)

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
        everyone = with_reports(self.frame, self.reports, factorizer.seed)
        profiles = fit_on_spark(factorizer, everyone, progress, left)
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
        return SparkRatings(frame, tables.reports)
