"""The best titles for everyone, from what is published alone: for somebody who sends nothing."""

import numpy as np

from midpoint.user.agent.standing import Standing

DAMPING = 25
"""Ratings at the mean of all that each title is given besides its own: few ratings say little."""


def best_for_everyone(standing: Standing) -> list[str]:
    """Return the items, best first, by their mean over all categories, or by how many rate them.

    score_j = (n_j m_j + 25 m) / (n_j + 25): m_j is the mean of the item's disclosed levels over the
    categories, n_j how many people rated it in training, and m the mean of all m_j. Where a scheme
    discloses no levels, the most rated come first. Ties go by how many rated them, then by item.
    """
    disclosure = standing.accepted.disclosure
    n = np.array([standing.popularity[item] for item in disclosure.items], np.float64)
    score = n
    if disclosure.levels is not None and disclosure.scale.levels is not None:
        points = np.array(disclosure.scale.levels, np.float64)
        mean = (np.array(disclosure.levels, np.float64) @ points).mean(axis=1)
        score = (n * mean + DAMPING * mean.mean()) / (n + DAMPING)
    order = np.lexsort((np.arange(len(n)), -n, -score))
    return [disclosure.items[j] for j in order]
