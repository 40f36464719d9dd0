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
    belief_of,
    disclosure_of,
    heard,
    read_message,
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

    from midpoint.analyst import ItemProfiles, answers_of, expected_loss
    from midpoint.wire import Report

    profiles = ItemProfiles.load(directory)
    told = disclosure_of(profiles, disclosure)
    answers = answers_of([read_message(path, Report) for path in report], told)
    evidence = heard(profiles, answers, told, estimator)
    belief = belief_of(profiles, evidence, estimator)
    loss = float(np.trace(belief.covariance))
    if estimator is Estimator.least_squares:
        loss = expected_loss(evidence.information, profiles.noise_variance)
    deviation = np.sqrt(np.diag(belief.covariance))
    if as_json:
        told_loss = loss if loss < float("inf") else None
        found = {"profile": belief.mean.tolist(), "deviation": deviation.tolist()}
        typer.echo(json.dumps({**found, "count": evidence.count, "loss": told_loss}, indent=2))
        return
    table = Table("dimension", "profile", "give or take")
    for d, (entry, spread) in enumerate(zip(belief.mean, deviation, strict=True)):
        table.add_row("level" if d == 0 else str(d), f"{entry:+.3f}", f"{spread:.3f}")
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    console.print(f"From {evidence.count} answers; expected squared error {loss:.4f}.")
    if loss == float("inf"):
        console.print("They do not determine the profile; it is the one of least norm.")
