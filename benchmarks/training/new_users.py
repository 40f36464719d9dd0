"""Profile people who were not there at training: RMSE, and the time one profile takes.

Ten folds of the users whose gender is known; the held-out ones are profiled by 70% of their
ratings, the other 30% are predicted; d = 20, no obfuscation. Beside it LensKit on the same folds,
and the time that implicit takes for a profile (its loss is another, so it has no RMSE).
"""

import argparse
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from benchmarks.measuring.measure import (
    conditions,
    options,
    show,
    summary,
    timed,
    warn_if_busy,
    write_results,
)
from benchmarks.peers.columns import Columns, rmse
from benchmarks.peers.libraries import PEERS
from benchmarks.peers.ours import factorizer, predict_new_users, profile_new_users
from midpoint.data import Ratings, hold_out, load, split_ratings, user_folds, with_known

BAR = 0.852
SEED = 0
REPEATS = 7


class Exam(NamedTuple):
    """One fold."""

    training: Ratings
    """Whom to learn items from."""
    given: Ratings
    """What to profile the held-out users by."""
    hidden: Ratings
    """What to predict of them."""


def exams(ratings: Ratings, folds: int) -> Iterator[Exam]:
    """Go through the folds of users."""
    fold = user_folds(ratings.n_users, folds, seed=SEED)
    for k in range(folds):
        training, held_out = hold_out(ratings, fold, k)
        yield Exam(training, *split_ratings(held_out, 0.7, seed=SEED))


def examine_midpoint(exam: Exam, iterations: int) -> dict[str, float]:
    """Return Midpoint's error, and microseconds a profile: one by one, and in one call."""
    profiles = factorizer(iterations).fit(exam.training)
    given = exam.given
    users = profile_new_users(profiles, given)
    persons = [given.select_users(np.array([user])) for user in range(given.n_users)]
    return {
        "rmse": rmse(predict_new_users(profiles, users, exam.hidden), exam.hidden.value),
        "one_by_one": _microseconds(
            lambda: [profile_new_users(profiles, person, threads=1) for person in persons],
            given.n_users,
        ),
        "in_one_call": _microseconds(
            lambda: profile_new_users(profiles, given, threads=1), given.n_users
        ),
    }


def examine_lenskit(exam: Exam) -> dict[str, float]:
    """Return LensKit's error, and microseconds a profile."""
    from lenskit.data import ItemList  # noqa: PLC0415 - peers may be missing

    peer = PEERS["lenskit-best"]
    model = peer.fit(peer.build(_columns(exam.training)))
    given, hidden = exam.given, exam.hidden
    persons = [
        ItemList(item_ids=given.item[rows], rating=given.value[rows])
        for rows in map(given.of_user, range(given.n_users))
    ]
    embeddings = [model.new_user_embedding(None, person) for person in persons]
    vectors = np.stack([vector for vector, _ in embeddings])
    biases = np.array([bias or 0.0 for _, bias in embeddings])
    rows = model.items.numbers(hidden.item, missing="negative")
    predicted = (
        model.bias.global_bias
        + biases[hidden.user]
        + (rows >= 0) * model.bias.item_biases[rows]
        + (rows >= 0) * np.einsum("nd,nd->n", vectors[hidden.user], model.item_embeddings[rows])
    )
    return {
        "rmse": rmse(np.asarray(hidden.scale.clip(predicted)), hidden.value),
        "one_by_one": _microseconds(
            lambda: [model.new_user_embedding(None, person) for person in persons], given.n_users
        ),
    }


def examine_implicit(exam: Exam) -> dict[str, float]:
    """Return implicit's microseconds a profile, on one thread like the others."""
    from implicit.als import AlternatingLeastSquares  # noqa: PLC0415 - peers may be missing
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    training, given = exam.training, exam.given
    matrix = csr_matrix((training.value, (training.user, training.item)))
    asked = csr_matrix(
        (given.value, (given.user, given.item)), shape=(given.n_users, training.n_items)
    )
    with import_module("threadpoolctl").threadpool_limits(1, "blas"):
        model = AlternatingLeastSquares(factors=20, iterations=5, random_state=0, num_threads=1)
        model.fit(matrix, show_progress=False)
        persons = [asked[user] for user in range(given.n_users)]
        numbers = np.arange(given.n_users)
        return {
            "one_by_one": _microseconds(
                lambda: [model.recalculate_user(k, row) for k, row in enumerate(persons)],
                given.n_users,
            ),
            "in_one_call": _microseconds(
                lambda: model.recalculate_user(numbers, asked), given.n_users
            ),
        }


def _microseconds(work: Callable[[], Any], users: int) -> float:
    work()
    return summary([timed(work)[1] for _ in range(REPEATS)])["best"] / users * 1e6


def _columns(ratings: Ratings) -> Columns:
    return Columns(ratings.user, ratings.item, ratings.value)


def _row(
    name: str, results: list[dict[str, float]], reference: list[dict[str, float]]
) -> list[str]:
    """Ratios to the reference; mean error over the folds, best time over the folds."""
    ratios, cells = list[str](), list[str]()
    errors = [result["rmse"] for result in results if "rmse" in result]
    ours = np.mean([result["rmse"] for result in reference])
    ratios.append(f"{np.mean(errors) / ours:.3f}" if errors else "-")
    cells.append(f"{np.mean(errors):.4f} ± {np.std(errors):.4f}" if errors else "-")
    for key in ("one_by_one", "in_one_call"):
        times = [result[key] for result in results if key in result]
        least = min(result[key] for result in reference)
        ratios.append(f"{min(times) / least:.2f}" if times else "-")
        cells.append(f"{min(times):.1f}" if times else "-")
    return [name, *ratios, *cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", default="movielens-1m", help="name or path of ratings")
    parser.add_argument("--feature", default="gender", help="keep users of whom this is known")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--no-peers", action="store_true", help="Midpoint alone")
    chosen = options(parser, source="movielens-100k", folds=2, iterations=3)
    console = Console(stderr=True)
    warn_if_busy(console)
    start = conditions()
    ratings = with_known(load(chosen.source), chosen.feature)
    results: dict[str, list[dict[str, float]]] = {"Midpoint": []}
    for k, exam in enumerate(exams(ratings, chosen.folds)):
        console.print(f"fold {k + 1} of {chosen.folds} ...")
        results["Midpoint"].append(examine_midpoint(exam, chosen.iterations))
        if not chosen.no_peers:
            results.setdefault("LensKit", []).append(examine_lenskit(exam))
            if k == 0:
                results["implicit (another loss)"] = [examine_implicit(exam)]
    head = (
        *("new users", "RMSE, ratio", "one by one, ratio", "in one call, ratio"),
        *("RMSE", "µs a profile, one by one", "µs a profile, in one call"),
    )
    rows = [_row(*entry, results["Midpoint"]) for entry in results.items()]
    show(f"{ratings.name}, one thread; ratios to Midpoint", head, rows)
    error = float(np.mean([result["rmse"] for result in results["Midpoint"]]))
    print(f"\nRMSE {error:.4f}, to be at most {BAR}: {'yes' if error <= BAR else 'NO'}")
    if not chosen.no_peers:
        kept = {"conditions": start, "source": ratings.name, "bar": BAR, "folds": results}
        console.print(f"Figures are in {write_results('new_users', kept)}")


if __name__ == "__main__":
    main()
