"""`midpoint estimate` and `recommend`: one person's reports in, her profile or scored items out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from midpoint.cli.options.expansion import expand
from midpoint.cli.options.messages import (
    AsJson,
    Estimator,
    ModelOptions,
    ReportFiles,
    read_message,
)

if TYPE_CHECKING:
    from midpoint.analyst import Estimate, ItemProfiles


@expand
def estimate_command(model: ModelOptions, report: ReportFiles, as_json: AsJson = False) -> None:
    """Estimate a person's profile from her reports.

    Several reports of the same person count together (Sec. 6.3).
    """
    import numpy as np

    from midpoint.analyst import expected_loss
    from midpoint.wire import Report

    scorer = model.scorer()
    evidence = scorer.evidence(read_message(path, Report) for path in report)
    estimate = scorer.solve(evidence)
    loss = float(np.trace(estimate.covariance))
    if model.estimator is Estimator.least_squares:
        loss = expected_loss(evidence.information, scorer.items.noise_variance)
    determined = loss < float("inf")
    deviation = np.sqrt(np.diag(estimate.covariance))
    if as_json:
        facts = {
            "profile": estimate.mean.tolist(),
            "deviation": deviation.tolist(),
            "count": evidence.count,
            "loss": loss if determined else None,
        }
        typer.echo(json.dumps(facts, indent=2))
        return
    table = Table("dimension", "profile", "deviation")
    for d, (entry, spread) in enumerate(zip(estimate.mean, deviation, strict=True)):
        table.add_row("level" if d == 0 else str(d), f"{entry:+.3f}", f"{spread:.3f}")
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    console.print(f"From {evidence.count} answers; expected squared error {loss:.4f}.")
    if not determined:
        console.print("These answers do not determine the profile; shown is the shortest one.")


@expand
def recommend_command(
    model: ModelOptions,
    report: ReportFiles,
    top: Annotated[int, typer.Option(min=1, help="How many items to recommend.")] = 10,
    margin: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Public upper bound on how many items she has rated; unless given, what devices"
            " ask a service for.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the scores for her device to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score items midway between the categories, for her device to correct and rank.

    The scores for the device contain the best items for every category, even after the device
    removes the items she has rated (at most the margin), so it never asks for more.
    """
    from midpoint.files import replace_file
    from midpoint.wire import Report
    from midpoint.wire.exchange import MARGIN

    scorer = model.scorer()
    profiles = scorer.items
    answers = scorer.answers(read_message(path, Report) for path in report)
    estimate = scorer.solve(scorer.sum_up(answers))
    best = _best(profiles, estimate, answers, top)
    scores = scorer.top_of(estimate, top=top, margin=MARGIN if margin is None else margin)
    size = len(scores.items)
    if out is not None:
        replace_file(out, scores.raw)
    if as_json:
        typer.echo(json.dumps({"recommended": best, "shortlist": size}, indent=2))
        return
    table = Table("title", "midway score", "deviation")
    for row in best:
        table.add_row(str(row["title"]), f"{row['shown']:.2f}", f"{row['deviation']:.2f}")
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    where = f"are in {out}" if out else "can be written for her device with --out FILE"
    console.print(f"{size} scored items, enough for every category, {where}.", markup=False)


def _best(
    profiles: "ItemProfiles", estimate: "Estimate", answers: dict[str, int], top: int
) -> list[dict[str, str | float]]:
    """Return the best items that she has not answered, ranked before they are clipped."""
    import numpy as np

    mean, deviation = estimate.predict(profiles)
    order = np.argsort(-mean, kind="stable")
    fresh = order[~np.isin(profiles.item_ids[order], list(answers))][:top]
    return [
        {
            "item": str(profiles.item_ids[j]),
            "title": str(profiles.item_names[j]),
            "score": float(mean[j]),
            "shown": float(profiles.scale.clip(mean[j])),
            "deviation": float(deviation[j]),
        }
        for j in fresh
    ]
