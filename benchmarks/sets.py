"""Sets beside implicit: lists of new people, the time of an iteration, and of folding in.

MovieLens 1M as sets (`--liked`), folds of people. Both factorize the training people's sets and
fold new people in from 70 % of theirs; the rest is looked for among all other items. implicit is
given the best of a small grid by the very lists that are reported, in its favour; Midpoint chooses
on its training people. One thread each, times are of the processor, the best of several.
"""

import argparse
from collections.abc import Callable
from itertools import product
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from measure import conditions, show, write_results
from midpoint.analyst import Factorizer, estimate_profiles
from midpoint.analyst.fit.sets import Setting, factorize
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.data import Ratings, as_sets, hold_out, load, split_ratings, user_folds

SEED, REPEATS, ITERATIONS = 0, 5, 15
ALPHAS, RIDGES = (2.0, 3.0, 5.0, 9.0), (1.0, 10.0, 30.0)
"""implicit's confidence of an item in a set, and its regularization."""

Float = NDArray[np.floating]


def matrix(ratings: Ratings) -> Any:
    """Lay sets out as implicit wants them."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    ones = np.ones(len(ratings), np.float32)
    shape = ratings.n_users, ratings.n_items
    return csr_matrix((ones, (ratings.user, ratings.item)), shape=shape)


def als(dimension: int, alpha: float, ridge: float, iterations: int, *, cg: bool) -> Any:
    """Make implicit's model, on one thread."""
    from implicit.cpu.als import AlternatingLeastSquares  # noqa: PLC0415 - peers may be missing

    return AlternatingLeastSquares(
        factors=dimension,
        alpha=alpha,
        regularization=ridge,
        iterations=iterations,
        use_cg=cg,
        num_threads=1,
        random_state=SEED,
    )


def ndcg(x: Float, vectors: Float, given: Ratings, hidden: Ratings) -> float:
    """Return the mean NDCG@10 of lists by factors."""
    sets = [Sets(part.user_offsets, part.item) for part in (given, hidden)]
    scores = rank_people(
        lambda some: x[some].astype(np.float64) @ vectors.T.astype(np.float64),
        sets[0],
        sets[1],
        given.n_items,
    )
    return float(np.nanmean(scores.ndcg))


def lists(training: Ratings, given: Ratings, hidden: Ratings) -> dict[str, float]:
    """Return each library's NDCG@10 for new people."""
    profiles = Factorizer().fit(training)
    x = estimate_profiles(profiles, given.user_offsets, given.item, given.value)
    best_lists = {"Midpoint": ndcg(x, profiles.vectors, given, hidden)}
    dimension, rows, new = profiles.dimension, matrix(training), matrix(given)
    for cg in (True, False):
        best = 0.0
        for alpha, ridge in product(ALPHAS, RIDGES):
            model = als(dimension, alpha, ridge, ITERATIONS, cg=cg)
            model.fit(rows, show_progress=False)
            users = model.recalculate_user(np.arange(given.n_users), new)
            best = max(best, ndcg(users, model.item_factors, given, hidden))
        best_lists[f"implicit ALS, {'conjugate gradients' if cg else 'Cholesky'}"] = best
    return best_lists


def best_time(work: Callable[[], Any]) -> float:
    """Return the least processor time of several runs."""
    times = []
    for _ in range(REPEATS):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def iteration_times(training: Ratings, dimension: int) -> dict[str, float]:
    """Return seconds of an iteration: of ten less five, so that what comes once is left out."""
    setting, rows = Setting(2.0, 0.1, dimension), matrix(training)
    makers: dict[str, Callable[[int], Any]] = {
        "Midpoint": lambda n: factorize(training, setting, n, SEED, threads=1),
        "implicit ALS, conjugate gradients": lambda n: als(dimension, 3.0, 10.0, n, cg=True).fit(
            rows, show_progress=False
        ),
        "implicit ALS, Cholesky": lambda n: als(dimension, 3.0, 10.0, n, cg=False).fit(
            rows, show_progress=False
        ),
    }
    times = dict[str, float]()
    for name, make in makers.items():
        make(1)
        short, long = (best_time(lambda n=n, make=make: make(n)) for n in (2, 7))  # type: ignore[misc]
        times[name] = (long - short) / 5
    return times


def fold_in_times(training: Ratings, given: Ratings, dimension: int) -> dict[str, float]:
    """Return microseconds for each person of a batch."""
    profiles = Factorizer(dimension=dimension, iterations=2, regularization=0.1).fit(training)
    model = als(dimension, 3.0, 10.0, 1, cg=False)
    model.fit(matrix(training), show_progress=False)
    everyone, new = np.arange(given.n_users), matrix(given)
    rows = given.user_offsets, given.item, given.value
    seconds = {
        "Midpoint": best_time(lambda: estimate_profiles(profiles, *rows, threads=1)),
        "implicit ALS, Cholesky": best_time(lambda: model.recalculate_user(everyone, new)),
    }
    return {name: 1e6 * time / given.n_users for name, time in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", default="movielens-1m", help="name or path")
    parser.add_argument("--liked", type=float, default=4.0)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--only", type=int, help="so many of the folds; nothing is kept then")
    parser.add_argument("--dimension", type=int, default=40, help="of what is timed")
    chosen = parser.parse_args()
    start = conditions()
    ratings = as_sets(load(chosen.source), chosen.liked)
    fold = user_folds(ratings.n_users, chosen.folds, seed=SEED)
    quality = list[dict[str, float]]()
    for k in range(chosen.only or chosen.folds):
        training, held_out = hold_out(ratings, fold, k)
        given, hidden = split_ratings(held_out, 0.7, seed=SEED)
        quality.append(lists(training, given, hidden))
    iteration = iteration_times(training, chosen.dimension)
    folding = fold_in_times(training, given, chosen.dimension)
    rows = [
        [
            name,
            f"{np.mean([one[name] for one in quality]):.4f}",
            f"{iteration[name]:.3f} s",
            f"{iteration[name] / iteration['Midpoint']:.1f}",
            f"{folding[name]:.1f} us" if name in folding else "-",
        ]
        for name in quality[0]
    ]
    show(
        f"{ratings.name}, {len(quality)} of {chosen.folds} folds of people",
        ("", "NDCG@10", "an iteration", "times Midpoint's", "folding in one of a batch"),
        rows,
    )
    if chosen.only is None:
        kept = {"conditions": start, "lists": quality, "iteration": iteration, "fold_in": folding}
        Console(stderr=True).print(f"Figures are in {write_results('sets', kept)}")


if __name__ == "__main__":
    main()
