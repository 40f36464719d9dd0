"""Privacy and accuracy beside what people would use instead, under the same attackers."""

import argparse
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.measuring.measure import (
    conditions,
    forget_tables,
    options,
    or_quick,
    show,
    write_results,
)
from benchmarks.privacy.alternatives import Peer, Training
from benchmarks.privacy.sets_beside_peers import OF_SETS, compete_with_sets, show_sets
from midpoint.audit import audit
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run.folds import audited_people
from midpoint.audit.run.plan import Plan, read_scheme
from midpoint.data import load
from midpoint.data.sources.catalogue import find_source, known_source
from midpoint.protocol import LearningProtocol

OF_STARS = (("movielens-100k", "gender"),)
GRADED = or_quick((("young-people", "gender"), ("anes-tv", "politics"), *OF_STARS), OF_STARS)
ATTACKS = or_quick(
    (
        *("lse", "nb", "lr", "svm", "fraction", "adaptive-lr-items", "adaptive-lr-profile"),
        *("adaptive-quadratic-profile", "adaptive-svm-profile", "adaptive-trees-profile"),
        "adaptive-lr-panel",
    ),
    ("lr", "adaptive-lr-profile"),
)
EPSILONS = or_quick((0.5, 1.0, 2.0, 4.0), (0.5, 1.0))
"""Privacy loss for each single rating; all of a person's ratings together lose the sum."""
OURS = ("mpr", "dmp", "dmpss", "default")
"""Our schemes; the last is the one that training chooses in each fold."""


def contestants(*, dense: bool) -> dict[str, LearningProtocol]:
    """Return who competes: matrices without gaps suit the erasers, sparse ones the blurring."""
    protocols: dict[str, LearningProtocol] = {name: read_scheme(name) for name in ("no", *OURS)}
    if dense:
        protocols["CorrelationRemover (fairlearn)"] = Peer("no", method="correlation remover")
        protocols["LEACE (concept-erasure)"] = Peer("no", method="leace")
    for epsilon in EPSILONS:
        name = f"randomized response, epsilon {epsilon:g} a rating (OpenDP)"
        protocols[name] = Peer("no", method="randomized response", setting=epsilon)
    for epsilon in EPSILONS[1:]:
        name = f"Laplace, epsilon {epsilon:g} a rating (OpenDP)"
        protocols[name] = Peer("no", method="laplace", setting=epsilon)
    for share in () if dense else (0.05, 0.1, 0.3):
        protocols[f"blur, {share:.0%} added (BlurMe family)"] = Peer(
            "no", method="blur", setting=share
        )
    return protocols


def compete(source: str, feature: str, folds: int, console: Console) -> AuditResults:
    ratings = load(source)
    plan = Plan((feature,), folds=folds)
    people, _ = audited_people(ratings, plan)
    Training.prepare(people, plan)
    dense = len(people) > 0.5 * people.n_users * people.n_items
    with console.status(f"{source}: {folds} folds") as status:
        return audit(
            ratings,
            feature,
            contestants(dense=dense),
            ATTACKS,
            folds=folds,
            progress=lambda p: status.update(f"{source}: {p.done} of {p.total}"),
        )


def figures(results: AuditResults, scheme: str, base: float) -> dict[str, Any]:
    """Return the strongest clean and adaptive attackers, and the cost."""
    auc = {row.attack: row.value for row in results.areas(scheme)}
    clean = {name: value for name, value in auc.items() if not results.adaptive[name]}
    knowing = {name: value for name, value in auc.items() if results.adaptive[name]}
    row = results.get(scheme, "rmse_local")
    rmse = float("nan") if row is None else row.value
    return {
        "clean": _strongest(clean),
        "adaptive": _strongest(knowing),
        "null": results.bands[scheme].high,
        "rmse_local": rmse,
        "cost": rmse / base - 1,
    }


def _strongest(auc: dict[str, float]) -> tuple[str, float]:
    name = max(auc, key=lambda one: abs(auc[one] - 0.5))
    return name, 0.5 + abs(auc[name] - 0.5)


def show_graded(name: str, folds: int, results: AuditResults) -> dict[str, Any]:
    """Print the table of one data set, and return what is kept of it."""
    base = figures(results, "no", 1.0)["rmse_local"]
    rows = {scheme: figures(results, scheme, base) for scheme in results.scheme_names()}
    show(
        f"{name}, {folds} folds",
        ["", "clean attackers, AUC", "adaptive, AUC", "chance", "RMSE", "cost"],
        [
            [
                scheme,
                f"{one['clean'][1]:.3f} ({one['clean'][0]})",
                f"{one['adaptive'][1]:.3f} ({one['adaptive'][0]})",
                f"{one['null']:.3f}",
                f"{one['rmse_local']:.4f}",
                f"{one['cost']:+.1%}",
            ]
            for scheme, one in rows.items()
        ],
    )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument(
        "--only",
        choices=["graded", *(name for name, _ in GRADED), *OF_SETS],
        help="one of the data sets, or all that have grades",
    )
    parser.add_argument("--out", help="directory for what was found of sets; a killed run goes on")
    chosen = options(parser, folds=2)
    console = Console(stderr=True)
    np.seterr(all="ignore")
    kept: dict[str, Any] = {"conditions": conditions(), "folds": chosen.folds, "data": {}}
    for source, feature in GRADED:
        if chosen.only in (None, "graded") and find_source(known_source(source)) is None:
            console.print(f"{source} is left out: get it by `midpoint data get {source}`")
        elif chosen.only in (None, "graded", source):
            results = compete(source, feature, chosen.folds, console)
            kept["data"][f"{source} {feature}"] = show_graded(
                f"{source}, {feature}", chosen.folds, results
            )
    if chosen.only in (None, "graded"):
        console.print(f"Figures are in {write_results('privacy', kept)}")
    for source in OF_SETS:
        if chosen.only in (None, source):
            forget_tables()
            rows = compete_with_sets(source, "gender", chosen.folds, chosen.out, console)
            show_sets(f"{source}, gender, {chosen.folds} folds", rows)
            kept["data"] = rows
            console.print(f"Figures are in {write_results('privacy_sets', kept)}")


if __name__ == "__main__":
    main()
