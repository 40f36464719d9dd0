"""Many small ridge regressions at once: the step that factorization and new users share."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from midpoint.analyst.kernels.compilation import usable_cores
from midpoint.analyst.kernels.gram import padded_width
from midpoint.analyst.kernels.normal_equations import Floats, Problem, Solutions, solve_block
from midpoint.analyst.kernels.simd import WIDTH

WORTH_A_THREAD: Final = 2_000_000
"""Multiplications that take about as long as it takes to start a thread."""
BLOCKS: Final = 32
"""Parts the rows are cut into, however many threads there are: sums do not depend on them."""


class Posterior(NamedTuple):
    """What ratings say of each row, under a normal prior; R rows."""

    profile: Floats
    """Posterior means. Shape (R, d)."""
    variance: Floats
    """Posterior variance of coordinate 0, and mean one of the latent ones. Shape (R, 2)."""
    covariance: NDArray[np.float64]
    """Mean posterior covariance of the rows that have ratings. Shape (d, d)."""


def solve_rows(
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    target: Floats,
    vectors: Floats,
    *,
    level: Floats | None = None,
    ridge: float | NDArray[np.float64] = 0.0,
    ridge_per_rating: float = 0.0,
    threads: int | None = None,
) -> Floats:
    """Fit every row's profile to its ratings by ridge regression.

    With the ratings t of row i, n_i in number, j = index[t] and v_j = vectors[j]:

        x_i = argmin  Σ_t (target_t - level_j - <x, v_j>)² + x' ridge x + n_i ridge_per_rating |x|²

    A number as `ridge` stands for that multiple of the identity. A coordinate that ratings and
    ridge leave undetermined (to float32 precision, in the order of the coordinates) is 0, so the
    answer is always finite; it is a solution then, but not the one of least norm.

    Args:
        offsets: Row i has the ratings `offsets[i]:offsets[i + 1]`. Shape (rows + 1,).
        index: Which vector each rating belongs to. Shape (ratings,).
        target: What to fit. Shape (ratings,).
        vectors: Shape (vectors, d).
        level: What is known of a rating from its vector alone. Shape (vectors,).
        ridge: A number, or a symmetric positive semi-definite matrix of shape (d, d).
        ridge_per_rating: Weighted regularization, the same for every coordinate.
        threads: All usable cores unless given. The result does not depend on it.

    Returns:
        The profiles, shape (rows, d).
    """
    d = vectors.shape[1]
    problem = _problem(
        offsets,
        index,
        target,
        vectors,
        level=np.zeros(len(vectors)) if level is None else level,
        ridge=ridge * np.eye(d) if np.ndim(ridge) == 0 else np.asarray(ridge),
        pull=np.zeros(d),
        vector_ridge=np.full(len(vectors), ridge_per_rating),
        latent=(0, d),
    )
    solutions = Solutions(np.empty((len(offsets) - 1, d), np.float32), np.empty((0, 2), np.float32))
    _solve(problem, solutions, threads)
    return solutions.profile


def posterior_rows(
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    target: Floats,
    vectors: Floats,
    *,
    level: Floats,
    vector_variance: Floats,
    latent: tuple[int, int],
    prior: tuple[NDArray[np.float64], NDArray[np.float64]],
    noise: float,
    threads: int | None = None,
) -> Posterior:
    """Infer every row's profile from its ratings under a normal prior, given uncertain vectors.

    The posterior of row i is normal, with

        covariance S_i = (C^-1 + Σ_t (v_j v_j' + vector_variance_j I) / noise)^-1
        mean       S_i (C^-1 m + Σ_t (target_t - level_j) v_j / noise)

    where I has ones in the latent coordinates only: the mean-field update for vectors that are
    known up to that variance.

    Args:
        offsets: Row i has the ratings `offsets[i]:offsets[i + 1]`. Shape (rows + 1,).
        index: Which vector each rating belongs to. Shape (ratings,).
        target: The ratings. Shape (ratings,).
        vectors: Shape (vectors, d).
        level: What is known of a rating from its vector alone. Shape (vectors,).
        vector_variance: How uncertain the latent entries of each vector are. Shape (vectors,).
        latent: The first coordinate that is uncertain, and the one after the last.
        prior: Mean m, of all rows or of each, shape (d,) or (rows, d), and covariance C of a row,
            shape (d, d).
        noise: Variance of a rating.
        threads: All usable cores unless given. The result does not depend on it.
    """
    mean, covariance = prior
    precision = np.asarray(noise * np.linalg.inv(covariance), np.float64)
    problem = _problem(
        offsets,
        index,
        target,
        vectors,
        level=level,
        ridge=precision,
        pull=(precision @ mean.T).T,
        vector_ridge=vector_variance,
        latent=latent,
    )
    rows = len(offsets) - 1
    solutions = Solutions(
        np.empty((rows, problem.dimension), np.float32), np.empty((rows, 2), np.float32)
    )
    inverse = _solve(problem, solutions, threads)
    rated = max(int((np.diff(offsets) > 0).sum()), 1)
    return Posterior(
        solutions.profile, np.float32(noise) * solutions.variance, noise / rated * inverse
    )


def _solve(problem: Problem, solutions: Solutions, threads: int | None) -> NDArray[np.float64]:
    """Solve all rows and return the sum of their inverses, if variances are wanted, else zeros."""
    d = problem.dimension
    work = _work(problem)
    blocks = blocks_of_rows(work)
    inverses = np.zeros((len(blocks), d, d))
    threads = worth_threads(work, threads)
    largest_first = sorted(
        range(len(blocks)), key=lambda b: int(work[blocks[b][0]] - work[blocks[b][1]])
    )
    waiting = iter(largest_first)

    def solve_blocks() -> None:
        for b in waiting:
            solve_block(problem, *blocks[b], solutions, inverses[b])

    if threads == 1:
        solve_blocks()
    else:
        with ThreadPoolExecutor(threads - 1) as pool:
            helpers = [pool.submit(solve_blocks) for _ in range(threads - 1)]
            solve_blocks()
        for helper in helpers:
            helper.result()
    total: NDArray[np.float64] = inverses.sum(axis=0)
    return total + np.tril(total, -1).T


def _problem(
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    target: Floats,
    vectors: Floats,
    *,
    level: NDArray[Any],
    ridge: NDArray[np.float64],
    pull: NDArray[np.float64],
    vector_ridge: NDArray[Any],
    latent: tuple[int, int],
) -> Problem:
    """Check everything and bring it into the kernels' layout."""
    check_rows(offsets, index, target, vectors)
    d = vectors.shape[1]
    if ridge.shape != (d, d):
        raise ValueError(f"ridge must be a number or of shape {(d, d)}: got {ridge.shape}")
    if pull.shape not in {(d,), (len(offsets) - 1, d)}:
        raise ValueError(f"there must be one prior mean, or one for each row: got {pull.shape}")
    if not len(level) == len(vector_ridge) == len(vectors):
        raise ValueError(f"there must be a level and a ridge for each of {len(vectors)} vectors")
    if len(index) < len(vectors):  # a few ratings: copy only the vectors they need
        vectors, level, vector_ridge = vectors[index], level[index], vector_ridge[index]
        index = np.arange(len(index), dtype=np.int32)
    width = padded_width(d)
    padded = np.zeros((len(vectors), width), np.float32)
    padded[:, :d], padded[:, d], padded[:, d + 1] = vectors, level, vector_ridge
    return Problem(
        offsets=flat(offsets, np.int64),
        vector_of=flat(index, np.int32),
        target=flat(target, np.float32),
        vectors=flat(padded, np.float32),
        width=width,
        dimension=d,
        first=latent[0],
        last=latent[1],
        ridge=flat(ridge, np.float32),
        pull=flat(pull, np.float32),
    )


def check_rows(
    offsets: NDArray[np.int64], index: NDArray[np.int32], target: Floats, vectors: Floats
) -> None:
    """Refuse what would make compiled code read beyond its arrays."""
    if index.ndim != 1 or index.shape != target.shape:
        raise ValueError(f"index {index.shape} and target {target.shape} must be equally long")
    steps = offsets[1:] < offsets[:-1]
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(index) or steps.any():
        raise ValueError("offsets must rise from 0 to the number of ratings")
    if len(index) and not 0 <= index.min() <= index.max() < len(vectors):
        raise ValueError(f"an index lies outside the {len(vectors)} vectors")


def flat(array: NDArray[Any], kind: DTypeLike) -> NDArray[Any]:
    """Return a flat read-only view, the one kind of array the kernels are compiled for."""
    view = np.ascontiguousarray(array, kind).reshape(-1).view()
    view.flags.writeable = False
    return view


def _work(problem: Problem) -> NDArray[np.int64]:
    """Return how many multiplications the rows before each one take. Shape (rows + 1,)."""
    d = problem.dimension
    rows = np.arange(len(problem.offsets))
    return problem.offsets * (d * (d + 3) // 2) + rows * (d * (d + 1) * (d + 8) // 6)


def worth_threads(work: NDArray[np.int64], threads: int | None) -> int:
    """Return how many threads so much work is worth, `threads` at most."""
    return min(threads or usable_cores(), 1 + int(work[-1]) // WORTH_A_THREAD)


def blocks_of_rows(work: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut the rows into about `BLOCKS` ranges of like work."""
    cuts = np.searchsorted(work, np.linspace(0, work[-1], BLOCKS + 1)[1:-1]) // WIDTH * WIDTH
    return list(pairwise(np.unique([0, *cuts.tolist(), len(work) - 1]).tolist()))
