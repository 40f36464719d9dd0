"""Factors of items by who rates what, from which ratios of categories are predicted.

How often women rate a film over how often men do is a guess for each film by itself. But films that
the same people rate have similar ratios, and which films go together is learned from everyone,
whether the category is known or not. So log p_k is regressed on factors of the items
(`shrinkage.shrink`): the leading right singular vectors of

    R_ij / sqrt((n_i + 1) (m_j + 5)),

where R tells who rated what, n_i how many items a person rated, and m_j how many people an item.
A report stands for several ratings, since others like it were withheld: then R_ij is how many, n_i
the sum of its squares, so that nobody weighs more than 1, and m_j the sum. The first of the vectors
is popularity, and its logarithm is taken instead of it.

How many factors help depends on the panel: with too many, what is special about its people is taken
for what is usual. So the people are split in two halves, those of unknown category as well. Each
half predicts the categories of the other by what was rated, and the fewest factors are taken that
do not predict significantly worse than the best. That may be none.
"""

from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import svds

from midpoint.analyst.categories.estimates import CategoryEstimates
from midpoint.analyst.categories.statistics import tally
from midpoint.analyst.kernels.compilation import in_parallel
from midpoint.data import MISSING, Feature, Ratings

Float = NDArray[np.float64]
CANDIDATES: Final = (0, 1, 2, 5, 10, 20, 40, 80)
"""Numbers of factors that are tried."""
FEWEST_ITEMS: Final = 8
"""Items for each factor that is tried, at least."""
FEWEST_PEOPLE: Final = 4
"""People of the rarest category for each factor that is tried, at least."""
COMPLETE: Final = 0.95
"""Where a larger share of all possible ratings is there, who rates what says nothing."""
MOST_CELLS: Final = 50_000_000
"""People times factors that are worked with; of more people, factors are learned from a part."""

CLOSE: Final = 1e-3
"""Relative error of singular values. Numbers of single precision are exact enough for that."""


class ItemFactors(NamedTuple):
    """Factors that predict the ratios of items, and how far two halves of the panel disagree."""

    factors: Float
    """Log popularity, then k factors. Shape (M, k + 1)."""
    disagreement: Float
    """Half the difference of the log probabilities that the halves predict. Shape (M, K)."""
    leading: Float | None = None
    """`leading_factors` of everyone's sets, more than are used; None of very many people."""


def item_factors(
    ratings: Ratings,
    feature: Feature,
    *,
    seed: int = 0,
    presence: Float | None = None,
    threads: int | None = None,
) -> ItemFactors | None:
    """Return factors that predict the ratios of items, or None if none do.

    Args:
        ratings: Everyone's ratings; those of unknown category show which items go together.
        feature: The private feature.
        seed: Draws the halves.
        presence: For how many ratings each stands, so that what devices withheld is not taken for
            what nobody rates; 1 for everyone of known category. Shape (ratings,).
        threads: All usable cores unless given; the result does not depend on it.
    """
    feature.require_classes()
    sets = rated_sets(ratings, presence)
    people, items = sets.shape
    most = min(items // FEWEST_ITEMS, int(feature.counts.min()) // FEWEST_PEOPLE)
    counts = [k for k in CANDIDATES if k <= most]
    if len(counts) < 2 or len(ratings) > COMPLETE * people * items:
        return None
    half, whole = _halves(feature, seed), list[Float]()

    def predict(side: int) -> tuple[Float, list[Float]]:
        return _held_out(ratings, feature, sets, half != side, counts)

    def work(side: int | None) -> list[tuple[Float, list[Float]]]:
        if side is not None:
            return [predict(side)]
        whole.append(_leading(sets, counts[-1]))
        return []

    sides = list(chain(*in_parallel(work, (None, 0, 1), threads)))
    gains = np.concatenate([scores for scores, _ in sides])
    best = int(gains.mean(axis=0).argmax())
    short = gains[:, [best]] - gains
    error = short.std(axis=0) / max(len(short), 1) ** 0.5
    at = int(np.argmax(short.mean(axis=0) <= error))
    if not counts[at]:
        return None
    first, second = (predicted[at] for _, predicted in sides)
    leading = whole[0] if _step(sets, counts[-1]) == 1 else None
    factors = _standardized(sets, whole[0][:, : counts[at] + 1])
    return ItemFactors(factors, (first - second) / 2, leading)


def rated_sets(ratings: Ratings, presence: Float | None = None) -> sparse.csr_matrix:
    """Return who rated what, as ones or as what each stands for. Shape (N, M)."""
    ones = np.ones(len(ratings.item)) if presence is None else presence
    shape = (ratings.n_users, ratings.n_items)
    return sparse.csr_matrix((ones, ratings.item, ratings.user_offsets), shape)


def _halves(feature: Feature, seed: int) -> NDArray[np.int64]:
    """Split each category in two, and last those whose category is not known. Shape (N,)."""
    draws, half = np.random.default_rng(seed), np.empty(len(feature.codes), np.int64)
    for k in (*range(len(feature.categories)), MISSING):
        own = np.flatnonzero(feature.codes == k)
        half[own] = draws.permutation(np.arange(len(own)) % 2)
    return half


def _held_out(
    ratings: Ratings,
    feature: Feature,
    sets: sparse.csr_matrix,
    learned: NDArray[np.bool_],
    counts: list[int],
) -> tuple[Float, list[Float]]:
    """Return how well each count predicts the categories of held-out people, and what it predicts.

    sum_j log [p_jk / sum_m w_m p_jm] over the items that a person of category k rated, w being the
    shares of the categories; and log p of each count. Shapes (n, counts), (M, K) each.
    """
    panel = ratings.select_users(learned & (feature.codes >= 0))
    counted = tally(panel, panel.feature(*(name for name, _ in feature.parts)))
    factors = _factors(sets[learned], counts[-1])
    out = ~learned & (feature.codes >= 0)
    share = counted.users / counted.users.sum()
    scores, predicted = [], []
    for k in counts:
        known = replace(counted, factors=factors[:, : k + 1] if k else None)
        p = CategoryEstimates(known).probability
        predicted.append(np.log(p))
        weight = np.log(p / (p @ share)[:, None])
        scores.append((sets[out] @ weight)[np.arange(int(out.sum())), feature.codes[out]])
    return np.stack(scores, axis=1), predicted


def _factors(sets: sparse.csr_matrix, count: int) -> Float:
    """Return log popularity and so many factors, each with mean 0 and deviation 1. (M, 1 + k)."""
    return _standardized(sets, _leading(sets, count))


def _step(sets: sparse.csr_matrix, count: int) -> int:
    """Return of how many people one is taken, for so many factors."""
    return int(1 + sets.shape[0] * (count + 1) // MOST_CELLS)


def _leading(sets: sparse.csr_matrix, count: int) -> Float:
    """Return so many factors after popularity, of everyone or of some. Shape (M, 1 + k)."""
    return leading_factors(sets[:: _step(sets, count)], count + 1)


def _standardized(sets: sparse.csr_matrix, leading: Float) -> Float:
    """Put log popularity first; let all have mean 0 and deviation 1. Shape (M, 1 + k)."""
    rated = np.asarray(sets.sum(axis=0)).ravel()
    both = np.column_stack([np.log(rated + 1), leading[:, 1:]])
    spread = both.std(axis=0)
    return np.asarray((both - both.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def leading_factors(sets: sparse.csr_matrix, count: int) -> Float:
    """Return the leading factors of items by who rated what, popularity first. Shape (M, k)."""
    row = 1 / np.sqrt(np.asarray(sets.multiply(sets).sum(axis=1)).ravel() + 1)
    column = 1 / np.sqrt(np.asarray(sets.sum(axis=0)).ravel() + 5)
    scaled = (sparse.diags(row) @ sets @ sparse.diags(column)).astype(np.float32)
    start = np.ones(min(scaled.shape), np.float32)
    _, values, right = svds(scaled, k=count, v0=start, tol=CLOSE)
    return np.asarray(right[np.argsort(-values)].T.astype(np.float64) * column[:, None])
