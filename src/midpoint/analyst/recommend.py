"""Scores for one person, the same for every category, which her device corrects and ranks."""

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.evidence import Estimate, Evidence
from midpoint.analyst.profiles import ItemProfiles
from midpoint.errors import MidpointError
from midpoint.wire import Disclosure, Report, Scores, from_fixed, to_fixed


def read_report(profiles: ItemProfiles, report: Report, disclosure: Disclosure) -> Evidence:
    """Turn a report into evidence, refusing one that was made under another disclosure."""
    if report.disclosure != disclosure.digest:
        raise MidpointError(
            f"report {report.id} was made under disclosure {report.disclosure[:12]}, not"
            f" {disclosure.digest[:12]}; answer again under the current one"
        )
    items = np.array([item for item, _ in report.answers], dtype=np.str_)
    values = from_fixed(np.array([value for _, value in report.answers], dtype=np.int64))
    return Evidence.of(profiles, profiles.index_of(items), values)


def score(
    profiles: ItemProfiles,
    estimate: Estimate,
    disclosure: Disclosure,
    items: NDArray[np.integer] | None = None,
) -> Scores:
    """Score items, all unless given, in the order of their identifiers."""
    chosen = np.arange(profiles.n_items) if items is None else np.asarray(items)
    order = chosen[np.argsort(profiles.item_ids[chosen])]
    mean, deviation = estimate.predict(profiles)
    return Scores(
        disclosure=disclosure.digest,
        items=tuple(profiles.item_ids[order].tolist()),
        score=tuple(to_fixed(mean[order]).tolist()),
        deviation=tuple(to_fixed(deviation[order]).tolist()),
    )
