"""Profile and category fitted together, as the paper's analyst does (LSE, Eq. 6)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import ItemProfiles, estimate_profiles
from midpoint.protocol import Reports

Float = NDArray[np.float64]


class JointFit(NamedTuple):
    """What each category makes of N people's reports."""

    loss: Float
    """Of each person under each category. Shape (N, K)."""
    profile: Float
    """The best profile under each category. Shape (K, N, D)."""


def joint_fit(profiles: ItemProfiles, reports: Reports) -> JointFit:
    """Fit a profile under each category, and say how well it explains what was reported.

    loss_k = min_x sum_j (y_j - centre_j - offset_jk - <x, v_j>)^2 / sigma^2
                   + (x - m)' C^-1 (x - m)
    """
    counts, item = np.diff(reports.user_offsets), reports.item
    user = np.repeat(np.arange(len(counts)), counts)
    losses, best = [], []
    for k in range(profiles.offset.shape[1]):
        left = reports.value - profiles.offset[item, k]
        x = estimate_profiles(profiles, reports.user_offsets, item, left, threads=1)
        taste = np.einsum("nd,nd->n", x[user], profiles.vectors[item])
        error = np.square(left - profiles.centre[item] - taste)
        away = np.linalg.solve(profiles.profile_root, (x - profiles.profile_mean).T)
        explained = np.bincount(user, error, len(counts)) / profiles.noise_variance
        losses.append(explained + np.square(away).sum(axis=0))
        best.append(x)
    if not best:
        return JointFit(np.zeros((len(counts), 0)), np.zeros((0, len(counts), profiles.dimension)))
    return JointFit(np.stack(losses, axis=1), np.stack(best))
