"""How often each category rates each item, learned together with the positions of its people.

Rates fitted together with point estimates of people's positions are too far apart, because the
positions absorb a part of the category's effect. Here a rate is chosen so that, over the whole
distribution of positions, its category is expected to rate the item as often as it did.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from midpoint.analyst.counterparts.people import BLOCK, People
from midpoint.analyst.counterparts.prior import FIRST_STEPS, Finder, Model, Prior, prior_of
from midpoint.analyst.counterparts.selection import FARTHEST, FIRST_PULL, apart, pull_of
from midpoint.analyst.fit.positions import Float, rounded
from midpoint.analyst.kernels.compilation import in_parallel
from midpoint.analyst.kernels.positions.logistic import logistic_counts

ROUNDS: Final = 8
FRESH: Final = (0, 1, ROUNDS - 1)
"""Rounds that sum curvatures up again: rates still jump in the second one."""
"""Rounds for the positions, their prior and the rates."""


class Counted(NamedTuple):
    """All ratings of everyone, of which positions are learned from a part."""

    times: Float
    """How often each item was rated, by category. Shape (M, K)."""
    stands_for: Float
    """Number of these that each rating learned from stands for, by category. Shape (K,)."""


def fit_rates(
    people: People,
    model: Model,
    prior: Prior,
    counted: Counted,
    draws: np.random.Generator,
    threads: int | None,
    done: Callable[[], None],
) -> tuple[Model, Prior, Float]:
    """Learn the prior of positions and the items' rates together.

    A rate is such that its category is expected to rate the item as often as it did; the
    expectation is over the positions that are left open, by a pair of opposite draws for each
    person. What is `counted` are all ratings, though people are a sample and their ratings thinned:
    what rates leave out, others could read from the panel. Curvatures are summed
    up again in three of the rounds. Against summing them up in all of them that moves log ratios by
    0.005 on MovieLens 1M, another seed by 0.1.

    Returns:
        The model, the prior, and everyone's position.
    """
    position, pull = prior.mean[people.category], FIRST_PULL
    d = model.selection.shape[1]
    finder = Finder(people, model, threads)
    for round_ in range(ROUNDS):
        steps = 1 if round_ else FIRST_STEPS
        located = finder.locate(model.rate, prior, position, steps, draws, fresh=round_ in FRESH)
        position, prior = located.position, prior_of(people, located)
        centre = position[:, :d].mean(axis=0)
        position[:, :d] -= centre
        prior.mean[:, :d] -= centre
        model = model._replace(rate=model.rate + (model.selection @ centre)[:, None])
        t, away = position[:, :d], located.away[:, :d]
        rate, pull = _rates(people, model, counted, t, away, pull, threads)
        model = model._replace(rate=rate)
        done()
    model = model._replace(rate=rounded(np.clip(model.rate, -FARTHEST, FARTHEST)))
    return model, prior, position


def _rates(
    people: People,
    model: Model,
    counted: Counted,
    t: Float,
    away: Float,
    pull: float,
    threads: int | None,
) -> tuple[Float, float]:
    """Take a Newton step for all rates, drawn together across the categories by `pull`."""
    count, stands_for = counted
    (items, K), bounds = count.shape, people.bounds
    pairs = [np.vstack([(t + away)[a:b], (t - away)[a:b]]) for a, b in pairwise(bounds)]
    columns = [np.hstack([np.ones((len(pair), 1)), pair]) for pair in pairs]

    def expect(part: tuple[int, int]) -> tuple[Float, Float]:
        k, begin = part
        some = slice(begin, begin + BLOCK)
        return logistic_counts(
            columns[k], np.hstack([model.rate[some, k, None], model.selection[some]])
        )

    parts = [(k, begin) for k in range(K) for begin in range(0, items, BLOCK)]
    expected, curve = np.zeros_like(count), np.zeros((items, K, K))
    for (k, begin), (first, second) in zip(parts, in_parallel(expect, parts, threads), strict=True):
        expected[begin : begin + BLOCK, k] = first / 2 * stands_for[k]
        curve[begin : begin + BLOCK, k, k] = second / 2 * stands_for[k]
    curve += np.eye(K) * 1e-3 + pull * apart(K)
    slope = count - expected - pull * (model.rate @ apart(K))
    step = np.clip(np.linalg.solve(curve, slope[..., None])[..., 0], -0.7, 0.7)
    seen = count.sum(axis=1) > 0
    rate = np.where(seen[:, None], model.rate + step, model.rate)
    doubt: Float = np.asarray(np.linalg.inv(curve), np.float64)
    return rate, pull_of(rate, doubt, count.sum(axis=1))
