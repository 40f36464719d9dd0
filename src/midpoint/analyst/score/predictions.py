"""Ratings predicted from profiles, for many people at once: scores and their deviations."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.wire import to_fixed

Float = NDArray[np.float64]
Integers = NDArray[np.int64]
PRODUCTS = 2**23
"""Numbers in the table of v_j v_j^T, at most; deviations of more items are worked out without."""


class Predictor:
    """Item profiles in the order of messages and in double precision, ready for many people.

    Args:
        profiles: The item profiles.
    """

    vectors: Float
    """v_j. Shape (M, D)."""
    centre: Float
    """What everybody's rating of an item is around. Shape (M,)."""
    noise_variance: float
    """sigma^2 of a rating."""

    def __init__(self, profiles: ItemProfiles) -> None:
        self.vectors = profiles.vectors[profiles.order].astype(np.float64)
        self.centre = profiles.centre[profiles.order]
        self.noise_variance = profiles.noise_variance

    def scores(self, mean: Float) -> Integers:
        """Return centre_j + <v_j, x-hat> of all items. Shapes (people, D), (people, M)."""
        return to_fixed(self.centre + mean @ self.vectors.T)

    def deviations(self, covariance: Float) -> Integers:
        """Return sqrt(sigma^2 + v_j^T S v_j) of all items. Shapes (people, D, D), (people, M)."""
        if self._products is None:
            spread = np.empty((len(covariance), len(self.vectors)))
            for n, S in enumerate(covariance):
                np.einsum("md,md->m", self.vectors @ S, self.vectors, out=spread[n])
        else:
            spread = covariance[:, *self._triangle] @ self._products
        return to_fixed(np.sqrt(self.noise_variance + spread))

    def deviations_at(self, index: NDArray[np.intp], covariance: Float) -> Integers:
        """Return the same of some items, for one person. Shapes (n,), (D, D), (n,)."""
        V = self.vectors[index]
        spread = ((V @ covariance) * V).sum(axis=1)
        return to_fixed(np.sqrt(self.noise_variance + spread))

    @cached_property
    def _triangle(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.tril_indices(self.vectors.shape[1])

    @cached_property
    def _products(self) -> Float | None:
        """v_ja v_jb of every item, twice off the diagonal. Shape (D (D + 1) / 2, M)."""
        a, b = self._triangle
        if len(a) * len(self.vectors) > PRODUCTS:
            return None
        both = np.where(a == b, 1.0, 2.0)
        return np.ascontiguousarray((self.vectors[:, a] * self.vectors[:, b] * both).T)
