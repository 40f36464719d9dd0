"""`midpoint estimate`: one person's reports in, her profile out."""

import json

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
