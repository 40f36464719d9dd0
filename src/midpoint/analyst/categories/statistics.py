"""What the analyst counts of each category of users, item by item."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from midpoint.data import Feature, Ratings, Scale

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class CategoryStatistics:
    """Sufficient statistics of ratings given by users of known category; M items, K categories."""

    users: NDArray[np.int64]
    """Users in each category. Shape (K,)."""
    count: Counts
    """Ratings of each item by each category. Shape (M, K)."""
    total: NDArray[np.float64]
    """Their sum. Shape (M, K)."""
    square: NDArray[np.float64]
    """The sum of their squares. Shape (M, K)."""
    level_count: Counts | None
    """On a discrete scale, how many of them are at each level. Shape (M, K, L)."""
    level_values: NDArray[np.float64] | None
    """On a discrete scale, the levels. Shape (L,)."""
    crossed: tuple[tuple[int, ...], ...]
    """For each crossed feature, which of its categories each category has."""
    factors: NDArray[np.float64] | None = None
    """Factors of the items that predict who rates them, if any do (`item_factors`). (M, k + 1)."""
    disagreement: NDArray[np.float64] | None = None
    """With them: half the difference of log p by two halves of the people. Shape (M, K)."""

    def __repr__(self) -> str:
        """Say what was counted, in one line."""
        items, K = self.count.shape
        return (
            f"<CategoryStatistics: {self.count.sum()} ratings of {items} items by"
            f" {self.users.sum()} users of {K} categories>"
        )

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean rating of each item by each category, NaN where there is none. Shape (M, K)."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.total / self.count)

    @property
    def rated_share(self) -> NDArray[np.float64]:
        """Share of all users who rated each item. Shape (M,)."""
        return np.asarray(self.count.sum(axis=1) / self.users.sum(), np.float64)

    @property
    def within_variance(self) -> float:
        """Variance of a rating around the mean of its item and category, pooled over all cells.

        Where no cell has two ratings it is the variance of all ratings, which is not less.
        """
        count, total = self.count, self.total
        if not (count > 1).any():
            count, total = count.sum(keepdims=True), total.sum(keepdims=True)
        explained = (total**2 / np.maximum(count, 1)).sum()
        freedom = float(np.maximum(count - 1, 0).sum())
        return float(max(self.square.sum() - explained, 0.0) / max(freedom, 1))


@dataclass(frozen=True, eq=False)
class Cells:
    """Ratings counted in cells of item and category, or of item, category and value; C cells."""

    item: NDArray[np.integer]
    """Item of each cell. Shape (C,)."""
    category: NDArray[np.integer]
    """Category of its users. Shape (C,)."""
    count: NDArray[np.integer]
    """Ratings in it. Shape (C,)."""
    total: NDArray[np.float64]
    """Their sum. Shape (C,)."""
    square: NDArray[np.float64]
    """The sum of their squares. Shape (C,)."""
    value: NDArray[np.float64] | None
    """What all of them are, on a discrete scale. Shape (C,)."""


def assemble(
    cells: Cells, *, users: NDArray[np.int64], items: int, feature: Feature, scale: Scale
) -> CategoryStatistics:
    """Put cells that some engine counted into the tables that `tally` makes of ratings in memory.

    Args:
        cells: The counts, in any order.
        users: Users in each category. Shape (K,).
        items: How many items there are.
        feature: The private feature; its users do not matter.
        scale: What a rating can be.
    """
    size = (items, len(feature.categories))
    cell = cells.item.astype(np.int64) * size[1] + cells.category
    level_count = level_values = None
    if scale.levels is not None and cells.value is not None:
        level_values = np.array(scale.levels)
        level_count = np.zeros((*size, len(level_values)), np.int64)
        flat = cell * len(level_values) + scale.level_of(cells.value)
        np.add.at(level_count.reshape(-1), flat, cells.count)

    def summed(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.bincount(cell, weights, size[0] * size[1])
        return sums.astype(np.float64).reshape(size)

    return CategoryStatistics(
        users=users,
        count=np.rint(summed(cells.count.astype(np.float64))).astype(np.int64),
        total=summed(cells.total),
        square=summed(cells.square),
        level_count=level_count,
        level_values=level_values,
        crossed=feature.crossed,
    )


def tally(ratings: Ratings, feature: Feature) -> CategoryStatistics:
    """Count the ratings of users whose category is known; refuse a feature of one class."""
    feature.require_classes()
    size = (ratings.n_items, len(feature.categories))
    category = feature.codes[ratings.user]
    known = category >= 0
    value = ratings.value[known].astype(np.float64)
    cell = ratings.item[known].astype(np.int64) * size[1] + category[known]
    level_count = level_values = None
    if ratings.scale.levels is not None:
        level_values = np.array(ratings.scale.levels)
        flat = cell * len(level_values) + ratings.scale.level_of(value)
        level_count = np.bincount(flat, minlength=size[0] * size[1] * len(level_values))
        level_count = level_count.reshape(*size, len(level_values))

    def summed(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.bincount(cell, weights, size[0] * size[1])
        return sums.astype(np.float64).reshape(size)

    return CategoryStatistics(
        users=feature.counts,
        count=np.bincount(cell, minlength=size[0] * size[1]).reshape(size),
        total=summed(value),
        square=summed(value**2),
        level_count=level_count,
        level_values=level_values,
        crossed=feature.crossed,
    )
