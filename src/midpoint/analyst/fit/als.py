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

from midpoint.analyst.fit.priors.item_prior import predicted
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
ALIKE: Final = np.ones(1)
"""Weights of ratings that all count alike (`expected_squares`)."""


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
    grouped_kind: NDArray[np.integer] | None = None
    """Their classes of report noise in that order, likewise. Shape (n,)."""
    report_noise: ReportNoise | None = None
    """What coins added to ratings, where some are reports; None where all are raw."""
    predictors: NDArray[np.float64] | None = None
    """What predicts items before their values count (`item_prior`). Shape (items, k)."""

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
    """Prior mean, of all rows or of each. Shape (D,) or (R, D)."""
    covariance: NDArray[np.float64]
    """Prior covariance. Shape (D, D)."""
    predictors: NDArray[np.float64] | None = None
    """What predicts the prior mean of each row (`item_prior`), if anything. Shape (R, k)."""

    @classmethod
    def start(cls, profile: Floats, predictors: NDArray[np.float64] | None = None) -> Self:
        """Start without uncertainty; the first fit replaces the prior."""
        d = profile.shape[1]
        unknown = np.zeros((len(profile), 2), np.float32)
        return cls(profile, unknown, np.zeros(d), np.eye(d), predictors)

    def learn_prior(self, rated: NDArray[np.bool_], spread: NDArray[np.float64] | float) -> None:
        """Take mean and covariance of the rated rows; `spread` is what uncertainty adds."""
        self.mean, covariance = moments(self.profile, rated)
        if self.predictors is not None:
            along = predicted(self.predictors, self.profile - self.mean)
            left = (self.profile - along).astype(np.float32)
            centre, covariance = moments(left, rated)
            self.mean = centre + along
        self.covariance = covariance + spread
        self.covariance += (
            SMALLEST * max(np.trace(self.covariance), SMALLEST) * np.eye(len(covariance))
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
            ALIKE,
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
    items = Side.start(start, seen.predictors)
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
    noise = seen.report_noise
    kind = noise.kind[seen.item_order] if seen.grouped_kind is None else seen.grouped_kind
    return noise.pairs(seen.item, noise.kind), noise.pairs(seen.by_item()[0], kind)


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
            index, value = pairs.pair_of, _weighed(value, root, pairs.rating_kind)
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


@compiled
def _weighed(value: Floats, root: Floats, kind: NDArray[np.integer]) -> Floats:
    """Return values times the root of their classes' weights. Shape (n,)."""
    weighed = np.empty_like(value)
    for t in range(len(value)):
        weighed[t] = value[t] * root[kind[t]]
    return weighed


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
        total = expected_squares(some.user, some.item, rest, *sides, ALIKE)
        return max(float(total / len(some.value)), SMALLEST)
    kind, coins = seen.report_noise.kind[::step], seen.report_noise.variance
    weight = seen.report_noise.weights(before)
    total = expected_squares(some.user, some.item, rest, *sides, (weight**2)[kind])
    total += float((weight * coins)[kind].sum())
    return max(float(total / len(some.value)), SMALLEST)


@compiled
def moments(
    rows: Floats, rated: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and covariance of the rated rows. Shapes (D,) and (D, D).

    A matrix library would start threads for so little, which then wait in vain on all cores.
    """
    d = rows.shape[1]
    mean, covariance, centred = np.zeros(d), np.zeros((d, d)), np.empty(d)
    for i in np.flatnonzero(rated):
        mean += rows[i]
    mean /= rated.sum()
    for i in np.flatnonzero(rated):
        centred[:] = rows[i] - mean
        for a in range(d):
            for b in range(a + 1):
                covariance[a, b] += centred[a] * centred[b]
    covariance /= rated.sum()
    return mean, covariance + np.tril(covariance, -1).T


@compiled
def expected_squares(
    user: NDArray[np.int32],
    item: NDArray[np.int32],
    value: Floats,
    x: Floats,
    v: Floats,
    x_variance: Floats,
    v_variance: Floats,
    weight: NDArray[np.float64],
) -> float:
    """Return the sum over ratings of w E (y - m - b - <x, v>)^2 under both posteriors.

    The weights w have shape (n,), or (1,) where all ratings count alike.
    """
    x_square, v_square = _squared_lengths(x, x.shape[1]), _squared_lengths(v, x.shape[1])
    total, last = 0.0, len(weight) - 1
    for t in range(len(user)):
        i, j = user[t], item[t]
        error = value[t] - x[i, 0] - v[j, 0]
        for a in range(1, x.shape[1]):
            error -= x[i, a] * v[j, a]
        square = error * error
        square += x_variance[i, 0] + v_variance[j, 0] + v_variance[j, 1] * x_square[i]
        square += x_variance[i, 1] * (v_square[j] + (x.shape[1] - 1) * v_variance[j, 1])
        total += weight[min(t, last)] * square
    return total


@compiled
def _squared_lengths(rows: Floats, end: int) -> Floats:
    """Return the squared length of each row's vector, which ends before coordinate `end`."""
    squares = np.zeros(len(rows), np.float32)
    for i in range(len(rows)):
        for a in range(1, end):
            squares[i] += rows[i, a] ** 2
    return squares
