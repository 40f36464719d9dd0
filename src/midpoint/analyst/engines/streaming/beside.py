"""Everyone else's reports beside a panel's ratings on disk: numbered after them, users and all."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from midpoint.analyst.engines.streaming.scan import Scan
from midpoint.analyst.engines.streaming.sort import Triples
from midpoint.analyst.fit.profiles import Provenance
from midpoint.analyst.fit.report_noise import ReportNoise
from midpoint.analyst.learn.admission import Admitted, PanelData, admit, noted, require_teaching
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.data import Feature
from midpoint.errors import MidpointError

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Beside:
    """A panel's ratings on disk, and the reports that teach beside it, if any; N users, M items."""

    scan: Scan
    """The panel's ratings."""
    taught: Admitted | None
    """The answers that teach, in the order of their people and items."""
    by_user: Integers
    """Ratings and answers of each user: the panel's people, then those who reported. (N,)."""
    by_item: Integers
    """Ratings and answers of each item. Shape (M,)."""

    @classmethod
    def of(
        cls, scan: Scan, feature: Feature | None, reports: CollectedReports | None, seed: int
    ) -> "Beside":
        """Check reports, and count them beside the ratings."""
        by_user, by_item = counts(scan.users), counts(scan.items)
        if reports is None:
            return cls(scan, None, by_user, by_item)
        if feature is None:
            raise MidpointError("reports protect a private feature; name it to learn from them")
        panel = PanelData(scan.item_ids, scan.scale, int(by_user.max(initial=0)))
        taught = admit(panel, feature, reports, seed=seed)
        require_teaching(reports, taught.admission)
        answered = np.bincount(taught.person, minlength=taught.admission.people)
        by_item = by_item + np.bincount(taught.item, minlength=len(by_item))
        return cls(scan, taught, np.concatenate([by_user, answered]), by_item)

    @property
    def people(self) -> int:
        """How many people reported."""
        return len(self.by_user) - self.scan.users.height

    def coded(self) -> Iterator[Triples]:
        """Read ratings, then reports, in chunks."""
        if self.taught is None:
            return self.scan.coded()
        user = self.taught.person + np.int32(self.scan.users.height)
        return chain(self.scan.coded(), [Triples(user, self.taught.item, self.taught.value)])

    def noise(self) -> ReportNoise | None:
        """Return what is known of each rating beside its value, in the order of users and items."""
        if self.taught is None:
            return None
        raw = self.scan.ratings
        variance = np.concatenate([np.zeros(raw), self.taught.variance])
        return ReportNoise.of(variance, np.concatenate([np.ones(raw), self.taught.presence]))

    def noted(self, made: Provenance) -> Provenance:
        """Write down how many reports teach."""
        return made if self.taught is None else noted(made, self.taught.admission)


def counts(listed: pl.DataFrame) -> Integers:
    """Return how many ratings each of some users, or items, has."""
    return np.asarray(listed["count"].to_numpy(), np.int64)
