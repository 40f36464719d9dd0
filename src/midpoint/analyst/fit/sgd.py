"""Stochastic gradient descent, as in the paper's experiments (Sec. 7.1), beside `als`.

With means it fits the same form as `als`; without, factors alone, as Eq. 1 has them.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.als import Factors, Floats, Observations, Side
from midpoint.analyst.kernels.compilation import compiled

FIRST_STEP: Final = 0.02
"""Learning rate of the first pass over the ratings."""
DECAY: Final = 0.9
"""What the learning rate is multiplied with after each pass."""


def descend(
    seen: Observations,
    *,
    dimension: int,
    iterations: int,
    regularization: float,
    seed: int,
    means: bool = True,
    after_iteration: Callable[[int, Factors], bool] | None = None,
) -> Factors:
    """Fit users and items to ratings of unit variance, one rating after the other.

    Every pass takes the ratings in a new order, drawn from the seed; one thread does it all, so
    that the same seed gives the same result. Without means, levels stay 0, and all profiles start
    where everybody gives everything the mean rating.
    """
    rng = np.random.default_rng(seed)
    sizes = len(seen.user_offsets) - 1, len(seen.item_offsets) - 1
    level = 0.0 if means else float(np.sqrt(max(seen.value.mean(), 0.0) / dimension))
    users, items = (Side.start(_start(rng, size, dimension, level)) for size in sizes)
    noise = 1.0
    for k in range(iterations):
        order = rng.permutation(len(seen.value)).astype(np.int32)
        step = FIRST_STEP * DECAY**k
        squares = _pass(
            order, seen.user, seen.item, seen.value, users.profile, items.profile,
            np.float32(step), np.float32(step if means else 0), np.float32(regularization),
        )  # fmt: skip
        noise = float(squares / len(seen.value))
        users.learn_prior(np.diff(seen.user_offsets) > 0, 0.0)
        items.learn_prior(np.diff(seen.item_offsets) > 0, 0.0)
        if after_iteration and after_iteration(k, Factors(users, items, noise)):
            break
    return Factors(users, items, noise)


def _start(rng: np.random.Generator, rows: int, dimension: int, level: float) -> Floats:
    profile = rng.normal(level, 0.1, (rows, dimension + 1)).astype(np.float32)
    profile[:, 0] = 0
    return profile


@compiled
def _pass(
    order: NDArray[np.int32],
    user: NDArray[np.int32],
    item: NDArray[np.int32],
    value: Floats,
    x: Floats,
    v: Floats,
    step: np.float32,
    level_step: np.float32,
    ridge: np.float32,
) -> float:
    """Take one step for each rating; return the sum of squared errors met on the way."""
    squares = 0.0
    for t in order:
        i, j = user[t], item[t]
        error = value[t] - x[i, 0] - v[j, 0]
        for a in range(1, x.shape[1]):
            error -= x[i, a] * v[j, a]
        squares += error * error
        x[i, 0] += level_step * (error - ridge * x[i, 0])
        v[j, 0] += level_step * (error - ridge * v[j, 0])
        for a in range(1, x.shape[1]):
            old = x[i, a]
            x[i, a] += step * (error * v[j, a] - ridge * old)
            v[j, a] += step * (error * old - ridge * v[j, a])
    return squares
