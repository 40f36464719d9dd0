"""How often each category rates each item, learned together with the positions of its people.

Rates that were fitted beside people's own positions are too far apart: the positions take up a part
of what is the category's. Here a rate is such that its category is expected to rate the item as
often as it did, over all positions that its people may have.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from midpoint.analyst.counterparts.people import Block, People, in_parallel
from midpoint.analyst.counterparts.prior import Model, Prior, locate, prior_of
from midpoint.analyst.counterparts.selection import FARTHEST, FIRST_PULL, apart, pull_of
from midpoint.analyst.fit.positions import Float, rounded

ROUNDS: Final = 8
"""Rounds for the positions, their prior and the rates."""


def fit_rates(
    people: People,
    model: Model,
    prior: Prior,
    draws: np.random.Generator,
    threads: int | None,
    done: Callable[[], None],
) -> tuple[Model, Prior]:
    """Learn the prior of positions and the items' rates together.

    A rate is such that its category is expected to rate the item as often as it did; the
    expectation is over the positions that are left open, by a pair of opposite draws for each
    person.
    """
    position, pull = prior.mean[people.category], FIRST_PULL
    K, d = len(people.sizes), model.selection.shape[1]
    cell = people.item.astype(np.int64) * K + people.category[people.person]
    count = np.bincount(cell, minlength=len(model.rate) * K).reshape(-1, K).astype(np.float64)
    for round_ in range(ROUNDS):
        located = locate(people, model, prior, position, 1 if round_ else 3, threads, draws)
        position, prior = located.position, prior_of(people, located)
        centre = position[:, :d].mean(axis=0)
        position[:, :d] -= centre
        prior.mean[:, :d] -= centre
        model = model._replace(rate=model.rate + (model.selection @ centre)[:, None])
        t, away = position[:, :d], located.away[:, :d]
        rate, pull = _rates(people, model, count, t, away, pull, threads)
        model = model._replace(rate=rate)
        done()
    return model._replace(rate=rounded(np.clip(model.rate, -FARTHEST, FARTHEST))), prior


def _rates(
    people: People,
    model: Model,
    count: Float,
    t: Float,
    away: Float,
    pull: float,
    threads: int | None,
) -> tuple[Float, float]:
    """Take a Newton step for all rates, drawn together across the categories by `pull`."""
    K, selection = count.shape[1], model.selection.T.astype(np.float32)

    def expect(block: Block) -> tuple[int, Float, Float]:
        k, begin, end = block
        first, second = np.zeros(len(count)), np.zeros(len(count))
        for sign in (1, -1):
            z = (t[begin:end] + sign * away[begin:end]).astype(np.float32)
            p = 1 / (
                1 + np.exp(-np.clip(model.rate[:, k].astype(np.float32) + z @ selection, -30, 30))
            )
            first += p.sum(axis=0, dtype=np.float64) / 2
            second += (p * (1 - p)).sum(axis=0, dtype=np.float64) / 2
        return k, first, second

    expected, curve = np.zeros_like(count), np.zeros((len(count), K, K))
    for k, first, second in in_parallel(expect, people.blocks(), threads):
        expected[:, k] += first
        curve[:, k, k] += second
    curve += np.eye(K) * 1e-3 + pull * apart(K)
    slope = count - expected - pull * (model.rate @ apart(K))
    step = np.clip(np.linalg.solve(curve, slope[..., None])[..., 0], -0.7, 0.7)
    seen = count.sum(axis=1) > 0
    rate = np.where(seen[:, None], model.rate + step, model.rate)
    doubt: Float = np.asarray(np.linalg.inv(curve), np.float64)
    return rate, pull_of(rate, doubt, count.sum(axis=1))
