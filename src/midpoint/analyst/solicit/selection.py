"""Which items to ask a person about, so that her profile is known best (Sec. 6.2 and 6.3)."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from midpoint.analyst.fit.information import SINGULAR, a_criterion, symmetric_inverse
from midpoint.analyst.solicit.bound import lower_bound
from midpoint.analyst.solicit.search import independent_start, search
from midpoint.errors import MidpointError

Float = NDArray[np.float64]
Method = Literal["greedy", "random", "most-rated"]


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """Items to ask about, and how far from the best choice they can be at most."""

    items: NDArray[np.intp]
    """Their indices among the item profiles, ascending. Shape (B,), or all that may be asked."""
    loss: float
    """tr[(A0 + sum p_j v_j v_j^T)^-1]; times sigma^2 it is the expected squared error (Sec. 5)."""
    bound: float
    """No choice of as many items has a smaller loss; 0 where no certificate was asked for."""

    def __repr__(self) -> str:
        """Say how good it is, in one line."""
        return f"<Selection: {len(self.items)} items, loss {self.loss:.4g}, gap {self.gap:.2%}>"

    @property
    def gap(self) -> float:
        """Return by what share the loss is above that of the best choice, at most."""
        return self.loss / self.bound - 1 if self.bound > 0 else float("inf")


def select(
    vectors: ArrayLike,
    budget: int,
    *,
    start: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
    method: Method = "greedy",
    seed: int = 0,
    certified: bool = True,
    promising: int | None = None,
) -> Selection:
    """Choose the items S that minimize tr[(A0 + sum_S p_j v_j v_j^T)^-1], |S| <= budget.

    A0 = start + prior. Greedy steps and exchanges find a set; the convex relaxation says how far
    from the best it can be (A-optimality is not submodular: there is no 1 - 1/e to rely on). With
    weights the information is the expected one; by convexity the expected loss is not below it.

    Args:
        vectors: item profiles v_j. Shape (M, D).
        budget: how many items to ask about, B.
        start: sum of v_j v_j^T over the answers already given (Sec. 6.3). Shape (D, D).
        prior: precision of the profiles in units of the noise: sigma^2 times the inverse of their
            covariance. Without it, items and start must determine all D directions. Shape (D, D).
        weights: probability p_j that a person can rate the item; 0 is never asked. Shape (M,).
        candidates: which items may be asked; the informative ones not asked before. Shape (M,).
        method: "greedy", or as baselines "random" and "most-rated" (largest weights).
        seed: for the random choice.
        certified: work out the bound, which takes longer than the choice.
        promising: how many items the greedy choice looks at, those that say most by themselves:
            the search looks at each many times. All unless given; A0 must be regular.
    """
    V = _finite("vectors", vectors, None)
    base = _information("start", start, V) + _information("prior", prior, V)
    p = None if weights is None else _probabilities(weights, len(V))
    allowed = _allowed(candidates, p, len(V))
    _check_choice(budget, allowed, method)
    U = V[allowed] if p is None else V[allowed] * np.sqrt(p[allowed])[:, None]
    count = min(budget, len(allowed))
    if method == "greedy" and promising is not None and promising < len(allowed):
        rows = _promising(U, base, max(promising, count))
        chosen = rows[_choose(U[rows], base, count, None, method, seed)]
    else:
        chosen = _choose(U, base, count, None if p is None else p[allowed], method, seed)
    loss = a_criterion(base + U[chosen].T @ U[chosen])
    bound = min(lower_bound(U, base, count), loss) if certified else 0.0
    return Selection(allowed[chosen], loss, bound)


def _promising(U: Float, base: Float, most: int) -> NDArray[np.intp]:
    """Return the rows that say most by themselves, ascending.

    That is by how much each lowers tr B: c / (1 + a), as in the first step of the search.
    """
    moved = U @ symmetric_inverse(base)
    influence = np.einsum("md,md->m", moved, moved)
    gain = influence / (1 + np.einsum("md,md->m", moved, U))
    return np.sort(np.argpartition(gain, -most)[-most:])


def _choose(
    U: Float, base: Float, count: int, weights: Float | None, method: Method, seed: int
) -> NDArray[np.intp]:
    """Choose rows of U by the method, ascending; refuse where every choice is singular."""
    if count < len(U) and method == "greedy":
        return search(U, base, count)
    independent_start(U, base, count)
    if count == len(U):
        return np.arange(count)
    if method == "random":
        return np.sort(np.random.default_rng(seed).choice(len(U), count, replace=False))
    if weights is None:
        raise MidpointError(
            "the most-rated items cannot be known without weights; give how likely each is rated"
        )
    return np.sort(np.argsort(-weights, kind="stable")[:count])


def _information(name: str, matrix: ArrayLike | None, V: Float) -> Float:
    """Return a symmetric matrix without negative eigenvalues; zero where there is none."""
    d = V.shape[1]
    if matrix is None:
        return np.zeros((d, d))
    A = _finite(name, matrix, (d, d))
    size = float(np.abs(A).max())
    if not np.allclose(A, A.T, rtol=0, atol=1e-6 * size):
        raise MidpointError(
            f"{name} is not symmetric; give a sum of v v^T, or an inverse covariance"
        )
    A = (A + A.T) / 2
    if np.linalg.eigvalsh(A)[0] < -SINGULAR * size * d:
        raise MidpointError(f"{name} has a negative eigenvalue, which no information matrix has")
    return A


def _probabilities(weights: ArrayLike, n: int) -> Float:
    p = _finite("weights", weights, (n,))
    if p.min() < 0 or p.max() > 1:
        wrong = int(np.argmax((p < 0) | (p > 1)))
        raise MidpointError(f"weight {p[wrong]} of item {wrong} is not a probability (0 to 1)")
    return p


def _allowed(candidates: ArrayLike | None, p: Float | None, n: int) -> NDArray[np.intp]:
    mask = np.ones(n, dtype=np.bool_) if candidates is None else np.asarray(candidates)
    if mask.dtype != np.bool_ or mask.shape != (n,):
        raise MidpointError(f"candidates must be {n} values, true or false: one for each item")
    return np.flatnonzero(mask if p is None else mask & (p > 0))


def _check_choice(budget: int, allowed: NDArray[np.intp], method: str) -> None:
    if budget < 1:
        raise MidpointError(f"a budget of {budget} items asks nothing; give at least 1")
    if len(allowed) == 0:
        raise MidpointError("no item may be asked about; allow some candidates of positive weight")
    if method not in get_args(Method):
        known = ", ".join(get_args(Method))
        raise MidpointError(f"method {method!r} is not known; use one of {known}")


def _finite(name: str, values: ArrayLike, shape: tuple[int, ...] | None) -> Float:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 if shape is None else array.shape != shape:
        raise MidpointError(f"{name} has shape {array.shape}, not {shape or '(items, dimension)'}")
    if array.size == 0 or not np.isfinite(array).all():
        raise MidpointError(f"{name} must be finite numbers, at least one")
    return array
