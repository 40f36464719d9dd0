"""What people rate: each item's rate in each category, and its selection factors.

logit P(person i of category k rated j) = rate_jk + <selection_j, t_i>,  t_i ~ N(mean_k, I)

Newton steps for the people and for the items in turn, both under penalties: an item's rates are
drawn together across the categories as closely as the data says of all items, its selection factors
to those of the other items. Only rates and selection factors are kept; how positions spread is
learned afterwards.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.analyst.counterparts.people import BLOCK, Block, People
from midpoint.analyst.fit.positions import Float
from midpoint.analyst.kernels.compilation import in_parallel
from midpoint.analyst.kernels.positions.logistic import LogisticSums

ROUNDS: Final = 10
"""Rounds of steps for the people and for the items."""
SELECTION_RIDGE: Final = 2.0
"""Precision of an item's selection factors around a plain item's: 0, but for activity."""
FIRST_PULL: Final = 10.0
"""How strongly an item's rates are drawn together, until the data says."""
OFTEN: Final = 20
"""Items with more ratings than this say how much rates differ between categories."""
FARTHEST: Final = 16.0
"""No rate is rarer or surer than this logit."""


class SelectionModel(NamedTuple):
    """What was learned; M items, K categories, d selection factors."""

    rate: Float
    """Logit of a category's probability to rate the item, at t = 0. Shape (M, K)."""
    selection: Float
    """What each selection factor adds to it. Shape (M, d)."""
    mean: Float
    """Mean t of each category. Shape (K, d)."""


def fit_selection(
    people: People,
    items: int,
    selection_factors: int,
    *,
    draws: np.random.Generator,
    threads: int | None,
    done: Callable[[], None],
) -> SelectionModel:
    """Learn rates and selection factors from who rated what; an item nobody rated has none.

    Args:
        people: Who rated what.
        items: How many items there are.
        selection_factors: How many selection factors d; the first starts as activity.
        draws: Makes the start.
        threads: All usable cores unless given.
        done: Is called after each of `ROUNDS` rounds.
    """
    count = np.bincount(people.item, minlength=items)
    seen = np.flatnonzero(count)
    fit = _Fit(people, seen, items, selection_factors, draws, threads)
    for round_ in range(ROUNDS):
        for _ in range(2 if round_ else 4):
            fit.move_people()
        fit.standardize()
        fit.move_items()
        done()
    rate = np.full((items, len(people.sizes)), _logit(np.array(0.5 / max(len(people), 1))))
    selection = np.zeros((items, selection_factors))
    rate[seen], selection[seen] = np.clip(fit.rate, -FARTHEST, FARTHEST), fit.selection
    return SelectionModel(rate, selection, fit.mean)


class _Fit:
    """The state of a fit, over the items that somebody rated."""

    def __init__(
        self,
        people: People,
        seen: NDArray[np.intp],
        items: int,
        selection_factors: int,
        draws: np.random.Generator,
        threads: int | None,
    ) -> None:
        K, shape = len(people.sizes), (len(people), items)
        ones = np.ones(len(people.item), np.float32)
        self.people, self.threads = people, threads
        self.rated = sparse.csr_matrix((ones, people.item, people.offsets), shape)[:, seen]
        self.by_item = self.rated.T.tocsr()
        self.count = np.diff(self.by_item.indptr)
        n = len(people)
        share = np.clip(self.count / max(n, 1), 0.5 / max(n, 1), 1 - 0.5 / max(n, 1))
        self.rate: Float = np.repeat(_logit(share)[:, None], K, axis=1)
        self.t, self.selection = _start(self.rated, share, selection_factors, draws)
        self.mean: Float = np.zeros((K, selection_factors))
        self.pull = FIRST_PULL

    def move_people(self) -> None:
        """Take one Newton step for every t, no longer than 1 in each coordinate."""
        given, sums = self.rated @ self.selection, LogisticSums(self.selection)
        identity = np.eye(self.selection.shape[1])

        def step(block: Block) -> Float:
            k, begin, end = block
            first, second = sums(self.t[begin:end], self.rate[:, k])
            slope = given[begin:end] - first - (self.t[begin:end] - self.mean[k])
            return self.t[begin:end] + np.clip(_solve(second + identity, slope), -1, 1)

        self.t = np.concatenate(in_parallel(step, self.people.blocks(), self.threads))

    def standardize(self) -> None:
        """Let t have mean 0 and deviation 1 over all people; what items expect stays the same."""
        centre, spread = self.t.mean(axis=0), self.t.std(axis=0) + 1e-6
        self.rate = self.rate + (self.selection @ centre)[:, None]
        self.t, self.selection = (self.t - centre) / spread, self.selection * spread
        bounds = self.people.bounds
        for k, size in enumerate(self.people.sizes):
            self.mean[k] = self.t[bounds[k] : bounds[k + 1]].sum(axis=0) / max(size, 1)

    def move_items(self) -> None:
        """Take a Newton step for rates and selection factors; learn how far rates differ."""
        K = len(self.mean)
        of_category = sparse.csr_matrix(np.eye(K)[self.people.category])
        given = np.hstack([(self.by_item @ of_category).toarray(), self.by_item @ self.t])
        with_one = np.hstack([np.ones((len(self.t), 1)), self.t])
        sums = [LogisticSums(with_one[a:b]) for a, b in pairwise(self.people.bounds)]
        plain = np.zeros(self.selection.shape[1])
        plain[0] = np.median(self.selection[:, 0])

        def step(begin: int) -> tuple[Float, Float]:
            part = slice(begin, min(begin + BLOCK, len(self.selection)))
            slope, curve = self._slope(sums, part)
            self._add_penalty(slope, curve, part, plain)
            slope += given[part]
            now = np.hstack([self.rate[part], self.selection[part]])
            doubt: Float = np.asarray(np.linalg.inv(curve)[:, :K, :K], np.float64)
            return now + np.clip(_solve(curve, slope), -0.7, 0.7), doubt

        starts = range(0, len(self.selection), BLOCK)
        moved, doubts = zip(*in_parallel(step, starts, self.threads), strict=True)
        both = np.concatenate(moved)
        self.rate, self.selection = both[:, :K], both[:, K:]
        self.pull = pull_of(self.rate, np.concatenate(doubts), self.count.astype(np.float64))

    def _add_penalty(self, slope: Float, curve: Float, part: slice, plain: Float) -> None:
        """Draw rates together, and selection factors to those of a plain item."""
        K, d = self.mean.shape
        rate, selection = self.rate[part], self.selection[part]
        slope[:, :K] -= self.pull * (rate - rate.mean(axis=1, keepdims=True))
        slope[:, K:] -= SELECTION_RIDGE * (selection - plain)
        curve[:, :K, :K] += self.pull * apart(K)
        curve += np.diag([1e-3] * K + [SELECTION_RIDGE + 1e-3] * d)

    def _slope(self, sums: list[LogisticSums], part: slice) -> tuple[Float, Float]:
        """Return what some items expect to be rated, with a minus, and its curvature."""
        K, d = self.mean.shape
        n = part.stop - part.start
        slope, curve = np.zeros((n, K + d)), np.zeros((n, K + d, K + d))
        for k, over in enumerate(sums):
            weights = np.hstack([self.rate[part, k, None], self.selection[part]])
            first, second = over(weights, np.zeros(self.people.sizes[k]))
            slope[:, k] -= first[:, 0]
            slope[:, K:] -= first[:, 1:]
            curve[:, k, k] += second[:, 0, 0]
            curve[:, k, K:] += second[:, 0, 1:]
            curve[:, K:, k] += second[:, 1:, 0]
            curve[:, K:, K:] += second[:, 1:, 1:]
        return slope, curve


def _start(
    rated: sparse.csr_matrix, share: Float, selection_factors: int, draws: np.random.Generator
) -> tuple[Float, Float]:
    """Start with activity, and with the leading directions of who rated what beyond it.

    They are those of R_ij - n_i n_j / n, the rows scaled by 1 / sqrt(n_i + 5) and the columns by
    1 / sqrt(share_j), found by subspace iteration.
    """
    people, items = rated.shape
    n = np.diff(rated.indptr).astype(np.float64)
    t, selection = np.zeros((people, selection_factors)), np.zeros((items, selection_factors))
    t[:, 0], selection[:, 0] = np.log((n + 1) / (n.mean() + 1)), 1.0
    size = min(selection_factors + 6, people, items)
    used = min(selection_factors - 1, size)
    if used < 1:
        return t, selection
    column, root = 1 / np.sqrt(share + 1e-3), np.sqrt(n + 5)
    scaled = sparse.diags(1 / root) @ rated @ sparse.diags(column)
    rows, columns = n / root, share * column * (people / n.sum())
    transposed = scaled.T.tocsr()

    def across(q: Float) -> Float:
        return np.asarray(scaled @ q - rows[:, None] * (columns @ q))

    def down(q: Float) -> Float:
        return np.asarray(transposed @ q - columns[:, None] * (rows @ q))

    q = np.linalg.qr(across(draws.normal(size=(items, size))))[0]
    for _ in range(4):
        q = np.linalg.qr(across(down(q)))[0]
    left, _, right = np.linalg.svd(down(q).T, full_matrices=False)
    t[:, 1 : used + 1] = (q @ left)[:, :used] * np.sqrt(people)
    v = right[:used].T
    size_of = np.sqrt(np.average(v**2, axis=0, weights=share))
    selection[:, 1 : used + 1] = 0.4 * v / np.maximum(size_of, 1e-12)
    return t, selection


def pull_of(rate: Float, doubt: Float, count: Float) -> float:
    """Return how strongly rates are to be drawn together: as closely as those of all items are.

    Args:
        rate: Rates by category. Shape (M, K).
        doubt: Covariances of what is left open of them. Shape (M, K, K).
        count: How often each item was rated. Shape (M,).
    """
    K = rate.shape[1]
    differ = ((rate @ apart(K)) ** 2).sum(axis=1) + np.einsum("kl,jlk->j", apart(K), doubt)
    often = count > min(OFTEN, count.max() - 1)
    return float((K - 1) / max(differ[often].mean(), 1e-4))


def apart(K: int) -> Float:
    """Return the projection that takes K numbers to what is left without their mean."""
    return np.asarray(np.eye(K) - 1 / K)


def _solve(matrix: Float, right: Float) -> Float:
    return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0])


def _logit(p: Float) -> Float:
    return np.asarray(np.log(p / (1 - p)))
