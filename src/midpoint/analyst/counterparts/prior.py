"""How positions spread in each category: their mean and covariance, by expectation-maximization.

A person's position is never known, only estimated from her ratings; the prior is that of the
positions themselves. Each round estimates every position under the prior so far (its mode, and the
inverse of the curvature there), then takes the mean and covariance of the estimates, uncertainty
included.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts.people import Block, People, in_parallel
from midpoint.analyst.fit.positions import Float
from midpoint.analyst.kernels.compilation import compiled
from midpoint.analyst.kernels.logistic import LogisticSums
from midpoint.wire.positions import LONGEST_STEP

ROUNDS: Final = 6
"""Rounds of expectation and maximization."""
WIDEST: Final = 48.0
"""Most variance of positions in any direction: devices refuse more than 64."""


class Model(NamedTuple):
    """What is known of M items; K categories, d selection factors, r taste factors."""

    rate: Float
    """Logit of a category's probability to rate the item, at t = 0. Shape (M, K)."""
    selection: Float
    """What each selection factor adds to it. Shape (M, d)."""
    base: Float
    """What a category rates it at x = 0. Shape (M, K)."""
    taste: Float
    """What each taste factor adds to it. Shape (M, r)."""
    noise: float
    """Variance of a rating given x."""


class Prior(NamedTuple):
    """Positions in each category: what people rate, then how; D dimensions."""

    mean: Float
    """Shape (K, D)."""
    covariance: Float
    """Shape (K, D, D)."""


class Located(NamedTuple):
    """Estimated positions of N people."""

    position: Float
    """The most likely position of each person. Shape (N, D)."""
    doubt: Float
    """The sum of what is left open of it, by category. Shape (K, D, D)."""
    away: Float
    """A draw of how far the position may be from it, where asked for. Shape (N, D)."""


def fit_prior(
    people: People, model: Model, prior: Prior, threads: int | None, done: Callable[[], None]
) -> Prior:
    """Learn the prior of positions, starting from a first one.

    A category's mean is drawn to that of all people with the weight of one person, its covariance
    to the mean of all categories' with the weight of D + 1, so that a category of few people has
    a proper prior too.

    Args:
        people: Their ratings.
        model: What is known of the items.
        prior: The prior to start with.
        threads: All usable cores unless given.
        done: Is called after each of `ROUNDS` rounds.
    """
    position = prior.mean[people.category]
    for round_ in range(ROUNDS):
        located = locate(people, model, prior, position, 1 if round_ else 3, threads)
        position, prior = located.position, prior_of(people, located)
        done()
    return prior


def prior_of(people: People, located: Located) -> Prior:
    """Return the means and covariances of estimated positions, uncertainty included."""
    size, bounds = people.sizes, people.bounds
    D = located.position.shape[1]
    centre = located.position.mean(axis=0)
    total = np.add.reduceat(np.vstack([located.position, np.zeros(D)]), bounds[:-1])
    total[size == 0] = 0
    mean = (total + centre) / (size + 1)[:, None]
    away = located.position - mean[people.category]
    spread = np.stack([away[a:b].T @ away[a:b] for a, b in pairwise(bounds)])
    square = spread + located.doubt
    pooled = square.sum(axis=0) / len(people)
    covariance = (square + (D + 1) * pooled) / (size + D + 1)[:, None, None]
    values, vectors = np.linalg.eigh(covariance)
    scaled = vectors * np.minimum(values, WIDEST)[:, None]
    return Prior(mean, scaled @ np.swapaxes(vectors, 1, 2))


def locate(
    people: People,
    model: Model,
    prior: Prior,
    start: Float,
    steps: int,
    threads: int | None,
    draws: np.random.Generator | None = None,
) -> Located:
    """Find the most likely position of everyone, by a number of Newton steps from `start`.

    With P = covariance^-1, the slope at z = (t, x) over her rated items R and all items is

        P (mean - z) + [Σ_R s - Σ p s ; Σ_R g (value - base - <g, x>) / noise]

    and the curvature P + blockdiag(Σ p (1 - p) s s', Σ_R g g' / noise), where s are the selection
    factors of an item and g its taste factors.
    """
    precision = np.linalg.inv(prior.covariance)
    d, sums = model.selection.shape[1], LogisticSums(model.selection)
    noise = np.zeros_like(start) if draws is None else draws.normal(size=start.shape)

    def find(block: Block) -> tuple[Float, Float, Float]:
        k, begin, end = block
        given, pull, gram = _evidence(people, model, block)
        z = start[begin:end].copy()
        n, D = z.shape
        curve = np.empty((n, D, D))
        for _ in range(steps):
            slope = (prior.mean[k] - z) @ precision[k]
            curve[:] = precision[k]
            if d:
                first, second = sums(z[:, :d], model.rate[:, k])
                slope[:, :d] += given - first
                curve[:, :d, :d] += second
            slope[:, d:] += pull - np.einsum("nde,ne->nd", gram, z[:, d:])
            curve[:, d:, d:] += gram
            open_ = np.linalg.inv(curve)
            step = (open_ @ slope[..., None])[..., 0]
            z += np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        away = noise[begin:end]
        if draws is not None:
            away = np.einsum("nde,ne->nd", np.linalg.cholesky(open_), away)
        return z, open_.sum(axis=0), away

    blocks = people.blocks()
    positions, doubts, aways = zip(*in_parallel(find, blocks, threads), strict=True)
    doubt = np.zeros_like(precision)
    for block, share in zip(blocks, doubts, strict=True):
        doubt[block.category] += share
    return Located(np.concatenate(positions), doubt, np.concatenate(aways))


def _evidence(people: People, model: Model, block: Block) -> tuple[Float, Float, Float]:
    """Return Σ_R s, Σ_R g (value - base) / noise and Σ_R g g' / noise; see `locate`."""
    k, begin, end = block
    n, d, r = end - begin, model.selection.shape[1], model.taste.shape[1]
    given, pull, gram = np.zeros((n, d)), np.zeros((n, r)), np.zeros((n, r, r))
    base = np.ascontiguousarray(model.base[:, k])
    offsets = people.offsets[begin : end + 1]
    traits = base, model.selection, model.taste
    _add_up(offsets, people.item, people.value, *traits, given, pull, gram)
    return given, pull / model.noise, gram / model.noise


@compiled
def _add_up(
    offsets: NDArray[np.int64],
    item: NDArray[np.int32],
    value: Float,
    base: Float,
    selection: Float,
    taste: Float,
    given: Float,
    pull: Float,
    gram: Float,
) -> None:
    for i in range(len(offsets) - 1):
        for at in range(offsets[i], offsets[i + 1]):
            j = item[at]
            rest = value[at] - base[j]
            for a in range(selection.shape[1]):
                given[i, a] += selection[j, a]
            for a in range(taste.shape[1]):
                pull[i, a] += rest * taste[j, a]
                for b in range(taste.shape[1]):
                    gram[i, a, b] += taste[j, a] * taste[j, b]
