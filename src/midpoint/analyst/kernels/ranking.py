"""Compiled ranking: how far up a list of all items stand those that a person is known to like.

The usual protocol of new people: items that she gave are left out of the list, those held out of
her are looked for in it, and all others count as misses (Liang et al. 2018). With H held-out items
and r their ranks, the best item at rank 1,

    NDCG@10 = (sum over r <= 10 of 1 / log2(r + 1)) / (sum over r <= min(10, H) of 1 / log2(r + 1)),
    Recall@20 = |{r <= 20}| / min(20, H),   MRR = 1 / (least r).

Ties go to the item of the lower index, so the same scores give the same ranks everywhere.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.kernels.compilation import compiled

Float = NDArray[np.float64]
Floats = NDArray[np.float32]
FIRST: Final = 10
"""Items of a list that NDCG and coverage look at."""
FURTHER: Final = 20
"""Items of a list that recall looks at."""
CHUNK: Final = 2**20
"""Scores that are held at a time, about."""
LEFT_OUT: Final = -1e300
"""Score of an item that is left out."""


class Sets(NamedTuple):
    """A set of items for each of N people."""

    offsets: NDArray[np.int64]
    """Those of person i are `item[offsets[i]:offsets[i + 1]]`. Shape (N + 1,)."""
    item: NDArray[np.int32]
    """The items, by index."""

    def of(self, people: slice) -> "Sets":
        """Return those of some people, one after the other."""
        offsets = self.offsets[people.start : people.stop + 1]
        return Sets(offsets - offsets[0], self.item[offsets[0] : offsets[-1]])


class Ranked(NamedTuple):
    """How good the lists of N people are; NaN for whom nothing is held out."""

    ndcg: Float
    """NDCG@10. Shape (N,)."""
    recall: Float
    """Recall@20. Shape (N,)."""
    mrr: Float
    """One over the rank of the first held-out item. Shape (N,)."""
    first: NDArray[np.int32]
    """The first ten items of each list; -1 where a list is shorter. Shape (N, 10)."""


def rank_people(
    scores: Callable[[slice], Float], given: Sets, hidden: Sets, n_items: int
) -> Ranked:
    """Rank all items for everyone, some people at a time.

    Args:
        scores: Scores of all items for some people, the best largest. Shape (n, items); it is
            written to.
        given: What each person gave; it is left out.
        hidden: What is held out of each.
        n_items: Count of the items.
    """
    n_people, step = len(given.offsets) - 1, max(CHUNK // max(n_items, 1), 1)
    ndcg, recall, mrr = (np.full(n_people, np.nan) for _ in range(3))
    ranked = Ranked(ndcg, recall, mrr, np.full((n_people, FIRST), -1, dtype=np.int32))
    for start in range(0, n_people, step):
        some = slice(start, min(start + step, n_people))
        shown = np.ascontiguousarray(scores(some), dtype=np.float64)
        part = Ranked(ndcg[some], recall[some], mrr[some], ranked.first[some])
        rank_rows(shown, given.of(some), hidden.of(some), part)
    return ranked


@compiled
def rank_rows(scores: Float, given_sets: Sets, hidden_sets: Sets, ranked: Ranked) -> None:  # noqa: C901, PLR0912
    """Rank the items of each row; what is given is left out, and what is hidden is looked for."""
    given_offsets, given = given_sets.offsets, given_sets.item
    hidden_offsets, hidden = hidden_sets.offsets, hidden_sets.item
    ndcg, recall, mrr, first = ranked.ndcg, ranked.recall, ranked.mrr, ranked.first
    n_items = scores.shape[1]
    best, value = np.empty(FURTHER, np.int32), np.empty(FURTHER, np.float64)
    wanted = np.zeros(n_items, np.bool_)
    for row in range(scores.shape[0]):
        for k in range(given_offsets[row], given_offsets[row + 1]):
            scores[row, given[k]] = LEFT_OUT
        listed = 0
        for j in range(n_items):
            s = scores[row, j]
            if s == LEFT_OUT or (listed == FURTHER and s <= value[FURTHER - 1]):
                continue
            k = min(listed, FURTHER - 1)
            while k > 0 and value[k - 1] < s:
                value[k], best[k] = value[k - 1], best[k - 1]
                k -= 1
            value[k], best[k] = s, j
            listed = min(listed + 1, FURTHER)
        for k in range(min(listed, FIRST)):
            first[row, k] = best[k]
        count = hidden_offsets[row + 1] - hidden_offsets[row]
        if count == 0:
            continue
        nearest = hidden[hidden_offsets[row]]
        for k in range(hidden_offsets[row], hidden_offsets[row + 1]):
            j = hidden[k]
            wanted[j] = True
            ahead = scores[row, j] > scores[row, nearest]
            if ahead or (scores[row, j] == scores[row, nearest] and j < nearest):
                nearest = j
        gain, ideal, hits = 0.0, 0.0, 0
        for k in range(listed):
            if wanted[best[k]]:
                hits += 1
                gain += 1 / np.log2(k + 2.0) if k < FIRST else 0.0
        for k in range(min(count, FIRST)):
            ideal += 1 / np.log2(k + 2.0)
        rank, s = 1, scores[row, nearest]
        for j in range(n_items):
            rank += scores[row, j] > s or (scores[row, j] == s and j < nearest)
        ndcg[row], recall[row], mrr[row] = gain / ideal, hits / min(count, FURTHER), 1 / rank
        for k in range(hidden_offsets[row], hidden_offsets[row + 1]):
            wanted[hidden[k]] = False
