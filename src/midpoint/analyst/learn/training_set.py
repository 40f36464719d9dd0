"""What a fit reads: the panel's ratings and everyone else's reports, as one table.

How categories differ is learned from the panel's ratings. Items are learned from reports as well:
somebody who reported is a person of unknown category, so no offset is added, and her ratings have
less weight because of the noise of coins. She has one taste vector for each disclosure, because
counterparts move values along the item vectors of that disclosure.
"""

from dataclasses import dataclass, replace

import numpy as np

from midpoint.analyst.fit.report_noise import ReportNoise
from midpoint.analyst.learn.admission import Admission, PanelData, admit
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.data import MISSING, Feature, Ratings


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Ratings of the panel and of reports, ready for `Factorizer.fit`."""

    ratings: Ratings
    """All ratings: the panel's users, then those who reported; the panel's items."""
    report_noise: ReportNoise
    """Noise and weight of each rating."""
    admission: Admission
    """Counts of answers used and left out."""


def training_set(
    panel: Ratings, features: tuple[str, ...], reports: CollectedReports, *, seed: int = 0
) -> TrainingSet:
    """Combine the panel's ratings and everyone else's reports.

    Args:
        panel: The panel's ratings, with the features.
        features: The private features, which the reports' disclosures must protect.
        reports: What people reported.
        seed: Decides which answers count of somebody who gave too many.
    """
    admitted = admit(PanelData.of(panel), panel.feature(*features), reports, seed=seed)
    people, raw = admitted.admission.people, len(panel)
    ratings = replace(
        panel,
        user=np.concatenate([panel.user, admitted.person + np.int32(panel.n_users)]),
        item=np.concatenate([panel.item, admitted.item]),
        value=np.concatenate([panel.value, admitted.value]),
        user_ids=np.concatenate([panel.user_ids, _names(people)]),
        features={name: with_unknown(panel.feature(name), people) for name in panel.features},
        time=None,
        name=f"{panel.name} and reports",
    )
    variance = np.concatenate([np.zeros(raw), admitted.variance])
    presence = np.concatenate([np.ones(raw), admitted.presence])
    return TrainingSet(ratings, ReportNoise.of(variance, presence), admitted.admission)


def _names(people: int) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """Number those who reported; pseudonyms are not kept."""
    return np.array([f"report {n + 1}" for n in range(people)], dtype=np.str_)


def with_unknown(feature: Feature, people: int) -> Feature:
    """Add so many people of unknown category."""
    unknown = np.full(people, MISSING, dtype=feature.codes.dtype)
    return replace(feature, codes=np.concatenate([feature.codes, unknown]))
