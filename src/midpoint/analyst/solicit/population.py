"""What to ask many people at once, each by what she answered so far: the greedy steps alone."""

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]


def choose_items(vectors: Float, weights: Float, base: Float, open_: Mask, budget: int) -> Mask:
    """Choose for each person, one by one, the items that lower tr(A^-1) most (Sec. 6.2 and 6.3).

    The greedy steps of `solicit.search` for everyone at once. With u = A^-1 v of the item
    taken and s = 1 + v' u, every other item's a = v_j' A^-1 v_j and c = v_j' A^-2 v_j become

        a - (v_j' u)^2 / s   and   c - 2 (v_j' u)(v_j' A^-1 u) / s + (v_j' u)^2 |u|^2 / s^2,

    and the best is the one of the greatest c / (1 + a).

    Args:
        vectors: Item profiles v_j. Shape (C, D).
        weights: Probability that a person can rate the item. Shape (C,).
        base: What is known of each person's profile, prior included; regular. Shape (N, D, D).
        open_: Which items may be asked of whom. Shape (N, C).
        budget: Items to choose, or all that are open.

    Returns:
        Which items to ask whom. Shape (N, C).
    """
    V = vectors * np.sqrt(weights)[:, None]
    B = np.linalg.inv(base)
    moved = V @ B
    a, c = np.einsum("ncd,cd->nc", moved, V), np.einsum("ncd,ncd->nc", moved, moved)
    chosen, left, person = np.zeros_like(open_), open_ & (weights > 0), np.arange(len(open_))
    for _ in range(budget):
        gain = np.where(left, c / (1 + a), -1.0)
        item = gain.argmax(axis=1)
        some = left[person, item]  # false where nothing is left to ask
        if not some.any():
            break
        chosen[person[some], item[some]], left[person[some], item[some]] = True, False
        u = np.where(some[:, None], np.einsum("nde,ne->nd", B, V[item]), 0.0)
        s = 1 + a[person, item]
        along, twice = u @ V.T, np.einsum("nde,ne->nd", B, u) @ V.T
        square = np.square(along)
        length = np.square(u).sum(axis=1) / s**2
        c += square * length[:, None] - 2 * along * twice / s[:, None]
        a -= square / s[:, None]
        B -= u[:, :, None] * u[:, None, :] / s[:, None, None]
    return chosen


def information_of(vectors: Float, answered: Mask, prior: Float) -> Float:
    """Return prior + sum over answered items of v_j v_j' for each person. Shape (N, D, D).

    The prior is one for all, or one for each person.
    """
    D = vectors.shape[1]
    products = (vectors[:, :, None] * vectors[:, None, :]).reshape(len(vectors), D * D)
    return (answered.astype(np.float64) @ products).reshape(-1, D, D) + prior
