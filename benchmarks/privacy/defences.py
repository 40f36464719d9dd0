"""Published defences as tools that change a table, each attacked through `audit --protected`.

A tool gets everybody's ratings and categories and writes tables, one for each draw of its coins.
The audit sees those tables and nothing else of the tool, as an auditor would. Midpoint's own copies
are made and attacked in the same way.
"""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.measuring.measure import conditions, options, or_quick, show, write_results
from benchmarks.privacy.privacy import figures
from midpoint import Analyst, audit, load, obfuscate
from midpoint.audit.run.protected import ProtectedCopies
from midpoint.data import Ratings, with_known
from midpoint.protocol import LearningProtocol

ATTACKS = or_quick(
    (
        *("lse", "nb", "lr", "adaptive-lr-mask", "adaptive-lr-items", "adaptive-lr-profile"),
        *("adaptive-trees-profile",),
    ),
    ("lr", "adaptive-lr-profile"),
)
DRAWS = 3
Table = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.floating]]
Tool = Callable[[Ratings, NDArray[np.integer], np.random.Generator], Table]


def randomized_response(
    ratings: Ratings, category: NDArray[np.integer], rng: np.random.Generator, *, epsilon: float
) -> Table:
    """Keep a rating with the odds that epsilon allows, else send another level (Warner 1965)."""
    del category
    levels = np.asarray(ratings.scale.levels)
    keep = np.exp(epsilon) / (np.exp(epsilon) + len(levels) - 1)
    level = np.searchsorted(levels, ratings.value)
    other = (level + rng.integers(1, len(levels), len(level))) % len(levels)
    sent = np.where(rng.random(len(level)) < keep, level, other)
    return ratings.user, ratings.item, levels[sent]


def laplace(
    ratings: Ratings, category: NDArray[np.integer], rng: np.random.Generator, *, epsilon: float
) -> Table:
    """Add Laplace noise to each rating, then round it to the scale (Dwork et al. 2006)."""
    del category
    levels = np.asarray(ratings.scale.levels)
    noisy = ratings.value + rng.laplace(0, (levels[-1] - levels[0]) / epsilon, len(ratings))
    return ratings.user, ratings.item, levels[np.abs(noisy[:, None] - levels).argmin(axis=1)]


def blur(
    ratings: Ratings,
    category: NDArray[np.integer],
    rng: np.random.Generator,
    *,
    share: float,
    removed: float = 0.0,
) -> Table:
    """Add titles that speak for the other category (BlurMe), and remove some that speak for hers.

    Titles are drawn by how clearly they speak, as in BlurMe's sampled strategy, and rated with
    their means. With `removed`, as many of her own titles go (BlurM(or)e).
    """
    speaks, mean = _speaks(ratings, category)
    users, items, values = [], [], []
    for user in range(ratings.n_users):
        own = ratings.of_user(user)
        item, value = ratings.item[own], ratings.value[own]
        sign = 1.0 if category[user] == 0 else -1.0
        foreign = np.flatnonzero(sign * speaks > 0)
        foreign = foreign[~np.isin(foreign, item)]
        wanted = min(round(share * len(item)), len(foreign))
        odds = np.abs(speaks[foreign]) / np.abs(speaks[foreign]).sum()
        added = rng.choice(foreign, wanted, replace=False, p=odds)
        hers = np.maximum(-sign * speaks[item], 0) + 1e-9
        gone = rng.choice(len(item), round(removed * len(item)), replace=False, p=hers / hers.sum())
        kept = ~np.isin(np.arange(len(item)), gone)
        items.append(np.concatenate([item[kept], added]))
        values.append(np.concatenate([value[kept], mean[added]]))
        users.append(np.full(len(items[-1]), user))
    return np.concatenate(users), np.concatenate(items), np.concatenate(values)


def _speaks(
    ratings: Ratings, category: NDArray[np.integer]
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return what a logistic regression says each title speaks for, and its mean, as a level."""
    from scipy import sparse  # noqa: PLC0415
    from sklearn.linear_model import (  # type: ignore[import-untyped]  # noqa: PLC0415
        LogisticRegression,
    )

    shape = ratings.n_users, ratings.n_items
    table = sparse.csr_matrix((ratings.value, (ratings.user, ratings.item)), shape=shape)
    weight = LogisticRegression(C=0.01, max_iter=500).fit(table, category).coef_[0]
    mean = np.bincount(ratings.item, ratings.value) / np.bincount(ratings.item)
    levels = np.asarray(ratings.scale.levels)
    return weight, levels[np.abs(mean[:, None] - levels).argmin(axis=1)]


TOOLS: Mapping[str, Tool] = {
    "randomized response, epsilon 1 a rating": partial(randomized_response, epsilon=1.0),
    "randomized response, epsilon 4 a rating": partial(randomized_response, epsilon=4.0),
    "Laplace noise, epsilon 2 a rating": partial(laplace, epsilon=2.0),
    "BlurMe, 10 % added": partial(blur, share=0.1),
    "BlurMe, 30 % added": partial(blur, share=0.3),
    "BlurM(or)e, 10 % added and removed": partial(blur, share=0.1, removed=0.1),
}
OURS = ("dmpss", "cmpss")


def written(ratings: Ratings, feature: str, tool: Tool, draw: int) -> Ratings:
    """Run a tool once; return what it would write to a file, as it is read again."""
    category = ratings.feature(feature).codes
    user, item, value = tool(ratings, category, np.random.default_rng(draw))
    columns = {
        "user": ratings.user_ids[user],
        "item": ratings.item_ids[item],
        "rating": np.asarray(value, np.float64),
    }
    return load(pl.DataFrame(columns))


def contestants(ratings: Ratings, feature: str, wanted: str) -> dict[str, LearningProtocol]:
    """Return the copies of every tool, as protocols of which only the outcome is known."""
    made = dict[str, LearningProtocol]()
    for name, tool in TOOLS.items():
        if wanted in name:
            copies = [written(ratings, feature, tool, draw) for draw in range(DRAWS)]
            made[name] = ProtectedCopies.of(ratings, copies)
    for scheme in OURS:
        if wanted in f"Midpoint, {scheme}":
            analyst = Analyst.train(ratings, feature, scheme=scheme, progress=False)
            copies = [obfuscate(ratings, analyst, seed=draw) for draw in range(DRAWS)]
            made[f"Midpoint, {scheme}"] = ProtectedCopies.of(ratings, copies)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", default="movielens-100k", help="name or path")
    parser.add_argument("--feature", default="gender")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of a defence's name")
    parser.add_argument("--out", type=Path, help="directory from which a killed run goes on")
    chosen = options(parser, folds=2)
    ratings = with_known(load(chosen.source), chosen.feature)
    schemes = contestants(ratings, chosen.feature, chosen.only)
    start = conditions()
    results = audit(
        ratings,
        chosen.feature,
        {"no": LearningProtocol("no"), **schemes},
        ATTACKS,
        folds=chosen.folds,
        out=chosen.out,
    )
    base = figures(results, "no", 1.0)["rmse_local"]
    rows = {name: figures(results, name, base) for name in results.scheme_names()}
    show(
        f"{ratings.name}, {chosen.feature}, {chosen.folds} folds",
        ("defence", "does not know it", "knows it", "luck, up to", "RMSE", "cost"),
        [
            [
                name,
                f"{row['clean'][1]:.3f} ({row['clean'][0]})",
                f"{row['adaptive'][1]:.3f} ({row['adaptive'][0]})",
                f"{row['null']:.3f}",
                f"{row['rmse_local']:.4f}",
                f"{row['cost']:+.1%}",
            ]
            for name, row in rows.items()
        ],
    )
    if not chosen.only:
        kept = {"conditions": start, "folds": chosen.folds, "defences": rows}
        Console(stderr=True).print(f"Figures are in {write_results('defences', kept)}")


if __name__ == "__main__":
    main()
