"""Reports as feature matrices for attackers; N people, M items."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.analyst import CategoryEstimates, ItemProfiles
from midpoint.audit.attackers.view import Matrix, View
from midpoint.data import Scale

Float = NDArray[np.float64]

MOST_BINS = 10
"""Finer scales, and continuous ones, are read in this many bins."""


def values(view: View) -> Matrix:
    """Ratings as shares of the greatest one, zeros for items not rated (Sec. 7.1). Shape (N, M)."""
    greatest = max(abs(view.scale.low), abs(view.scale.high))
    return view.item_table(view.reports.value / greatest)


def raised_values(view: View) -> Matrix:
    """Ratings raised so that the least is above zero, which is an item not rated. Shape (N, M)."""
    return view.item_table(1 + view.reports.value - view.scale.low)


def mask(view: View) -> Matrix:
    """Ones for revealed items. Shape (N, M)."""
    return view.item_table(np.ones(len(view.reports.item)))


def values_and_mask(view: View) -> Matrix:
    """Deviations from the items' centres, in noise units, and ones beside them. Shape (N, 2 M)."""
    deviation = view.reports.value - view.profiles.centre[view.reports.item]
    unit = np.sqrt(view.profiles.noise_variance)
    return sparse.hstack([view.item_table(deviation / unit), mask(view)], format="csr")


def level_columns(view: View) -> Matrix:
    """One column for each item and level, holding ones. Shape (N, M L)."""
    width = n_bins(view.scale)
    column = view.reports.item.astype(np.int64) * width + bins(view)
    return view.table(np.ones(len(column)), column, view.profiles.n_items * width)


def profile_features(view: View) -> Float:
    """What a few dozen numbers can say of a person. Shape (N, 2 D + bins + 2 K + 6 or 9).

    The estimated profile, the mean profile of the revealed items, counts, the level histogram, the
    spread of values and residuals, how popular the revealed items are, and for each category its
    mean log share in their raters and the slope of the residuals on its offsets. What a category
    does is taken from what was learned without the person, as it is of those who are attacked. On
    scales that are read in bins, how round the values are is said beside them.
    """
    item, residual = view.reports.item, view.residual
    columns = [
        view.profile,
        averages(view, view.profiles.vectors[item]),
        np.log1p(view.counts)[:, None],
        averages(view, np.eye(n_bins(view.scale))[bins(view)]),
        spreads(view, view.reports.value),
        spreads(view, residual),
    ]
    if view.scale.levels is not None and len(view.scale.levels) > MOST_BINS:
        columns.append(roundness(view))
    if view.profiles.statistics is not None:
        columns.append(by_part(view, _category_means))
    return np.column_stack(columns)


def by_part(view: View, read: Callable[[View], Float]) -> Float:
    """Read people by their own disclosure, and by what was learned without them."""
    return np.concatenate([read(part) for part in view.parts or (view,)])


def short_profile(view: View) -> Float:
    """Estimated profile, mean profile of the revealed items, and their number. (N, 2 D + 1)."""
    revealed = averages(view, view.profiles.vectors[view.reports.item])
    return np.column_stack([view.profile, revealed, np.log1p(view.counts)])


def averages(view: View, entries: NDArray[Any]) -> Float:
    """Average entries (n, c) of reported ratings by person, 0 for silent ones. Shape (N, c)."""
    return np.asarray(_adder(view) @ entries / np.maximum(view.counts, 1)[:, None], np.float64)


def spreads(view: View, entries: NDArray[Any]) -> Float:
    """Mean and standard deviation by person of entries (n,). Shape (N, 2)."""
    mean = averages(view, entries[:, None])
    square = averages(view, np.square(entries[:, None] - mean[view.user]))
    return np.column_stack([mean, np.sqrt(square)])


def roundness(view: View) -> Float:
    """How round a person's values are: the use that people make of a fine scale. Shape (N, 3).

    The share of every tenth level, that of every fifth, and that of different values.
    """
    levels, value = np.array(view.scale.levels), view.reports.value
    round_ = np.column_stack([np.isin(value, levels[::10]), np.isin(value, levels[::5])])
    each, which = np.unique(value, return_inverse=True)
    used = np.unique(view.user * max(len(each), 1) + which) // max(len(each), 1)
    different = np.bincount(used, minlength=view.n_users) / np.maximum(view.counts, 1)
    return np.column_stack([averages(view, round_.astype(np.float64)), different])


def n_bins(scale: Scale) -> int:
    """Return how many bins values of a scale are read in."""
    return MOST_BINS if scale.levels is None else min(len(scale.levels), MOST_BINS)


def bins(view: View) -> NDArray[np.int64]:
    """Return the bin of each reported value: the nearest level of a short scale. Shape (n,)."""
    scale, count, value = view.scale, n_bins(view.scale), view.reports.value
    if scale.levels is not None and count == len(scale.levels):
        points = np.array(scale.levels)
        return np.searchsorted((points[1:] + points[:-1]) / 2, value).astype(np.int64)
    inner = np.linspace(scale.low, scale.high, count + 1)[1:-1]
    return np.searchsorted(inner, value, side="right").astype(np.int64)


def estimates_of(profiles: ItemProfiles) -> CategoryEstimates | None:
    """Return what the analyst estimates of each category; None if it never saw the feature."""
    return None if profiles.statistics is None else profiles.estimates()


def _category_means(view: View) -> Float:
    """Average what categories do to the revealed items. Shape (N, 1 + 2 K)."""
    item = view.reports.item
    rate, share, offset = _category_columns(view.profiles)
    means = averages(view, np.column_stack([rate, share])[item])
    return np.column_stack([means, averages(view, view.residual[:, None] * offset[item])])


def _category_columns(profiles: ItemProfiles) -> tuple[Float, Float, Float]:
    """Return log rate (M,), centred log rates by category (M, K) and offsets (M, K)."""
    estimates = estimates_of(profiles)
    p = np.full((profiles.n_items, 0), 1.0) if estimates is None else estimates.probability
    logs = np.log(np.clip(p, 1e-6, 1.0))
    centre = logs.mean(axis=1)
    return centre, logs - centre[:, None], profiles.offset


def _adder(view: View) -> Matrix:
    """Return the matrix that adds up by person what belongs to ratings. Shape (N, n)."""
    n = len(view.reports.item)
    return view.table(np.ones(n), np.arange(n), n)
