"""How positions spread in each category: their mean and covariance, by expectation-maximization.

A person's position is never known, only estimated from her ratings; the prior is that of the
positions themselves. Each round estimates every position under the prior so far (its mode, and the
inverse of the curvature there), then takes the mean and covariance of the estimates, uncertainty
included.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts.people import Block, People
from midpoint.analyst.fit.positions import Float
from midpoint.analyst.kernels.compilation import in_parallel
from midpoint.analyst.kernels.positions.evidence import sum_ratings
from midpoint.analyst.kernels.positions.logistic import LogisticSums
from midpoint.analyst.kernels.positions.newton import Curvature, Slope, newton_steps, scatter
from midpoint.wire.positions import MOST_CHANGE

ROUNDS: Final = 6
"""Rounds of expectation and maximization."""
FIRST_STEPS: Final = 3
"""Newton steps of the first round, which starts at the prior's means; later ones take one."""
MOST_KEPT: Final = 2**27
"""Numbers about people's ratings that are kept between rounds: 512 MB."""
WIDEST: Final = 48.0
"""Most variance of positions in any direction: devices refuse more than 64."""


class Drawn(NamedTuple):
    """A sample of the items, to sum curvatures over; n items."""

    item: NDArray[np.intp]
    """Which. Shape (n,)."""
    weight: Float
    """How many items each stands for: one over the probability to be drawn. Shape (n,)."""


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
    drawn: Drawn | None = None
    """The items that curvatures are summed over; all unless given."""

    def in_strata(self, strata: int) -> Self:
        """Return the model with every stratum of every category as a category of its own."""
        rate, base = (np.repeat(columns, strata, axis=1) for columns in (self.rate, self.base))
        return self._replace(rate=rate, base=base)


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
    people: People,
    model: Model,
    prior: Prior,
    threads: int | None,
    done: Callable[[], None],
    start: Float | None = None,
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
        start: Positions that are about right; the prior's means unless given. Shape (N, D).
    """
    finder = Finder(people, model, threads)
    position = prior.mean[people.category] if start is None else start
    for round_ in range(ROUNDS):
        steps = FIRST_STEPS if round_ == 0 and start is None else 1
        located = finder.locate(model.rate, prior, position, steps, fresh=round_ in (0, ROUNDS - 1))
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
    spread = np.stack([scatter(away[a:b]) for a, b in pairwise(bounds)])
    return prior_with(mean, spread + located.doubt, size)


def prior_with(mean: Float, square: Float, size: NDArray[np.int64]) -> Prior:
    """Return the prior with these means.

    Args:
        mean: Shape (K, D).
        square: The sums of (z - mean) (z - mean)' over people, uncertainty included. (K, D, D).
        size: How many people each category has. Shape (K,).
    """
    D = mean.shape[1]
    pooled = square.sum(axis=0) / size.sum()
    covariance = (square + (D + 1) * pooled) / (size + D + 1)[:, None, None]
    values, vectors = np.linalg.eigh(covariance)
    scaled = vectors * np.minimum(values, WIDEST)[:, None]
    return Prior(mean, scaled @ np.swapaxes(vectors, 1, 2))


class Evidence(NamedTuple):
    """What n people of one category rated and how; see `Finder`."""

    pull: Float
    """Σ_R s, then Σ_R g (value - base) / noise. Shape (n, D)."""
    gram: NDArray[np.float32]
    """Σ_R g g' / noise, its lower triangle row by row. Shape (n, r (r + 1) / 2)."""

    @classmethod
    def of(cls, people: People, model: Model, block: Block) -> Self:
        """Sum up the ratings of a block."""
        k, begin, end = block
        n, d, r = end - begin, model.selection.shape[1], model.taste.shape[1]
        pull, gram = np.zeros((n, d + r)), np.zeros((n, r * (r + 1) // 2))
        offsets = people.offsets[begin : end + 1]
        theirs = slice(offsets[0], offsets[-1])
        item = people.item[theirs]
        rest = people.value[theirs] - model.base[item, k]
        sum_ratings(offsets - offsets[0], item, rest, model.selection, model.taste, pull, gram)
        pull[:, d:] /= model.noise
        return cls(pull, (gram / model.noise).astype(np.float32))


class Finder:
    """Finds the positions of the same people under one prior after the other.

    With P = covariance^-1, the slope at z = (t, x) over her rated items R and all items is

        P (mean - z) + [Σ_R s - Σ p s ; Σ_R g (value - base - <g, x>) / noise]

    and the curvature P + blockdiag(Σ p (1 - p) s s', Σ_R g g' / noise), where s are the selection
    factors of an item and g its taste factors. What no prior changes is summed up once, and kept in
    single precision: on MovieLens 1M means and covariances are within 1e-5 of those learned with it
    in doubles, and one rate in 7,000 differs, by a step of its grid. Where it would take more than
    `MOST_KEPT` numbers, it is summed up again each time, to the same bits. So are curvatures then,
    which are otherwise kept for the rounds in which `locate` is not asked for fresh ones.
    """

    def __init__(self, people: People, model: Model, threads: int | None) -> None:
        """Sum up what the people rated; the rates of the model are given each time."""
        self._people, self._model, self._threads = people, model, threads
        self._sums = _Sums(model)
        self._blocks = people.blocks()
        d, r = model.selection.shape[1], model.taste.shape[1]
        self._evidence: dict[Block, Evidence] = {}
        self._chosen: dict[Block, NDArray[np.float32]] = {}
        self._keeps = len(people) * (d * (d + 1) + r * (r + 1)) // 2 <= MOST_KEPT
        if self._keeps:
            sums = in_parallel(self._sum_up, self._blocks, threads)
            self._evidence = dict(zip(self._blocks, sums, strict=True))

    def _sum_up(self, block: Block) -> Evidence:
        return self._evidence.get(block) or Evidence.of(self._people, self._model, block)

    def locate(
        self,
        rate: Float,
        prior: Prior,
        start: Float,
        steps: int,
        draws: np.random.Generator | None = None,
        *,
        fresh: bool = True,
    ) -> Located:
        """Find the most likely position of everyone, by Newton steps from `start`.

        Args:
            rate: The rates of the items. Shape (M, K).
            prior: The prior of positions.
            start: Shape (N, D).
            steps: How many, each `shortened`.
            draws: Draws `away`; unless given, it is zero.
            fresh: Whether Σ p (1 - p) s s' is summed up again; else that of the last step which did
                is taken, if it was kept: a step costs a fifth then, and its slope is still exact.
        """
        precision = np.linalg.inv(prior.covariance)
        noise = None if draws is None else draws.normal(size=start.shape)
        d = self._model.selection.shape[1]

        def find(block: Block) -> tuple[Float, Float, Float]:
            k, begin, end = block
            evidence, z = self._sum_up(block), start[begin:end].copy()
            kept = None if fresh else self._chosen.get(block)
            rated = evidence.gram.astype(np.float64)
            of_block = None if noise is None else noise[begin:end]
            for step in range(steps):
                last = step == steps - 1
                if kept is None:
                    first, chosen = self._sums(z[:, :d], rate[:, k], last=last)
                else:
                    first, chosen = self._sums.first(z[:, :d], rate[:, k]), kept.astype(np.float64)
                pull = evidence.pull.copy()
                pull[:, :d] -= first
                curvature = Curvature(precision[k], chosen, rated)
                slope = Slope(prior.mean[k], pull, z)
                newton = newton_steps(curvature, slope, of_block if last else None, doubt=last)
                z = z + shortened(newton.step, self._model.selection)
            if kept is None and self._keeps:
                self._chosen[block] = chosen.astype(np.float32)
            return z, newton.doubt, np.zeros_like(z) if of_block is None else newton.away

        results = in_parallel(find, self._blocks, self._threads)
        positions, doubts, aways = zip(*results, strict=True)
        doubt = np.zeros_like(precision)
        for block, share in zip(self._blocks, doubts, strict=True):
            doubt[block.category] += share
        return Located(np.concatenate(positions), doubt, np.concatenate(aways))


def shortened(step: Float, selection: Float) -> Float:
    """Return steps that change nobody's log odds of an item by more than `MOST_CHANGE`.

    Args:
        step: Of the positions of n people, selection factors first. Shape (n, D).
        selection: What each factor adds to the log odds of each item. Shape (M, d).
    """
    d = selection.shape[1]
    most = np.abs(step[:, :d]) @ np.abs(selection).max(axis=0, initial=0.0)
    long = np.flatnonzero(most > MOST_CHANGE)  # the others cannot
    if not len(long):
        return step
    change = np.abs(step[long, :d] @ selection.T).max(axis=1, initial=MOST_CHANGE)
    factor = np.ones(len(step))
    factor[long] = MOST_CHANGE / change
    return step * factor[:, None]


class _Sums:
    """Sums over the items, as `LogisticSums.packed` returns them, of all or of a sample of them.

    With a sample all but the last step are rough: both sums are over the sample. In the last one
    the slope is over all items, and hence the mode is that of all.
    """

    def __init__(self, model: Model) -> None:
        self._drawn = model.drawn
        self._all = LogisticSums(model.selection, second=model.drawn is None)
        if model.drawn is not None:
            item, weight = model.drawn
            self._some = LogisticSums(model.selection[item], weight)

    def __call__(self, t: Float, rate: Float, *, last: bool) -> tuple[Float, Float]:
        """Return Σ p s and Σ p (1 - p) s s' of people; of those all at one point it is one sum."""
        if len(t) > 1 and (t == t[0]).all():
            first, second = self(t[:1], rate, last=last)
            return np.repeat(first, len(t), axis=0), np.repeat(second, len(t), axis=0)
        if self._drawn is None:
            return self._all.packed(t, rate)
        first, second = self._some.packed(t, rate[self._drawn.item])
        return self.first(t, rate) if last else first, second

    def first(self, t: Float, rate: Float) -> Float:
        """Return Σ p s over all items."""
        return self._all.first(t, rate)
