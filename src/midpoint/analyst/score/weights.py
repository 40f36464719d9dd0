"""Weights of reports: coins that hide a category add noise, and the analyst knows how much.

Every reported rating is centre + <x, v> + noise, whose variance is sigma^2 as for any rating, plus
c_j that the map of values adds to item j. Least squares with the weights sigma^2 / (sigma^2 + c_j)
is the best linear estimator; it uses nothing but what was disclosed.
"""

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.kernels.compilation import compiled
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
    points = np.asarray(from_fixed(disclosure.scale.levels))
    reported = np.asarray(from_fixed(disclosure.scale.reported or disclosure.scale.levels))
    return _variances(from_fixed(disclosure.levels).cumsum(axis=2), points, reported)


@compiled
def _variances(cumulative: Float, points: Float, reported: Float) -> Float:
    """Return c_j of `coin_noise` for items whose levels have these cumulative shares, (M, K, L).

    Args:
        cumulative: Share of category k's ratings of item j up to each level. Shape (M, K, L).
        points: The levels. Shape (L,).
        reported: The levels that devices report on. Shape (R,).
    """
    M, K, L = cumulative.shape
    variance, rating, middle = np.zeros(M), np.empty((QUANTILES, K)), np.empty(QUANTILES)
    offset, level = np.empty(K), np.empty(K, np.int64)
    for j in range(M):
        level[:], offset[:] = 0, 0.0
        for q in range(QUANTILES):
            middle[q] = 0.0
            for k in range(K):
                while level[k] < L - 1 and (q + 0.5) / QUANTILES >= cumulative[j, k, level[k]]:
                    level[k] += 1
                rating[q, k] = points[level[k]]
                middle[q] += rating[q, k] / K
            for k in range(K):
                offset[k] += (rating[q, k] - middle[q]) / QUANTILES
        below = 0
        for q in range(QUANTILES):
            while below < len(reported) - 2 and reported[below + 1] <= middle[q]:
                below += 1
            variance[j] += (middle[q] - reported[below]) * (reported[below + 1] - middle[q])
            for k in range(K):
                variance[j] += (middle[q] - rating[q, k] + offset[k]) ** 2 / K
    return variance / QUANTILES
