"""Least squares on MovieLens 1M by what the paper leaves open: means, penalty, whose biases.

    MIDPOINT_DATA=... python -m benchmarks.training.paper_model [--folds 3]

Each row is a model and a penalty; under each of the paper's schemes it has the AUC by which least
squares reads gender (unfolded), and the error of predictions with the inferred category. The
paper's numbers are the first row. `docs/explanation/paper.md` says what follows from it.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from rich.console import Console

from benchmarks.measuring.measure import (
    conditions,
    options,
    or_quick,
    show,
    warn_if_busy,
    write_results,
)
from midpoint.analyst import Factorizer, ItemProfiles, predict
from midpoint.analyst.categories.estimates import mean_effects
from midpoint.analyst.categories.statistics import tally
from midpoint.audit.attackers.auc import auc
from midpoint.audit.attackers.joint import MATCHED, JointFit, regress
from midpoint.audit.report.paper import PAPER
from midpoint.audit.run.paper_setup import FIT, paper_people
from midpoint.data import Ratings, hold_out, load, split_ratings, user_folds
from midpoint.protocol import LearningProtocol, Population, Reports

SOURCE, FEATURE = or_quick("movielens-1m", "movielens-100k"), "gender"
FOLDS = 10
CHOSEN = 0.035
"""The regularization that `--paper` chooses on these data."""
PENALTIES = (CHOSEN, 0.1, 0.2, MATCHED, 0.4)
SCHEMES = ("no", "mp", "mpss", "ss", "ia", "fa")


class Model(NamedTuple):
    """What is varied."""

    name: str
    """In words."""
    fit: Factorizer
    """How items are fitted."""
    everybody: bool = False
    """Whether biases and probabilities are counted over all people, the held-out ones included."""


MODELS = (
    Model("a mean for each item and user", replace(FIT, method="sgd", regularization=CHOSEN)),
    Model("factors alone (Eq. 1)", replace(FIT, regularization=CHOSEN)),
    Model("factors alone, one factor", replace(FIT, regularization=CHOSEN, dimension=1)),
    Model(
        "factors alone, biases from everybody",
        replace(FIT, regularization=CHOSEN),
        everybody=True,
    ),
)


class Found(NamedTuple):
    """What least squares finds under one scheme in one fold."""

    area: float
    error: float


def profiles_of(model: Model, people: Ratings, training: Ratings) -> ItemProfiles:
    """Fit items on the training people, and count biases over those or over everybody."""
    profiles = model.fit.fit(training, FEATURE)
    if not model.everybody:
        return profiles
    statistics = tally(people, people.feature(FEATURE))
    offset = mean_effects(statistics, "plain").effect
    return replace(profiles, statistics=statistics, offset=offset)


def measured(
    profiles: ItemProfiles, reports: Reports, hidden: Ratings, category: np.ndarray
) -> Iterator[tuple[str, Found]]:
    """Measure minimum norm, and every penalty."""

    def found(fit: JointFit) -> Found:
        guess = fit.loss.argmin(axis=1)
        x = fit.profile[guess, np.arange(len(guess))]
        added = profiles.offset[hidden.item, guess[hidden.user]]
        errors = predict(profiles, x, hidden.user, hidden.item, added) - hidden.value
        area = auc(fit.loss[:, 0] - fit.loss[:, 1], category)
        return Found(area, float(np.sqrt(np.square(errors).mean())))

    yield "minimum norm", found(regress(profiles, reports, CHOSEN).minimum_norm)
    for penalty in PENALTIES:
        yield f"penalty {penalty:g}", found(regress(profiles, reports, penalty).penalized)


def rows(folds: int) -> Iterator[list[str]]:
    """Go through models and penalties, means over folds."""
    people = paper_people(load(SOURCE))
    fold_of = user_folds(people.n_users, FOLDS, seed=0)
    for model in MODELS:
        every: dict[str, dict[str, list[Found]]] = {}
        for fold in range(folds):
            training, held_out = hold_out(people, fold_of, fold)
            profiles = profiles_of(model, people, training)
            given, hidden = split_ratings(held_out, 0.7, seed=0)
            category = held_out.feature(FEATURE).codes.astype(np.intp)
            sending = Population(given.user, given.item, given.value, category, given.user_ids)
            for scheme in SCHEMES:
                how = LearningProtocol(scheme, estimation="plain", estimator="least-squares")
                coins = np.random.default_rng(fold)
                reports = how.report(how.disclose(profiles), profiles, sending, coins)
                for penalty, number in measured(profiles, reports, hidden, category):
                    every.setdefault(penalty, {}).setdefault(scheme, []).append(number)
        for penalty, schemes in every.items():
            means = [np.mean(schemes[scheme], axis=0) for scheme in SCHEMES]
            yield [model.name, penalty, *(f"{area:.3f} / {error:.3f}" for area, error in means)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=3, help=f"of {FOLDS}; fewer are quicker")
    folds = options(parser, folds=1).folds
    warn_if_busy(Console())
    start, paper = conditions(), PAPER["movielens-1m", FEATURE]
    said = ["the paper", "", *(f"{paper[s].lse:.3f} / {paper[s].rmse:.3f}" for s in SCHEMES)]
    table = [said, *rows(folds)]
    title = f"AUC of least squares / RMSE, {SOURCE}, {FEATURE}, {folds} of {FOLDS} folds"
    show(title, ["model", "least squares", *SCHEMES], table)
    print(f"Figures are in {write_results('paper_model', {'conditions': start})}")


if __name__ == "__main__":
    main()
