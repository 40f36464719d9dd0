"""Other recommenders beside Midpoint: their items as item profiles, and they on a protected copy.

Two tables. In the first, item factors that another library learned are used instead of Midpoint's
own (`GivenFactors`); people who were not there are profiled by 70 % of their ratings, the others
are predicted. In the second, a library is trained on raw ratings and on a copy of them from which
the feature was taken out; hidden raw ratings are predicted and ranked. All at 20 factors, at
defaults or nearly so; nothing was tuned.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.measuring.measure import (
    ROOT,
    conditions,
    options,
    show,
    warn_if_busy,
    write_results,
)
from benchmarks.peers.columns import rmse
from midpoint import Analyst, obfuscate
from midpoint.analyst import (
    Factorizer,
    GivenFactors,
    ItemProfiles,
    estimate_profiles,
    predict,
)
from midpoint.data import (
    Ratings,
    hold_out,
    load,
    split_ratings,
    user_folds,
    with_known,
    write_atomic,
)

DIMENSION = 20
SEED = 0
TOP = 10
"""Ranks that NDCG looks at."""
LIKED = 4.0
"""Hidden ratings from here on are what a list should hold."""
SCHEME = "dmpss"
"""What the copy is protected by."""


class Fitted(NamedTuple):
    """A library's model, its items' names, and what it makes of everyone it was trained on."""

    model: Any
    item_ids: list[str] | None
    """Names of its rows, where it only numbers them."""
    scores: NDArray[np.floating]
    """Its score of every item for every person. Shape (users, items)."""


def fit_implicit(ratings: Ratings, kind: str) -> Fitted:
    """Fit a model of implicit; ratings are its confidence."""
    from implicit.als import AlternatingLeastSquares  # noqa: PLC0415 - peers may be missing
    from implicit.bpr import BayesianPersonalizedRanking  # noqa: PLC0415
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    shape = ratings.n_users, ratings.n_items
    matrix = csr_matrix((ratings.value, (ratings.user, ratings.item)), shape=shape)
    maker = {"ALS": AlternatingLeastSquares, "BPR": BayesianPersonalizedRanking}[kind]
    model = maker(factors=DIMENSION, random_state=SEED, num_threads=1)
    model.fit(matrix, show_progress=False)
    scores = model.user_factors @ model.item_factors.T
    return Fitted(model, ratings.item_ids.tolist(), scores)


def fit_cornac(ratings: Ratings, kind: str) -> Fitted:
    """Fit a model of Cornac."""
    from cornac.data import Dataset  # noqa: PLC0415 - peers may be missing
    from cornac.models import MF, PMF  # noqa: PLC0415

    columns = ratings.user, ratings.item_ids[ratings.item], ratings.value
    data = Dataset.from_uir(list(zip(*(column.tolist() for column in columns), strict=True)))
    settings = {"max_iter": 30, "learning_rate": 0.01, "lambda_reg": 0.06}
    model = MF(DIMENSION, seed=SEED, **settings) if kind == "MF" else PMF(DIMENSION, seed=SEED)
    model.fit(data)
    scores = np.full((ratings.n_users, ratings.n_items), np.nan)
    rows, columns_of = np.unique(ratings.user), _index(ratings, list(model.iid_map))
    own = np.array([model.score(model.uid_map[int(user)]) for user in rows])
    order = np.array([model.iid_map[name] for name in model.iid_map])
    scores[np.ix_(rows, columns_of)] = own[:, order]
    return Fitted(model, None, scores)


def fit_lenskit(ratings: Ratings, kind: str) -> Fitted:
    """Fit a model of LensKit."""
    import pandas as pd  # noqa: PLC0415 - peers may be missing
    from lenskit.als import BiasedMFScorer, ImplicitMFScorer  # noqa: PLC0415
    from lenskit.data import from_interactions_df  # noqa: PLC0415

    columns = ratings.user, ratings.item_ids[ratings.item], ratings.value
    names = ("user_id", "item_id", "rating")
    data = from_interactions_df(pd.DataFrame(dict(zip(names, columns, strict=True))))
    maker = {"BiasedMF": BiasedMFScorer, "ImplicitMF": ImplicitMFScorer}[kind]
    model = maker(embedding_size=DIMENSION, epochs=15)
    model.train(data)
    rows = model.users.numbers(np.arange(ratings.n_users), missing="negative")
    own = np.asarray(model.user_embeddings)[rows] @ np.asarray(model.item_embeddings).T
    if kind == "BiasedMF":
        bias = model.bias
        own = own + bias.global_bias + bias.user_biases[rows][:, None] + bias.item_biases
    scores = np.full((ratings.n_users, ratings.n_items), np.nan)
    scores[:, _index(ratings, model.items.ids().tolist())] = np.where(rows[:, None] >= 0, own, 0)
    return Fitted(model, None, scores)


def fit_recbole(ratings: Ratings, kind: str, python: str) -> Fitted:
    """Fit a model of RecBole, which reads our atomic files in an environment of its own."""
    peer = ROOT / "benchmarks" / "peers" / "recbole_models.py"
    scores = np.full((ratings.n_users, ratings.n_items), np.nan)
    with tempfile.TemporaryDirectory() as scratch:
        out, data = Path(scratch) / "scores.npz", Path(scratch) / "ratings"
        write_atomic(ratings, data)
        command = [python, str(peer), kind, str(data), str(out)]
        subprocess.run(command, check=True, capture_output=True, cwd=scratch)
        with np.load(out) as made:
            users = {name: row for row, name in enumerate(ratings.user_ids.astype(str))}
            rows = np.array([users[name] for name in made["users"]])
            scores[np.ix_(rows, _index(ratings, made["items"].tolist()))] = made["scores"]
    return Fitted(None, None, scores)


def _index(ratings: Ratings, names: list[Any]) -> NDArray[np.intp]:
    where = {name: index for index, name in enumerate(ratings.item_ids.tolist())}
    return np.array([where[str(name)] for name in names])


Library = tuple[Callable[[Ratings, str], Fitted], str, bool]
LIBRARIES: dict[str, Library] = {
    "implicit ALS": (fit_implicit, "ALS", False),
    "implicit BPR": (fit_implicit, "BPR", False),
    "LensKit ImplicitMF": (fit_lenskit, "ImplicitMF", False),
    "LensKit BiasedMF": (fit_lenskit, "BiasedMF", True),
    "Cornac MF": (fit_cornac, "MF", True),
    "Cornac PMF": (fit_cornac, "PMF", False),
}
"""What fits each, its kind, and whether its scores are ratings."""
RECBOLE = ("ItemKNN", "EASE", "BPR")
"""Models of RecBole, none of which has item factors that Midpoint could use."""


def new_people(profiles: ItemProfiles, given: Ratings, hidden: Ratings) -> float:
    """Return the error for people who were not there, their category known to the device."""
    x = estimate_profiles(profiles, given.user_offsets, given.item, given.value)
    category = hidden.feature(profiles.feature).codes[hidden.user]
    added = profiles.offset[hidden.item, category]
    return rmse(predict(profiles, x, hidden.user, hidden.item, added), hidden.value)


def as_profiles(ratings: Ratings, feature: str, folds: int) -> Iterator[dict[str, float]]:
    """Go through folds of people; return each model's error for those held out."""
    fold = user_folds(ratings.n_users, folds, seed=SEED)
    for k in range(folds):
        training, held_out = hold_out(ratings, fold, k)
        given, hidden = split_ratings(held_out, 0.7, seed=SEED)
        errors = {"Midpoint": new_people(Factorizer().fit(training, feature), given, hidden)}
        for name, (fit, kind, _) in LIBRARIES.items():
            fitted = fit(training, kind)
            own = GivenFactors.of(fitted.model, fitted.item_ids).fit(training, feature)
            errors[name] = new_people(own, given, hidden)
        noise = np.random.default_rng(SEED).normal(size=(training.n_items, DIMENSION))
        control = GivenFactors.of(noise, training.item_ids).fit(training, feature)
        yield {**errors, "random numbers": new_people(control, given, hidden)}


def on_copies(
    ratings: Ratings, feature: str, libraries: Mapping[str, Library]
) -> dict[str, dict[str, float]]:
    """Train every library on raw ratings and on a protected copy; predict hidden raw ratings."""
    given, hidden = split_ratings(ratings, 0.8, seed=SEED)
    analyst = Analyst.train(given, feature, scheme=SCHEME, progress=False)
    copy = obfuscate(given, analyst, seed=SEED)
    table = dict[str, dict[str, float]]()
    for name, (fit, kind, rates) in libraries.items():
        table[name] = {}
        for which, trained in (("raw", given), ("copy", _same_rows(copy, given))):
            scores = fit(trained, kind).scores
            if rates:
                guess = np.where(np.isnan(scores), trained.value.mean(), scores)
                predicted = given.scale.clip(guess[hidden.user, hidden.item])
                table[name][f"rmse_{which}"] = rmse(np.asarray(predicted), hidden.value)
            table[name][f"ndcg_{which}"] = ndcg(scores, given, hidden)
    return table


def _same_rows(copy: Ratings, given: Ratings) -> Ratings:
    """See that people and items of the copy have the numbers that they have in the original."""
    same = np.array_equal(copy.user_ids, given.user_ids)
    if not (same and np.array_equal(copy.item_ids, given.item_ids)):
        raise SystemExit("people or items were dropped from the copy; keep those of known category")
    return copy


def ndcg(scores: NDArray[np.floating], given: Ratings, hidden: Ratings) -> float:
    """Return the mean NDCG of each person's list, of items that she did not rate in `given`."""
    ranked = np.where(np.isnan(scores), -np.inf, scores).astype(np.float64)
    ranked[given.user, given.item] = -np.inf
    liked = np.zeros(ranked.shape, np.bool_)
    good = hidden.value >= LIKED
    liked[hidden.user[good], hidden.item[good]] = True
    best = np.argsort(-ranked, axis=1)[:, :TOP]
    discount = 1 / np.log2(np.arange(2, TOP + 2))
    gain = np.take_along_axis(liked, best, axis=1) @ discount
    most = np.array([discount[: min(n, TOP)].sum() for n in liked.sum(axis=1)])
    return float((gain[most > 0] / most[most > 0]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", default="movielens-100k", help="name or path")
    parser.add_argument("--feature", default="gender")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--recbole", metavar="PYTHON", help="of an environment with RecBole")
    chosen = options(parser, folds=2)
    console = Console(stderr=True)
    warn_if_busy(console)
    start = conditions()
    ratings = with_known(load(chosen.source), chosen.feature)
    folds = list(as_profiles(ratings, chosen.feature, chosen.folds))
    errors = {name: [fold[name] for fold in folds] for name in folds[0]}
    rows = [[name, f"{np.mean(own):.4f}", f"{np.std(own):.4f}"] for name, own in errors.items()]
    show(
        f"{ratings.name}, {chosen.folds} folds of people: RMSE for new people",
        ("item factors from", "RMSE", "standard deviation over folds"),
        rows,
    )
    libraries = dict(LIBRARIES)
    if chosen.recbole:
        fit = partial(fit_recbole, python=chosen.recbole)
        libraries |= {f"RecBole {kind}": (fit, kind, False) for kind in RECBOLE}
    copies = on_copies(ratings, chosen.feature, libraries)
    names = ("rmse_raw", "rmse_copy", "ndcg_raw", "ndcg_copy")
    cells = [
        [name, *(f"{own[key]:.4f}" if key in own else "-" for key in names)]
        for name, own in copies.items()
    ]
    show(
        f"{ratings.name}, trained on raw ratings and on a copy protected by {SCHEME}",
        ("model", "RMSE, raw", "RMSE, copy", f"NDCG@{TOP}, raw", f"NDCG@{TOP}, copy"),
        cells,
    )
    kept = {"conditions": start, "source": ratings.name, "new_people": errors, "copies": copies}
    console.print(f"Figures are in {write_results('own_recommender', kept)}")


if __name__ == "__main__":
    main()
