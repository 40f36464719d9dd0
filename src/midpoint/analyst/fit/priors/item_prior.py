"""The prior of items: those that the same people rate are alike, whatever the ratings.

So the prior of an item's level and vector is not the same for all items. Its mean is predicted from
the item's set factors f_j, the leading right singular vectors of who rated what
(`categories.item_factors`), and from how many people rated it:

    (m_j, v_j) = mean + B' f_j + rest,     rest ~ N(0, C).

B is a ridge regression of what the fit found so far, in every iteration, and C is what it leaves.
It matters most where an item has few ratings, as where devices reveal a share of them.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.analyst.categories.item_factors import COMPLETE, leading_factors

Float = NDArray[np.float64]

FACTORS: Final = 50
"""Set factors, at most; twice as many predict no better."""
FEWEST: Final = 8
"""People and items for each factor, at least."""
RIDGE: Final = 50.0
"""Items that the prior of B is worth."""


def set_factors(sets: sparse.csr_matrix, leading: Float | None = None) -> Float | None:
    """Return the leading factors of who rated what, popularity first; None where sets say nothing.

    They say nothing where nearly everything is rated, and of very few people or items.

    Args:
        sets: Ones where a person rated an item. Shape (N, M).
        leading: The leading factors of these sets, where they are known. Shape (M, some).

    Returns:
        The factors, shape (M, k).
    """
    people, items = sets.shape
    count = min(FACTORS, people // FEWEST, items // FEWEST)
    if count < 1 or sets.nnz > COMPLETE * people * items:
        return None
    if leading is not None and leading.shape[1] >= count:
        return leading[:, :count]
    return leading_factors(sets, count)


def sampled_predictors(sets: sparse.csr_matrix) -> Float | None:
    """Return what predicts items, from who rated what of some people. Shape (M, k + 1)."""
    return item_predictors(set_factors(sets), np.diff(sets.tocsc().indptr))


def item_predictors(factors: Float | None, count: NDArray[np.integer]) -> Float | None:
    """Return what predicts items: set factors of length 1, and how many rated each, on a log scale.

    Columns have mean 0 and deviation 1 over the rated items; others are like the average item.

    Args:
        factors: The set factors. Shape (M, k).
        count: How many people rated each item. Shape (M,).
    """
    if factors is None:
        return None
    length = np.linalg.norm(factors, axis=1, keepdims=True)
    both = np.column_stack([np.log1p(count), factors / np.maximum(length, 1e-12)])
    rated = count > 0
    spread = both[rated].std(axis=0)
    scaled = (both - both[rated].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(scaled * rated[:, None])


def predicted(predictors: Float, beyond: Float) -> Float:
    """Return B' f_j: what of the items' distance from their mean factors predict. Shape (M, D).

    Args:
        predictors: f; rows of 0 for items that nobody rated. Shape (M, k).
        beyond: Levels and vectors without their mean. Shape (M, D).
    """
    gram = predictors.T @ predictors
    gram.flat[:: len(gram) + 1] += RIDGE
    return np.asarray(predictors @ np.linalg.solve(gram, predictors.T @ beyond))
