"""`midpoint estimate`: one person's reports in, her profile out."""

import json

import typer
from rich.console import Console
from rich.table import Table

from midpoint.cli.options.messages import (
    AsJson,
    Directory,
    DisclosureFile,
    Estimator,
    HowToEstimate,
    ReportFiles,
    read_message,
    scorer_of,
)


def estimate_command(
    directory: Directory,
    report: ReportFiles,
    disclosure: DisclosureFile = None,
    estimator: HowToEstimate = Estimator.map,
    as_json: AsJson = False,
) -> None:
    """Estimate a profile from reports; those of repeated interactions just add (Sec. 6.3)."""
    import numpy as np

    from midpoint.analyst import ItemProfiles, expected_loss
    from midpoint.wire import Report

    profiles = ItemProfiles.load(directory)
    scorer = scorer_of(profiles, disclosure, estimator)
    evidence = scorer.evidence(read_message(path, Report) for path in report)
    estimate = scorer.solve(evidence)
    loss = float(np.trace(estimate.covariance))
    if estimator is Estimator.least_squares:
        loss = expected_loss(evidence.information, profiles.noise_variance)
    deviation = np.sqrt(np.diag(estimate.covariance))
    if as_json:
        finite = loss if loss < float("inf") else None
        figures = {"profile": estimate.mean.tolist(), "deviation": deviation.tolist()}
        typer.echo(json.dumps({**figures, "count": evidence.count, "loss": finite}, indent=2))
        return
    table = Table("dimension", "profile", "give or take")
    for d, (entry, spread) in enumerate(zip(estimate.mean, deviation, strict=True)):
        table.add_row("level" if d == 0 else str(d), f"{entry:+.3f}", f"{spread:.3f}")
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    console.print(f"From {evidence.count} answers; expected squared error {loss:.4f}.")
    if loss == float("inf"):
        console.print("They do not determine the profile; it is the one of least norm.")
