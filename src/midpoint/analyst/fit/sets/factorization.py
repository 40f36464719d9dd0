"""Factorizing sets of items, by alternating least squares with confidence.

Hu, Koren and Volinsky (2008), in the form of Rendle et al. (2022): an item of a person's set is to
have the score 1, and counts w; that of every item is to be 0, and counts 1, since an item that is
not in her set may be unknown to her,

    w sum_{ij in sets} (1 - <x_i, v_j>)^2 + sum_ij <x_i, v_j>^2
        + l sum_i |x_i|^2 + sum_j (l + q n_j) |v_j|^2,

where n_j people have item j: without q, popular items would hardly be regularized. Each side is a
ridge regression given the other. With G = sum_j v_j v_j' over all items, which is the same for
everybody, the normal equations of person i over the items R of her set are

    (G + l I + w sum_R v_j v_j') x_i = w sum_R v_j,

those of ratings 1 under the prior precision G + l I, each with noise variance 1/w. So the compiled
regressions of graded ratings solve them; in many dimensions a few conjugate gradient steps from the
last solution are faster and as good. The score of an item is <x, v_j>, about 1 for what she surely
has.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels.conjugate_gradients import improve_rows
from midpoint.analyst.kernels.ridge import solve_rows
from midpoint.data import Ratings

Float = NDArray[np.float64]
Floats = NDArray[np.float32]
EXACT_UP_TO: Final = 40
"""Dimensions up to which Cholesky's method is as fast as conjugate gradients."""


class Setting(NamedTuple):
    """How sets are factorized."""

    weight: float
    """w: how much more an item of a set counts than another."""
    ridge: float
    """l, as a share of the items that a person has on average."""
    popular: float
    """q: what each person who has an item adds to its ridge."""
    dimension: int
    """Latent dimensions."""


class Incidence(NamedTuple):
    """Which person has which item, in both orders; in memory or on disk."""

    user_offsets: NDArray[np.int64]
    """Where the items of each person stand. Shape (users + 1,)."""
    item: NDArray[np.int32]
    """The items, person after person. Shape (entries,)."""
    item_offsets: NDArray[np.int64]
    """Where the people of each item stand. Shape (items + 1,)."""
    user: NDArray[np.int32]
    """The people, item after item. Shape (entries,)."""
    ones: Floats
    """1 for every entry. Shape (entries,)."""
    presence: tuple[Floats, Floats] | None = None
    """Number of entries that each stands for, in both orders: reports stand for withheld entries as
    well. Shapes (entries,)."""

    @classmethod
    def of(cls, ratings: Ratings, presence: Float | None = None) -> "Incidence":
        """Take the sets of people in memory."""
        order, ones = ratings.by_item.order, np.ones(len(ratings), np.float32)
        columns = ratings.item, ratings.by_item.offsets, ratings.user[order], ones
        if presence is None:
            return cls(ratings.user_offsets, *columns)
        stands = presence.astype(np.float32)
        return cls(ratings.user_offsets, *columns, (stands, stands[order]))

    def entries(self) -> float:
        """Count the entries, and those that were withheld."""
        return len(self.item) if self.presence is None else float(self.presence[0].sum())


class Factored(NamedTuple):
    """Both sides of a fit."""

    users: Floats
    """x_i. Shape (users, d)."""
    items: Floats
    """v_j. Shape (items, d)."""
    ridge: float
    """l."""


def factorize(
    sets: Incidence,
    setting: Setting,
    iterations: int,
    seed: int,
    threads: int | None,
    progress: Callable[[int, int], None] | None = None,
) -> Factored:
    """Alternate between people and items; see above."""
    d, w = setting.dimension, setting.weight
    n_users, n_items = len(sets.user_offsets) - 1, len(sets.item_offsets) - 1
    ridge = setting.ridge * sets.entries() / max(n_users, 1)
    of_user, of_item = sets.presence or (None, None)
    start = np.random.default_rng(seed).normal(0, d**-0.5, (n_items, d))
    items, users = start.astype(np.float32), np.zeros((n_users, d), np.float32)

    def people() -> Floats:
        rows = sets.user_offsets, sets.item, sets.ones, of_user, items, users
        return _solve(*rows, prior_precision(items, ridge) / w, 0.0, threads)

    users = people()
    for k in range(iterations):
        rows = sets.item_offsets, sets.user, sets.ones, of_item, users, items
        items = _solve(*rows, prior_precision(users, ridge) / w, setting.popular / w, threads)
        users = people()
        if progress:
            progress(k + 1, iterations)
    return Factored(users, items, ridge)


def _solve(
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    ones: Floats,
    presence: Floats | None,
    vectors: Floats,
    last: Floats,
    ridge: Float,
    popular: float,
    threads: int | None,
) -> Floats:
    """Solve one side: exactly, or nearly from the last solution where that is faster."""
    if presence is None and vectors.shape[1] <= EXACT_UP_TO:
        return solve_rows(
            offsets, index, ones, vectors, ridge=ridge, ridge_per_rating=popular, threads=threads
        )
    weight = ones if presence is None else presence
    return improve_rows(
        offsets, index, weight, vectors, last, ridge=ridge, ridge_per_entry=popular, threads=threads
    )


def prior_precision(vectors: Floats, ridge: float) -> Float:
    """Return G + l I: what all items say, or all people, who are not in a set. Shape (d, d)."""
    V = vectors.astype(np.float64)
    return np.asarray(V.T @ V + ridge * np.eye(V.shape[1]))
