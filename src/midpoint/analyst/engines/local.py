"""The engine in memory: all tables are read whole."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from midpoint.analyst.categories.statistics import CategoryStatistics, tally
from midpoint.analyst.counterparts.panel import ByUser
from midpoint.analyst.engines.engine import RatingsTables, Then
from midpoint.analyst.engines.tables import feature_column, only_values, own_values, roles_of
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.analyst.training import fit_with_reports
from midpoint.data import Ratings, Scale, load, with_known
from midpoint.data.tables.builder import with_people
from midpoint.data.tables.cells import names_of
from midpoint.data.tables.columns import Columns
from midpoint.data.tables.people import features_of
from midpoint.data.tables.reader import read_table
from midpoint.errors import MidpointError


@dataclass(frozen=True, slots=True)
class LocalRatings:
    """Ratings in memory, with their private feature."""

    ratings: Ratings
    """All of them."""
    features: tuple[str, ...]
    """The private features; several make a joint one."""
    reports: CollectedReports | None = None
    """What other people reported."""

    @property
    def scale(self) -> Scale:
        """What a rating can be."""
        return self.ratings.scale

    def sample(self, people: int, seed: int) -> Ratings:
        """Return the ratings of so many people, at random among those of known category."""
        known = with_known(self.ratings, *self.features)
        order = np.random.default_rng(seed).permutation(known.n_users)
        return known.select_users(np.isin(np.arange(known.n_users), order[:people]))

    def tally(self) -> CategoryStatistics:
        """Count what the users of each category of the private feature do."""
        if not self.features:
            raise MidpointError(f"{self.ratings.name} was read without a feature; name one")
        return tally(self.ratings, self.ratings.feature(*self.features))

    def fit(
        self,
        factorizer: Factorizer,
        progress: Callable[[Progress], None] | None = None,
        *,
        then: Then | None = None,
        unfinished: Unfinished | None = None,
    ) -> ItemProfiles:
        """Learn item profiles by `Factorizer.fit`; nothing is kept of a killed run."""
        del unfinished
        profiles = fit_with_reports(self.ratings, self.features, self.reports, factorizer, progress)
        if then is None:
            return profiles
        return then(profiles, ByUser.of(self.ratings, self.ratings.feature(*self.features)))


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Trains in memory; knows every setting and reads every format that `load` reads."""

    name: str = "local"
    """What `midpoint train --engine` calls it."""

    def read(self, tables: RatingsTables) -> LocalRatings:
        """Load the tables whole."""
        ratings = load(
            tables.source, users=tables.users, columns=tables.columns, scale=tables.scale
        )
        absent = [name for name in tables.features if name not in ratings.features]
        if absent and tables.users is None and Path(tables.source).exists():
            ratings = _with_own_features(ratings, tables, absent)
        return LocalRatings(ratings, tables.features, tables.reports)


def _with_own_features(ratings: Ratings, tables: RatingsTables, names: Sequence[str]) -> Ratings:
    """Gather features that stand beside every rating; each user must have one value."""
    cells, origin = read_table(Path(tables.source))
    roles = roles_of(tables.columns or Columns(), cells.columns, origin.path)
    rest = [name for name in cells.columns if name not in roles]
    columns = list(dict.fromkeys(feature_column(name, rest, origin.path) for name in names))
    by_user = (
        cells.with_columns(names_of(cells[roles.user]).alias("user"))
        .group_by("user", maintain_order=True)
        .agg(*own_values(columns))
    )
    people = features_of(only_values(by_user, columns, origin.path), columns, columns, origin.path)
    return with_people(ratings, people, origin)
