"""Alternating least squares, with the regularization given or learned from the data.

Both sides have the same form: user i is (b_i, x_i), item j is (m_j, v_j), and

    y_ij = m_j + b_i + <x_i, v_j> + noise.

Given the items, each user is a ridge regression of y_ij - m_j on (1, v_j); given the users, each
item is one of y_ij - b_i on (1, x_i).

With a number as regularization every rating adds it to the ridge (weighted regularization). When
it is learned, both sides have normal priors whose mean and covariance are estimated along the way,
and a rating adds to the ridge what is uncertain about the vector it is regressed on: mean-field
variational Bayes, in which each posterior covariance stands as a multiple of the identity when the
other side looks at it. An item few people rated then weighs little, and nothing is left to tune.

Ratings may be noisier than others by known variances, as reports are: see `report_noise`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.report_noise import Pairs, ReportNoise
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.ridge import posterior_rows, solve_rows

Floats = NDArray[np.float32]
Regularization = float | Literal["learned"]

WARM_UP: Final = 1
"""Iterations of weighted regularization before priors are learned from what they found."""
WARM_UP_RIDGE: Final = 0.05
"""Regularization of the warm-up, in standard deviations of the ratings."""
SAMPLE: Final = 50_000
"""Ratings from which the noise variance is estimated after each iteration."""
SMALLEST: Final = 1e-9
"""Keeps a variance positive where the data has none."""


class Observations(NamedTuple):
    """Ratings in the order of their users, and what is known of the users; n ratings."""

    user: NDArray[np.int32]
    """Users, ascending. Shape (n,)."""
    item: NDArray[np.int32]
    """Items. Shape (n,)."""
    value: Floats
    """What is to be explained. Shape (n,)."""
    user_offsets: NDArray[np.int64]
    """Where each user's ratings begin. Shape (users + 1,)."""
    item_offsets: NDArray[np.int64]
    """Where each item's begin in `item_order`. Shape (items + 1,)."""
    item_order: NDArray[np.int64]
    """The ratings by item. Shape (n,)."""
    known: Floats
    """Known entries of the users' profiles, whose item entries are fitted (Eq. 5). (users, q)."""
    grouped: tuple[NDArray[np.int32], Floats] | None = None
    """Users and values in the order of `item_order`, where they are on disk. Shapes (n,)."""
    report_noise: ReportNoise | None = None
    """What coins added to ratings, where some are reports; None where all are raw."""

    def by_item(self) -> tuple[NDArray[np.int32], Floats]:
        """Return users and values item by item. Shapes (n,)."""
        if self.grouped is not None:
            return self.grouped
        return self.user[self.item_order], self.value[self.item_order]


@dataclass
class Side:
    """Users or items during a fit; R rows of D entries: level, vector and, of items, Eq. 5's."""

    profile: Floats
    """The rows. Shape (R, D)."""
    variance: Floats
    """Posterior variance of the level, and mean one of the vector's entries. Shape (R, 2)."""
    mean: NDArray[np.float64]
    """Prior mean. Shape (D,)."""
    covariance: NDArray[np.float64]
    """Prior covariance. Shape (D, D)."""

    @classmethod
    def start(cls, profile: Floats) -> Self:
        """Start without uncertainty; the first fit replaces the prior."""
        d = profile.shape[1]
        return cls(profile, np.zeros((len(profile), 2), np.float32), np.zeros(d), np.eye(d))

    def learn_prior(self, rated: NDArray[np.bool_], spread: NDArray[np.float64] | float) -> None:
        """Take mean and covariance of the rated rows; `spread` is what uncertainty adds."""
        rows = self.profile if rated.all() else self.profile[rated]
        seen = rows.astype(np.float64)
        self.mean = np.full(len(seen), 1 / len(seen)) @ seen  # one pass, unlike a mean by axis
        seen -= self.mean
        self.covariance = seen.T @ seen / len(seen) + spread  # half the work: it is symmetric
        self.covariance += (
            SMALLEST * max(np.trace(self.covariance), SMALLEST) * np.eye(seen.shape[1])
        )


class Factors(NamedTuple):
    """Result of a fit."""

    users: Side
    """The users' levels and vectors, and their prior."""
    items: Side
    """The items' levels and vectors, and their prior."""
    noise_variance: float
    """Variance of a rating around its prediction."""

    def mean_square(self, seen: Observations) -> float:
        """Return the mean squared error on these ratings."""
        value = _unexplained(seen, self.items)
        total = expected_squares(
            seen.user,
            seen.item,
            value,
            self.users.profile,
            self.items.profile,
            np.zeros_like(self.users.variance),
            np.zeros_like(self.items.variance),
        )
        return float(total / max(len(value), 1))


def alternate(
    seen: Observations,
    *,
    dimension: int,
    iterations: int,
    regularization: Regularization,
    seed: int,
    threads: int | None = None,
    after_iteration: Callable[[int, Factors], bool] | None = None,
) -> Factors:
    """Fit users and items to ratings of unit variance.

    Args:
        seen: The ratings.
        dimension: Length d of x and v.
        iterations: How often both sides are fitted; the users once more at the end.
        regularization: A number, or "learned".
        seed: Draws the items' starting vectors.
        threads: All usable cores unless given; the result does not depend on it.
        after_iteration: Sees the state after each iteration, and ends the fit by returning True.
    """
    d = 1 + dimension
    start = np.zeros((len(seen.item_offsets) - 1, d + seen.known.shape[1]), np.float32)
    start[:, 1:d] = np.random.default_rng(seed).normal(0, 0.3, (len(start), dimension))
    items = Side.start(start)
    users = Side.start(np.zeros((len(seen.user_offsets) - 1, d), np.float32))
    by_item = seen.by_item()
    pairs_by_user, pairs_by_item = _pairs(seen)
    noise = 1.0
    for k in range(iterations):
        learned = regularization == "learned" and k >= WARM_UP
        ridge = None if learned else _ridge(regularization)
        fit = _Fit(ridge, dimension, noise, threads, seen.report_noise)
        by_user = seen.item, _unexplained(seen, items)
        fit(users, seen.user_offsets, *by_user, items.profile[:, :d], items, pairs_by_user)
        known = np.hstack([users.profile, seen.known])
        fit(items, seen.item_offsets, *by_item, known, users, pairs_by_item)
        noise = _noise(seen, users, items, noise)
        if after_iteration and after_iteration(k, Factors(users, items, noise)):
            break
    by_user = seen.item, _unexplained(seen, items)
    fit(users, seen.user_offsets, *by_user, items.profile[:, :d], items, pairs_by_user)
    return Factors(users, items, _noise(seen, users, items, noise))


def _pairs(seen: Observations) -> tuple[Pairs | None, Pairs | None]:
    """Return the items, and the users, in the classes of noise in which ratings need them."""
    if seen.report_noise is None:
        return None, None
    by_item = seen.report_noise.pairs(seen.user[seen.item_order], seen.item_order)
    return seen.report_noise.pairs(seen.item), by_item


def _ridge(regularization: Regularization) -> float:
    return WARM_UP_RIDGE if regularization == "learned" else float(regularization)


class _Fit(NamedTuple):
    """One way to fit a side given the other."""

    ridge: float | None
    """What each rating adds to the ridge; None where priors are learned instead."""
    dimension: int
    noise: float
    threads: int | None
    report_noise: ReportNoise | None = None

    def __call__(
        self,
        side: Side,
        offsets: NDArray[np.int64],
        index: NDArray[np.int32],
        value: Floats,
        profile: Floats,
        other: Side,
        pairs: Pairs | None = None,
    ) -> None:
        """Fit `side` to the ratings, given the other side's level, vector and known entries."""
        level, design = profile[:, 0], profile.copy()
        design[:, 0] = 1
        variance = other.variance[:, 1]
        if pairs is not None and self.report_noise is not None:
            weight = self.report_noise.weights(self.noise).astype(np.float32)
            root, kind = np.sqrt(weight), pairs.kind
            index, value = pairs.pair_of, value * root[pairs.rating_kind]
            level = level[pairs.vector] * root[kind]
            design = design[pairs.vector] * root[kind, None]
            variance = variance[pairs.vector] * weight[kind]
        rated = np.diff(offsets) > 0
        if self.ridge is not None:
            side.profile = solve_rows(
                offsets, index, value, design,
                level=level, ridge_per_rating=self.ridge, threads=self.threads,
            )  # fmt: skip
            side.learn_prior(rated, 0.0)
            return
        rows = posterior_rows(
            offsets, index, value, design,
            level=level,
            vector_variance=variance,
            latent=(1, 1 + self.dimension),
            prior=(side.mean, side.covariance),
            noise=self.noise,
            threads=self.threads,
        )  # fmt: skip
        side.profile, side.variance = rows.profile, rows.variance
        side.learn_prior(rated, rows.covariance)


def _unexplained(seen: Observations, items: Side) -> Floats:
    """Return what the known entries of the users leave open: y - sum_q known_iq w_jq. (n,)."""
    q = seen.known.shape[1]
    if q == 0:
        return seen.value  # not a copy: it may be larger than memory
    explained: Floats = (seen.known[seen.user] * items.profile[seen.item, -q:]).sum(axis=1)
    return seen.value - explained


def _noise(seen: Observations, users: Side, items: Side, before: float) -> float:
    """Estimate the noise variance from about `SAMPLE` evenly spaced ratings.

    Of a rating e = n + c, where coins added c of known variance, n is as large as its expectation
    given e: E n^2 = w^2 e^2 + w Var c, with w by the variance before. Of raw ratings w is 1.
    """
    step = max(1, len(seen.value) // SAMPLE)
    some = seen._replace(
        user=seen.user[::step], item=seen.item[::step], value=seen.value[::step].copy()
    )
    rest = _unexplained(some, items)
    sides = users.profile, items.profile, users.variance, items.variance
    if seen.report_noise is None:
        total = expected_squares(some.user, some.item, rest, *sides)
        return max(float(total / len(some.value)), SMALLEST)
    kinds, total = seen.report_noise.kind[::step], 0.0
    for kind, w in enumerate(seen.report_noise.weights(before)):
        of = kinds == kind
        total += w**2 * expected_squares(some.user[of], some.item[of], rest[of], *sides)
        total += w * seen.report_noise.variance[kind] * int(of.sum())
    return max(float(total / len(some.value)), SMALLEST)


@compiled
def expected_squares(
    user: NDArray[np.int32],
    item: NDArray[np.int32],
    value: Floats,
    x: Floats,
    v: Floats,
    x_variance: Floats,
    v_variance: Floats,
) -> float:
    """Return the sum over ratings of E (y - m - b - <x, v>)^2 under both posteriors."""
    x_square, v_square = _squared_lengths(x, x.shape[1]), _squared_lengths(v, x.shape[1])
    total = 0.0
    for t in range(len(user)):
        i, j = user[t], item[t]
        error = value[t] - x[i, 0] - v[j, 0]
        for a in range(1, x.shape[1]):
            error -= x[i, a] * v[j, a]
        total += error * error
        total += x_variance[i, 0] + v_variance[j, 0] + v_variance[j, 1] * x_square[i]
        total += x_variance[i, 1] * (v_square[j] + (x.shape[1] - 1) * v_variance[j, 1])
    return total


@compiled
def _squared_lengths(rows: Floats, end: int) -> Floats:
    """Return the squared length of each row's vector, which ends before coordinate `end`."""
    squares = np.zeros(len(rows), np.float32)
    for i in range(len(rows)):
        for a in range(1, end):
            squares[i] += rows[i, a] ** 2
    return squares
