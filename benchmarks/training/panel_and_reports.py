"""New users' RMSE by the size of the panel: the panel alone, and with everyone else's reports.

Of the training users of each fold, a panel shares its gender and its raw ratings. A first model is
trained on it and disclosed; everyone else answers under that disclosure, by the default scheme. The
second model learns from the panel and from those reports. New users are the held-out ones, who
report 70% of their ratings under the model they meet; their raw ratings are what is predicted.
Beside it a third model learns from the panel and from as many raw ratings of everyone else, drawn
by coins: what reports cannot do better than, since they are as few, and coarser. It also says what
training on as many raw ratings takes, of people whose category is known.
With everyone in the panel, new users also give 10 and 20 ratings only, beside users without
protection whose set teaches nothing (`Factorizer(sets=False)`). Seconds are the processor's.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from benchmarks.audits.cases import SIMULATED
from benchmarks.measuring.measure import (
    RESULTS,
    conditions,
    options,
    show,
    warn_if_busy,
    write_results,
)
from benchmarks.peers.columns import rmse
from midpoint.analyst import Factorizer, ItemProfiles, train
from midpoint.audit.run.adversaries.reporters import collected
from midpoint.audit.run.plan import read_scheme
from midpoint.data import (
    PRESETS,
    Ratings,
    hold_out,
    load,
    simulate,
    split_ratings,
    user_folds,
    with_known,
)
from midpoint.protocol import LearningProtocol, Population

SEED = 0
SIZES = (250, 500, 1000, 2000)
EVERYONE = 0
"""Stands for a panel of everyone."""
FEATURE = "gender"
FEW = (10, 20)
"""Ratings that new users give who give few."""


class Exam(NamedTuple):
    """One fold."""

    training: Ratings
    """The panel and everyone else."""
    given: Ratings
    """What new users rate."""
    hidden: Ratings
    """What to predict of them."""


def people(source: str) -> Ratings:
    """Load or simulate the ratings of everyone whose category is known."""
    if source in SIMULATED:
        return simulate(SIMULATED[source], seed=1).ratings
    return with_known(load(source), FEATURE)


def panel_of(training: Ratings, size: int, fold: int) -> tuple[Ratings, Ratings]:
    """Draw a panel; return it, with the whole catalogue of items, and everyone else."""
    draws = np.random.default_rng([SEED, fold, size])
    chosen = np.isin(np.arange(training.n_users), draws.permutation(training.n_users)[:size])
    return training.select_users(chosen), training.select_users(~chosen)


def population(ratings: Ratings) -> Population:
    """Return people for a protocol; items are numbered alike in all models of a data set."""
    codes = ratings.feature(FEATURE).codes.astype(np.intp)
    return Population(ratings.user, ratings.item, ratings.value, codes)


def error(profiles: ItemProfiles, exam: Exam, how: LearningProtocol) -> float:
    """Return new users' RMSE under a scheme."""
    disclosure, new = how.disclose(profiles), population(exam.given)
    sent = how.report(disclosure, profiles, new, np.random.default_rng(SEED))
    users, hidden = how.estimate(profiles, sent, disclosure), exam.hidden
    coins = np.random.default_rng(SEED)
    rows = hidden.user, hidden.item
    shown = how.predictions(disclosure, profiles, new, coins, sent, users, *rows)
    return rmse(shown, hidden.value)


def as_many(training: Ratings, panel: Ratings, count: int, fold: int) -> Ratings:
    """Return raw ratings: all of the panel's, and so many of everyone else's, drawn by coins."""
    own = np.isin(training.user_ids, panel.user_ids)[training.user]
    coins = np.random.default_rng([SEED, fold, count]).random(len(training))
    return training.select_ratings(own | (coins < count / np.count_nonzero(~own)))


def few_of(ratings: Ratings, count: int) -> Ratings:
    """Draw so many ratings of each person; everything of somebody who has fewer."""
    draws = np.random.default_rng([SEED, count]).random(len(ratings))
    order = np.lexsort((draws, ratings.user))
    rank = np.empty(len(ratings), np.int64)
    rank[order] = np.arange(len(ratings)) - ratings.user_offsets[ratings.user]
    return ratings.select_ratings(rank < count)


def few_errors(exam: Exam, model: ItemProfiles, how: LearningProtocol) -> dict[str, float]:
    """Return new users' errors after few ratings: as before sets taught, raw, and protected."""
    before = Factorizer(seed=SEED, sets=False).fit(exam.training, FEATURE)
    raw, errors = LearningProtocol("no"), dict[str, float]()
    for count in FEW:
        few = exam._replace(given=few_of(exam.given, count))
        errors[f"without_sets_{count}"] = error(before, few, raw)
        errors[f"raw_{count}"] = error(model, few, raw)
        errors[f"protected_{count}"] = error(model, few, how)
    return errors


def processor(work: Callable[[], ItemProfiles]) -> tuple[ItemProfiles, float]:
    """Return what some work gives, and the processor's seconds that it took."""
    started = time.process_time()
    return work(), time.process_time() - started


def exam_of(ratings: Ratings, folds: int, fold: int) -> Exam:
    """Hold out a fold of the people."""
    fold_of = user_folds(ratings.n_users, folds, seed=SEED)
    training, held_out = hold_out(ratings, fold_of, fold)
    return Exam(training, *split_ratings(held_out, 0.7, seed=SEED))


def warm_up(factorizer: Factorizer, scheme: str) -> None:
    """Load what is compiled, so that the first panel's time is no longer than the others'."""
    few = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    examine(exam_of(few, 5, 0), few.n_users // 2, 0, factorizer, scheme)


def examine(
    exam: Exam, size: int, fold: int, factorizer: Factorizer, scheme: str
) -> dict[str, Any]:
    """Return the errors with one panel, and what learning from a rating costs either way."""
    raw, how = LearningProtocol("no"), read_scheme(scheme)
    if size == EVERYONE:
        model, seconds = processor(
            lambda: train(exam.training, FEATURE, factorizer=factorizer, scheme=scheme)
        )
        errors = {"alone": error(model, exam, raw), "alone_protected": error(model, exam, how)}
        cost = {"microseconds_alone": 1e6 * seconds / len(exam.training)}
        return {"panel": size, "fold": fold, **errors, **few_errors(exam, model, how), **cost}
    panel, rest = panel_of(exam.training, size, fold)
    alone, seconds = processor(lambda: train(panel, FEATURE, factorizer=factorizer, scheme=scheme))
    reports = collected(rest, (FEATURE,), alone, how, np.random.default_rng(SEED))
    both, longer = processor(
        lambda: train(panel, FEATURE, factorizer=factorizer, scheme=scheme, reports=reports)
    )
    thinned = as_many(exam.training, panel, len(reports), fold)
    as_raw, as_long = processor(
        lambda: train(thinned, FEATURE, factorizer=factorizer, scheme=scheme)
    )
    return {
        "panel": size,
        "fold": fold,
        "alone": error(alone, exam, raw),
        "both": error(both, exam, raw),
        "alone_protected": error(alone, exam, how),
        "both_protected": error(both, exam, how),
        "as_many_raw": error(as_raw, exam, raw),
        "ratings": len(panel),
        "reports": len(reports),
        "microseconds_alone": 1e6 * seconds / len(panel),
        "microseconds_both": 1e6 * longer / (len(panel) + len(reports)),
        "microseconds_as_many_raw": 1e6 * as_long / len(thinned),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", default="movielens-1m")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--run", type=int, nargs="+", default=[0], help="which folds to run")
    parser.add_argument("--panels", type=int, nargs="*", default=SIZES)
    parser.add_argument("--scheme", default="cmpss", help="what everyone answers under")
    arguments = options(parser, source="movielens-100k", panels=[100, 500])
    warn_if_busy(Console(stderr=True))
    ratings = people(arguments.source)
    factorizer = Factorizer(seed=SEED)
    warm_up(factorizer, arguments.scheme)
    unusual = [
        getattr(arguments, option)
        for option in ("scheme", "source")
        if getattr(arguments, option) != parser.get_default(option)
    ]
    name = "-".join(["panel_and_reports", *unusual]).replace(":", "-")
    about = {"scheme": arguments.scheme, "source": arguments.source, "conditions": conditions()}
    rows = _earlier(name)
    for fold in arguments.run:
        exam = exam_of(ratings, arguments.folds, fold)
        for size in (*arguments.panels, EVERYONE):
            if any((row["panel"], row["fold"]) == (size, fold) for row in rows):
                continue  # an earlier run measured it
            rows.append(examine(exam, size, fold, factorizer, arguments.scheme))
            print(rows[-1], flush=True)
            write_results(name, about | {"rows": rows})
    _show(rows)
    write_results(name, about | {"rows": rows})


def _earlier(name: str) -> list[dict[str, Any]]:
    """Return what earlier runs measured: this takes long, and is done in pieces."""
    path = RESULTS / f"{name}.json"
    return list(json.loads(path.read_text())["rows"]) if path.exists() else []


def _mean(rows: list[dict[str, Any]], name: str, digits: int = 4) -> str:
    """Write the mean of a figure; nothing where it was not measured."""
    values = [row[name] for row in rows if name in row]
    return f"{np.mean(values):.{digits}f}" if values else ""


def _sizes(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Sort rows by the panel's size, everyone last."""
    sizes = sorted({row["panel"] for row in rows}, key=lambda size: size or np.inf)
    return [[row for row in rows if row["panel"] == size] for size in sizes]


def _named(of: list[dict[str, Any]]) -> str:
    """Write the size of the panel that rows are of."""
    return f"{of[0]['panel']:,}" if of[0]["panel"] != EVERYONE else "everyone"


def _show(rows: list[dict[str, Any]]) -> None:
    learned = ("panel alone", "with reports", "with as many raw ratings")
    protected = ("alone, protected", "with reports, protected")
    figures = ("alone", "both", "as_many_raw", "alone_protected", "both_protected")
    show(
        "RMSE of new users, by the panel's size",
        ("panel", *learned, *protected, "folds"),
        [[_named(of), *(_mean(of, name) for name in figures), str(len(of))] for of in _sizes(rows)],
    )
    times = ("microseconds_alone", "microseconds_both", "microseconds_as_many_raw")
    show(
        "Processor time for each rating or report, microseconds",
        ("panel", *learned),
        [
            [_named(of), *(_mean(of, name, 2) for name in times)]
            for of in _sizes(rows)
            if any(name in row for row in of for name in times)
        ],
    )
    everyone = [row for row in rows if row["panel"] == EVERYONE and "raw_10" in row]
    kinds = ("without_sets", "raw", "protected")
    show(
        "RMSE of new users who give few ratings",
        ("ratings", "raw, sets teach nothing", "raw", "protected"),
        [[str(n), *(_mean(everyone, f"{kind}_{n}") for kind in kinds)] for n in FEW if everyone],
    )


if __name__ == "__main__":
    main()
