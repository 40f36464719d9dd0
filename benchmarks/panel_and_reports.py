"""New users' RMSE by the size of the panel: the panel alone, and with everyone else's reports.

Of the training users of each fold, a panel shares its gender and its raw ratings. A first model is
trained on it and disclosed; everyone else answers under that disclosure, by the default scheme. The
second model learns from the panel and from those reports. New users are the held-out ones, who
report 70% of their ratings under the model they meet; their raw ratings are what is predicted.
"""

import argparse
import json
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from columns import rmse
from measure import RESULTS, conditions, show, timed, warn_if_busy, write_results
from midpoint.analyst import CollectedReports, Factorizer, ItemProfiles, train
from midpoint.data import Ratings, hold_out, load, split_ratings, user_folds, with_known
from midpoint.protocol import LearningProtocol, Population, local_correction

SEED = 0
SIZES = (250, 500, 1000, 2000)
EVERYONE = 0
"""Stands for a panel of everyone."""
FEATURE = "gender"


class Exam(NamedTuple):
    """One fold."""

    training: Ratings
    """The panel and everyone else."""
    given: Ratings
    """What new users rate."""
    hidden: Ratings
    """What to predict of them."""


def panel_of(training: Ratings, size: int, fold: int) -> tuple[Ratings, Ratings]:
    """Draw a panel; return it, with the whole catalogue of items, and everyone else."""
    draws = np.random.default_rng([SEED, fold, size])
    chosen = np.isin(np.arange(training.n_users), draws.permutation(training.n_users)[:size])
    return training.select_users(chosen), training.select_users(~chosen)


def population(ratings: Ratings) -> Population:
    """Return people for a protocol; items are numbered alike in all models of a data set."""
    codes = ratings.feature(FEATURE).codes.astype(np.intp)
    return Population(ratings.user, ratings.item, ratings.value, codes)


def collected(rest: Ratings, profiles: ItemProfiles, how: LearningProtocol) -> CollectedReports:
    """Have everyone answer under a model's disclosure, as a table of reports."""
    import polars as pl  # noqa: PLC0415 - the table that a site would write

    disclosure = how.disclose(profiles)
    people = population(rest)
    sent = how.report(disclosure, profiles, people, np.random.default_rng(SEED))
    user = np.repeat(np.arange(people.n_users), np.diff(sent.user_offsets))
    answers = pl.DataFrame(
        {
            "person": rest.user_ids[user].tolist(),
            "disclosure": [disclosure.digest] * len(user),
            "item": profiles.item_ids[sent.item].tolist(),
            "value": sent.value.astype(np.float64),
        }
    )
    return CollectedReports(answers, {disclosure.digest: disclosure}, "everyone else")


def error(profiles: ItemProfiles, exam: Exam, how: LearningProtocol) -> float:
    """Return new users' RMSE under a scheme."""
    disclosure = how.disclose(profiles)
    sent = how.report(disclosure, profiles, population(exam.given), np.random.default_rng(SEED))
    users, hidden = how.estimate(profiles, sent, disclosure), population(exam.hidden)
    taste = (profiles.vectors[hidden.item] * users[hidden.user]).sum(axis=1)
    none = np.zeros((len(hidden.item), 0), np.int64)
    own = hidden.category[hidden.user]
    score = profiles.centre[hidden.item] + taste
    score += local_correction(disclosure, profiles, hidden.item, own, none)
    return rmse(np.clip(score, profiles.scale.low, profiles.scale.high), exam.hidden.value)


def examine(exam: Exam, size: int, fold: int, factorizer: Factorizer) -> dict[str, Any]:
    """Return the errors with one panel, and what learning from a rating costs either way."""
    raw, how = LearningProtocol("no"), LearningProtocol("dmpss")
    if size == EVERYONE:
        model = train(exam.training, FEATURE, factorizer=factorizer, scheme="dmpss")
        errors = {"alone": error(model, exam, raw), "alone_protected": error(model, exam, how)}
        return {"panel": size, "fold": fold, **errors}
    panel, rest = panel_of(exam.training, size, fold)
    alone, seconds = timed(lambda: train(panel, FEATURE, factorizer=factorizer, scheme="dmpss"))
    reports = collected(rest, alone, how)
    both, longer = timed(
        lambda: train(panel, FEATURE, factorizer=factorizer, scheme="dmpss", reports=reports)
    )
    return {
        "panel": size,
        "fold": fold,
        "alone": error(alone, exam, raw),
        "both": error(both, exam, raw),
        "alone_protected": error(alone, exam, how),
        "both_protected": error(both, exam, how),
        "ratings": len(panel),
        "reports": len(reports),
        "microseconds_alone": 1e6 * seconds / len(panel),
        "microseconds_both": 1e6 * longer / (len(panel) + len(reports)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", default="movielens-1m")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--run", type=int, nargs="+", default=[0], help="which folds to run")
    parser.add_argument("--panels", type=int, nargs="*", default=SIZES)
    arguments = parser.parse_args()
    warn_if_busy(Console(stderr=True))
    ratings = with_known(load(arguments.source), FEATURE)
    fold_of = user_folds(ratings.n_users, arguments.folds, seed=SEED)
    factorizer = Factorizer(seed=SEED)
    usual = arguments.source == parser.get_default("source")
    name = "panel_and_reports" + ("" if usual else f"-{arguments.source}")
    rows = _earlier(name)
    for fold in arguments.run:
        training, held_out = hold_out(ratings, fold_of, fold)
        exam = Exam(training, *split_ratings(held_out, 0.7, seed=SEED))
        for size in (*arguments.panels, EVERYONE):
            if any((row["panel"], row["fold"]) == (size, fold) for row in rows):
                continue  # an earlier run measured it
            rows.append(examine(exam, size, fold, factorizer))
            print(rows[-1], flush=True)
            write_results(name, {"conditions": conditions(), "rows": rows})
    _show(rows)
    write_results(name, {"conditions": conditions(), "rows": rows})


def _earlier(name: str) -> list[dict[str, Any]]:
    """Return what earlier runs measured: this takes long, and is done in pieces."""
    path = RESULTS / f"{name}.json"
    return list(json.loads(path.read_text())["rows"]) if path.exists() else []


def _show(rows: list[dict[str, Any]]) -> None:
    figures = ("alone", "both", "alone_protected", "both_protected")
    table = []
    for size in sorted({row["panel"] for row in rows}, key=lambda size: size or np.inf):
        of = [row for row in rows if row["panel"] == size]
        means = [f"{np.mean([row[name] for row in of]):.4f}" for name in figures if name in of[0]]
        cells = means if size != EVERYONE else [means[0], "", means[1], ""]
        table.append([f"{size:,}" if size != EVERYONE else "everyone", *cells, str(len(of))])
    protected = ("alone, protected", "with reports, protected")
    show(
        "RMSE of new users, by the panel's size",
        ("panel", "panel alone", "with reports", *protected, "folds"),
        table,
    )


if __name__ == "__main__":
    main()
