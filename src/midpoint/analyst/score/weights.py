"""Weights of reports: coins that hide a category add noise, and the analyst knows how much.

Every reported rating is centre + <x, v> + noise, whose variance is sigma^2 as for any rating, plus
c_j that the map of values adds to item j. Least squares with the weights sigma^2 / (sigma^2 + c_j)
is the best linear estimator; it uses nothing but what was disclosed.
"""

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.wire import Disclosure, from_fixed

QUANTILES = 128
"""Points of the quantile axis at which the map of levels is looked at."""

Float = NDArray[np.float64]


def report_weights(profiles: ItemProfiles, disclosure: Disclosure, *, alpha: float = 1.0) -> Float:
    """Return the weight of a reported rating of each item: sigma^2 / (sigma^2 + alpha c_j). (M,).

    Args:
        profiles: The item profiles.
        disclosure: What the reporting devices went by.
        alpha: Share of ratings that are obfuscated at all.
    """
    sigma2 = profiles.noise_variance
    return np.asarray(sigma2 / (sigma2 + alpha * coin_noise(disclosure)[profiles.message_index]))


def coin_noise(disclosure: Disclosure) -> Float:
    """Return the variance c_j that the discrete midpoint adds to item j's ratings. Shape (M,).

    With l_k(z) category k's rating at quantile z, m(z) their mean and o_k = E l_k - E m,

        c_j = E_z mean_k (m(z) - (l_k(z) - o_k))^2 + E_z (m(z) - below)(above - m(z)):

    what moving to the midpoint changes beyond the offset, and the coin between two reported levels.
    Other maps of values add none that is the same for all categories, and count as 0.
    """
    if disclosure.levels is None or disclosure.scale.levels is None:
        return np.zeros(len(disclosure.items))
    points = from_fixed(disclosure.scale.levels)
    cumulative = from_fixed(disclosure.levels).cumsum(axis=2)
    z = (np.arange(QUANTILES) + 0.5) / QUANTILES
    rating = np.full((*cumulative.shape[:2], QUANTILES), points[0])
    for level, gap in enumerate(np.diff(points)):
        rating += gap * (z >= cumulative[:, :, level, None])
    middle = rating.mean(axis=1, keepdims=True)
    offset = (rating - middle).mean(axis=2, keepdims=True)
    reported = from_fixed(disclosure.scale.reported or disclosure.scale.levels)
    below = np.clip(np.searchsorted(reported, middle, side="right") - 1, 0, len(reported) - 2)
    moved = (middle - rating + offset) ** 2
    tossed = (middle - reported[below]) * (reported[below + 1] - middle)
    return np.asarray((moved.mean(axis=1) + tossed[:, 0]).mean(axis=1))
