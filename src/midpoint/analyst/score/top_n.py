"""Exact private top-N: a shortlist with the best items of every category."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from midpoint.errors import MidpointError

Float = NDArray[np.float64]


def shortlist_size(top: int, margin: int, categories: int, items: int) -> int:
    """Return how many items a shortlist has: K (N + R), or all; a function of public numbers."""
    return min(max(categories, 1) * (top + margin), items)


def shortlist(scores: ArrayLike, offsets: ArrayLike, *, top: int, margin: int) -> NDArray[np.intp]:
    """Choose the items whose s_j + offset_j[k] is among the N + R largest for some category k.

    Guarantee: for every category k and every set T of at most R items, the N best items outside T
    by s_j + offset_j[k], equal ones in the order of the list, are in the shortlist. For an item of
    rank n <= N once T is taken out has rank at most n + R before. So the device takes out all that
    its owner has rated, revealed or withheld, solicited or not, adds its own offset, ranks, and
    only then clips. R is public and has to be at least the number of items she may have rated of
    the list, such as all items ever solicited; beyond R there is no promise.

    The size is `shortlist_size`, filled up with the next best items for any category: neither size
    nor order depends on a category or on which items were rated. The promise is exact for the
    numbers given here: pass scores and offsets as rounded for the wire.

    Args:
        scores: centre_j + <v_j, x-hat>. Shape (M,).
        offsets: what each category adds; K = 0 counts as one category of offset 0. Shape (M, K).
        top: how many items a person is shown, N.
        margin: how many items may be taken out, R.

    Returns:
        Indices of the chosen items, ascending: the order says nothing. Shape (size,).
    """
    s, offset = _checked(scores, offsets)
    if top < 1 or margin < 0:
        raise MidpointError(f"top {top} and margin {margin} must be at least 1 and 0")
    local = [s + column for column in offset.T] or [s]
    size = shortlist_size(top, margin, len(local), len(s))
    inside = np.zeros(len(s), dtype=np.bool_)
    for values in local:
        inside[_largest(values, min(top + margin, len(s)))] = True
    rest = np.where(inside, -np.inf, np.maximum.reduce(local))
    inside[_largest(rest, size - int(inside.sum()))] = True
    return np.flatnonzero(inside)


def _largest(values: Float, count: int) -> NDArray[np.intp]:
    """Return the indices of the largest values; of equal ones the first."""
    if count == 0:
        return np.empty(0, dtype=np.intp)
    least = np.partition(values, -count)[-count]
    above = np.flatnonzero(values > least)
    return np.concatenate([above, np.flatnonzero(values == least)[: count - len(above)]])


def _checked(scores: ArrayLike, offsets: ArrayLike) -> tuple[Float, Float]:
    s, offset = (np.asarray(x, np.float64) for x in (scores, offsets))
    if s.ndim != 1 or not s.size or offset.ndim != 2 or len(offset) != len(s):
        raise MidpointError(
            f"scores {s.shape} and offsets {offset.shape} must be shaped (items,) and "
            "(items, categories), with at least one item"
        )
    for name, values in (("score", s), ("offset", offset)):
        fine = np.isfinite(values)
        if not fine.all():
            raise MidpointError(
                f"the {name} of item {np.argwhere(~fine)[0, 0]} is not a finite number; "
                "check the profile it was computed from"
            )
    return s, offset
