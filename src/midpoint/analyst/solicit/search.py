"""Looking for items with a small A-criterion: start, greedy steps, exchanges (Sec. 6.2)."""

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.information import SINGULAR, a_criterion, symmetric_inverse
from midpoint.errors import MidpointError

Float = NDArray[np.float64]

PASSES = 30
"""How often excursions, and exchanges of all chosen items, are tried again at most."""
LEAST_GAIN = 1e-9
"""Relative gain below which an exchange is not worth making, so that the search ends."""
REFRESH = 1e3
"""Growth of det A after which running sums are computed afresh; rounding grows as its square."""


def search(vectors: Float, base: Float, budget: int) -> NDArray[np.intp]:
    """Choose `budget` of the vectors: independent start, greedy steps, excursions and exchanges.

    Args:
        vectors: the items to choose from, v_j. Shape (M, D).
        base: information before asking, A0. Shape (D, D).
        budget: how many to choose, less than M.

    Returns:
        The chosen rows, ascending. No exchange of one of them for another row makes the
        A-criterion smaller, unless the number of passes ran out. Shape (budget,).
    """
    design = _Design(vectors, base, greedy(vectors, base, budget))
    for _ in range(PASSES):
        before = design.loss
        for reach in (0.5, 1, 2):
            other = _excursion(design, max(1, int(reach * vectors.shape[1])))
            design = min(design, other, key=lambda either: either.loss)
        for _ in range(PASSES):
            if sum(design.exchange(index) for index in range(budget)) == 0:
                break
        if design.loss >= before * (1 - LEAST_GAIN):
            break
    return np.sort(np.array(design.chosen, dtype=np.intp))


def greedy(vectors: Float, base: Float, budget: int) -> list[int]:
    """Choose an independent start, then one by one the vector that lowers the loss most."""
    design = _Design(vectors, base, independent_start(vectors, base, budget))
    design.add_best(budget - len(design.chosen))
    return design.chosen


def independent_start(vectors: Float, base: Float, budget: int) -> list[int]:
    """Choose as many items as A0 lacks rank, each the farthest from the span of A0 and the others.

    That is Gram-Schmidt with pivoting on the part of v_j in the null space of A0.
    """
    eigenvalues, directions = np.linalg.eigh(base)
    smallest = SINGULAR * max(eigenvalues[-1], np.square(vectors).sum(axis=1).max())
    residual = vectors @ directions[:, eigenvalues <= smallest]
    lacking = residual.shape[1]
    if budget < lacking:
        raise MidpointError(
            f"{budget} items cannot determine {lacking} directions of a profile of which nothing "
            f"is known; ask for at least {lacking} items, or give a prior (a stronger one)"
        )
    chosen: list[int] = []
    for _ in range(lacking):
        length = np.square(residual).sum(axis=1)
        item = int(np.argmax(length))
        if length[item] <= smallest:
            raise MidpointError(
                f"the items to choose from determine only {len(chosen)} of {lacking} directions "
                "of a profile of which nothing is known; allow more items, or give a prior "
                "(a stronger one)"
            )
        direction = residual[item] / np.sqrt(length[item])
        residual -= np.outer(residual @ direction, direction)
        chosen.append(item)
    return chosen


def _excursion(design: "_Design", reach: int) -> "_Design":
    """Choose up to `reach` items more, then drop as many, each time the one missed least.

    It finds a way on where no single exchange helps. Dropping v_i costs c_i / (1 - a_i).
    """
    further = _Design(design.vectors, design.base, list(design.chosen))
    further.add_best(min(reach, len(design.vectors) - len(design.chosen)))
    rows = further.chosen
    while len(rows) > len(design.chosen):
        V = design.vectors[rows]
        moved = V @ symmetric_inverse(design.base + V.T @ V)
        kept = np.maximum(1 - np.einsum("ij,ij->i", moved, V), SINGULAR)
        rows.pop(int(np.argmin(np.einsum("ij,ij->i", moved, moved) / kept)))
    return _Design(design.vectors, design.base, rows)


class _Design:
    """A choice of items, with what each item would add; M items, dimension D.

    B = A^-1 is the inverse information. Of every item it keeps a_j = v_j^T B v_j (`variance`) and
    c_j = v_j^T B^2 v_j (`influence`), so that a step costs two products with all v_j.
    """

    def __init__(self, vectors: Float, base: Float, chosen: list[int]) -> None:
        self.vectors = vectors
        self.base = base
        self.chosen = chosen
        self._free = np.ones(len(vectors), dtype=np.bool_)
        self._free[chosen] = False
        self._refresh()

    @property
    def loss(self) -> float:
        """Return tr B."""
        return float(np.trace(self._inverse))

    def _information(self) -> Float:
        V = self.vectors[self.chosen]
        return np.asarray(self.base + V.T @ V)

    def _refresh(self) -> None:
        self._inverse = symmetric_inverse(self._information())
        moved = self.vectors @ self._inverse
        self._variance = np.einsum("ij,ij->i", moved, self.vectors)
        self._influence = np.einsum("ij,ij->i", moved, moved)
        self._growth = 1.0

    def add_best(self, count: int) -> None:
        """Choose the item with the largest gain, tr B - tr (A + v v^T)^-1 = c / (1 + a), again."""
        for _ in range(count):
            gain = self._influence / (1 + self._variance)
            gain[~self._free] = -1.0
            item = int(np.argmax(gain))
            self.chosen.append(item)
            self._free[item] = False
            self._update(self.vectors[item])

    def _update(self, v: Float) -> None:
        """Add v v^T by Sherman-Morrison: B' = B - g g^T / d, g = B v, d = 1 + v^T B v."""
        g = self._inverse @ v
        d = 1 + float(v @ g)
        self._growth *= d
        if self._growth > REFRESH:
            self._refresh()
            return
        p, q = np.stack([g, self._inverse @ g]) @ self.vectors.T
        self._inverse = self._inverse - np.outer(g, g) / d
        self._variance -= p**2 / d
        self._influence -= p * (q * (2 / d) - p * (g @ g / d**2))

    def exchange(self, index: int) -> bool:
        """Replace the item at this index by the best other one, and say whether it was worth it.

        Exchanging v_i for v_j changes tr B by
        [c_i (1 + a_j) - (1 - a_i) c_j - 2 p q] / [(1 - a_i) (1 + a_j) + p^2],
        p = v_i^T B v_j, q = v_i^T B^2 v_j (Woodbury; the divisor is the growth of det A). The loss
        is convex in A, so that is at least c_i - c_j: only an item with c_j > c_i is tried.
        """
        v = self.vectors[self.chosen[index]]
        g = self._inverse @ v
        least = (g @ g) + LEAST_GAIN * self.loss
        tried = np.flatnonzero(self._free & (self._influence > least))
        if len(tried) == 0:
            return False
        p, q = np.stack([g, self._inverse @ g]) @ self.vectors[tried].T
        kept, more = 1 - v @ g, 1 + self._variance[tried]
        growth = kept * more + p**2
        change = (g @ g) * more - kept * self._influence[tried] - 2 * p * q
        change = np.where(growth > SINGULAR, change / np.maximum(growth, SINGULAR), np.inf)
        best = int(np.argmin(change))
        worth = bool(change[best] < -LEAST_GAIN * self.loss)
        return worth and self._replace(index, int(tried[best]))

    def _replace(self, index: int, other: int) -> bool:
        """Make the exchange if the loss, computed afresh, is smaller: rounding makes no cycles."""
        item, enough = self.chosen[index], self.loss * (1 - LEAST_GAIN)
        self.chosen[index] = other
        if a_criterion(self._information()) >= enough:
            self.chosen[index] = item
            return False
        self._free[[item, other]] = True, False
        self._refresh()
        return True
