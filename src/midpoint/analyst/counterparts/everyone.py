"""A last round of expectation and maximization over everyone, after a fit on a sample.

Items can be learned from some thousands of people. The prior of positions gets more precise with
more people, and an attacker who knows many would find the errors of a sample. In the expectation
step people are independent, and maximization needs only sums over them. So some people are done at
a time, wherever their ratings are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from midpoint.analyst.counterparts.checkpoint import Checkpoint
from midpoint.analyst.counterparts.panel import Group, Panel, Totals
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import (
    FIRST_STEPS,
    Drawn,
    Finder,
    Model,
    Prior,
    prior_with,
)
from midpoint.analyst.counterparts.strata import Strata, activity_of, stratum_of
from midpoint.analyst.fit.positions import Float
from midpoint.analyst.kernels.positions.newton import scatter

ITEMS_DRAWN: Final = 512
"""Items that curvatures are summed over where a sample is enough."""


@dataclass(frozen=True)
class Expectation:
    """Finds the positions of some people and adds them up; can be sent to another machine."""

    model: Model
    """What is known of the items."""
    strata: Strata
    """The prior so far."""
    shares: tuple[float, float]
    """The part of each person's ratings that is used, as two shares: from, to."""
    threads: int | None
    """All usable cores unless given."""

    def __call__(self, group: Group) -> Totals:
        """Take `FIRST_STEPS` Newton steps from the mean of everyone's cell."""
        G, K = self.strata.mean.shape[:2]
        group = group.thinned(*self.shares)
        count, k = np.diff(group.offsets), group.category
        activity = activity_of(count, k, self.model.rate)
        cell = k * G + stratum_of(activity, k, self.strata.least)
        people = People.gather(group.offsets, group.item, group.value, cell, K * G)
        model, prior = self.model.in_strata(G), cells_of(self.strata)
        start = prior.mean[people.category]
        finder = Finder(people, model, self.threads)
        located = finder.locate(model.rate, prior, start, FIRST_STEPS)
        moved = located.position - start
        parts = [moved[a:b] for a, b in pairwise(people.bounds)]
        away = np.stack([part.sum(axis=0) for part in parts])
        square = np.stack([scatter(part) for part in parts])
        return Totals(people.sizes, away, square + located.doubt)


def finish_on_everyone(
    panel: Panel,
    expectation: Expectation,
    checkpoint: Checkpoint,
    progress: Callable[[float], None],
) -> Strata:
    """Return the prior after one round of expectation and maximization over everyone."""
    strata = expectation.strata
    (G, K, D), before = strata.mean.shape, cells_of(strata).mean
    size, away, square = panel.add_up(expectation, checkpoint, progress)
    total = away + size[:, None] * before
    mean = (total + total.sum(axis=0) / size.sum()) / (size + 1)[:, None]
    moved = mean - before
    cross = away[:, :, None] * moved[:, None, :]
    spread = square - cross - cross.swapaxes(1, 2)
    spread += size[:, None, None] * moved[:, :, None] * moved[:, None, :]
    prior = prior_with(mean, spread, size)
    return Strata(
        strata.least,
        prior.mean.reshape(K, G, D).swapaxes(0, 1).copy(),
        prior.covariance.reshape(K, G, D, D).swapaxes(0, 1).copy(),
    )


def cells_of(strata: Strata) -> Prior:
    """Return the prior with every stratum of every category as a category of its own."""
    G, K, D = strata.mean.shape
    mean, covariance = (part.swapaxes(0, 1) for part in (strata.mean, strata.covariance))
    return Prior(mean.reshape(K * G, D), covariance.reshape(K * G, D, D))


def draw_items(weight: Float, size: int = ITEMS_DRAWN) -> Drawn | None:
    """Draw items systematically, each with probability up to 1 in proportion to its weight.

    None where there are not more than so many. Shape of `weight`: (M,).
    """
    if len(weight) <= size:
        return None
    probability = np.minimum(weight * (size / weight.sum()), 1.0)
    for _ in range(20):  # what those at 1 leave over goes to the others
        free = probability < 1
        left = size - (~free).sum()
        probability = np.where(
            free, np.minimum(weight * (left / weight[free].sum()), 1.0), probability
        )
    ends = np.cumsum(probability)
    item = np.unique(np.searchsorted(ends, np.arange(0.5, ends[-1])))
    return Drawn(item, 1 / probability[item])
