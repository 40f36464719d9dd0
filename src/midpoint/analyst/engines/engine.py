"""The interface of all engines: read tables, then count or fit."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.counterparts.panel import Panel
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.data import Ratings, Scale
from midpoint.data.tables.columns import Columns

Then = Callable[[ItemProfiles, Panel], ItemProfiles]
"""What is to be learned from the people beside item profiles, while they are at hand."""


@dataclass(frozen=True, slots=True)
class RatingsTables:
    """Tables of ratings and people, and what to read of them."""

    source: str | Path
    """Ratings, one row each; Parquet, for all engines but the local one."""
    users: str | Path | None = None
    """People, one row each, with their features; without it these are columns of the ratings."""
    columns: Columns | None = None
    """What the columns are called; guessed where not given."""
    scale: Scale | None = None
    """What a rating can be; guessed from the ratings where not given."""
    features: tuple[str, ...] = ()
    """The private features; several make a joint one."""
    reports: CollectedReports | None = None
    """What other people reported; items are learned from it, too."""


class ReadRatings(Protocol):
    """Ratings that an engine has checked, with their private feature."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the private features; several make a joint one."""
        ...

    @property
    def scale(self) -> Scale:
        """What a rating can be."""
        ...

    def sample(self, people: int, seed: int) -> Ratings:
        """Read the ratings of so many people into memory, at random among those of known category.

        There must be a private feature.
        """
        ...

    def tally(self) -> CategoryStatistics:
        """Count what the users of each category of the private feature do."""
        ...

    def fit(
        self,
        factorizer: Factorizer,
        progress: Callable[[Progress], None] | None = None,
        *,
        then: Then | None = None,
        unfinished: Unfinished | None = None,
    ) -> ItemProfiles:
        """Learn item profiles.

        Args:
            factorizer: The settings.
            progress: Is called after each iteration.
            then: Learns more from the people; needs a private feature.
            unfinished: Keeps the item profiles, for the case that `then` is killed.
        """
        ...


class Engine(Protocol):
    """A way to train: the same call gives the same kind of result, whatever the size."""

    @property
    def name(self) -> str:
        """What `midpoint train --engine` calls it."""
        ...

    def read(self, tables: RatingsTables) -> ReadRatings:
        """Look through tables once and check them."""
        ...
