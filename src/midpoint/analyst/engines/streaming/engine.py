"""The engine on disk: one machine, ratings in Parquet."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.engines.engine import RatingsTables, Then
from midpoint.analyst.engines.streaming.factorizer import fit_from_disk
from midpoint.analyst.engines.streaming.sample import sampled
from midpoint.analyst.engines.streaming.scan import Scan, scan
from midpoint.analyst.engines.streaming.statistics import tally_scan
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.data import Ratings, Scale
from midpoint.errors import MidpointError


@dataclass(frozen=True, slots=True)
class StreamingRatings:
    """Ratings on disk, with their private feature."""

    scan: Scan
    """Where they are, and what one look through them shows."""
    features: tuple[str, ...]
    """The private features; several make a joint one."""
    workspace: Path | None
    """Directory for columns during the fit."""
    reports: CollectedReports | None = None
    """What other people reported."""

    @property
    def scale(self) -> Scale:
        """What a rating can be."""
        return self.scan.scale

    def sample(self, people: int, seed: int) -> Ratings:
        """Read the ratings of so many people, at random among those of known category."""
        return sampled(self.scan, self.features, people, seed)

    def tally(self) -> CategoryStatistics:
        """Count what the users of each category of the private feature do."""
        feature = self.scan.feature(self.features)
        if feature is None:
            raise MidpointError(f"{self.scan.name} was read without a feature; name one")
        return tally_scan(self.scan, feature)

    def fit(
        self,
        factorizer: Factorizer,
        progress: Callable[[Progress], None] | None = None,
        *,
        then: Then | None = None,
        unfinished: Unfinished | None = None,
    ) -> ItemProfiles:
        """Learn item profiles from the disk."""
        return fit_from_disk(
            factorizer,
            self.scan,
            self.features,
            reports=self.reports,
            workspace=self.workspace,
            progress=progress,
            then=then,
            unfinished=unfinished,
        )


@dataclass(frozen=True, slots=True)
class StreamingEngine:
    """Trains on one machine from ratings on disk."""

    workspace: Path | None = None
    """Directory for columns during a fit; the system's temporary one unless given."""
    name: str = "stream"
    """What `midpoint train --engine` calls it."""

    def read(self, tables: RatingsTables) -> StreamingRatings:
        """Look through the tables once."""
        looked_through = scan(
            tables.source,
            users=tables.users,
            columns=tables.columns,
            scale=tables.scale,
            features=tables.features,
        )
        return StreamingRatings(looked_through, tables.features, self.workspace, tables.reports)
