"""What runs of `panel_and_reports.py` say together: a table of shares, and curves of the error."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

NAME = "panel_and_reports"
EVERYONE = 0
"""Stands for a panel of everyone."""
SMALL = 500
"""The panel that shares are compared with."""
SHARES = [
    "reports under",
    "with reports",
    "as many raw ratings",
    "with reports, protected",
    "folds",
]
Run = Mapping[str, Any]


def runs(results: Path) -> list[Run]:
    """Read all runs, the default scheme first."""
    paths = sorted(results.glob(f"{NAME}*.json"), key=lambda path: (len(path.stem), path.stem))
    return [json.loads(path.read_text()) for path in paths]


def heading(run: Run) -> str:
    """Say what a run is about."""
    return f"{run['scheme']}, {run['source']}"


def mean(run: Run, panel: int, name: str) -> float:
    """Return the mean of a figure over the folds."""
    return float(np.mean([row[name] for row in run["rows"] if row["panel"] == panel]))


def shares(measured: Sequence[Run]) -> list[list[str]]:
    """Compare schemes by what a small panel and everyone else's reports teach.

    Of each scheme its own folds are compared with everyone's raw ratings in the same folds.
    """
    rows = []
    for run in sorted(
        measured, key=lambda run: -float(str(run["scheme"]).partition("keep=")[2] or 1)
    ):
        if not str(run["scheme"]).startswith("cmpss"):
            continue
        raw = mean(run, EVERYONE, "alone")
        errors = (mean(run, SMALL, name) for name in ("both", "as_many_raw", "both_protected"))
        folds = sum(row["panel"] == SMALL for row in run["rows"])
        cells = [f"{rmse:.4f} ({100 * (rmse / raw - 1):+.1f} %)" for rmse in errors]
        rows.append([f"`{run['scheme']}`", *cells, str(folds)])
    return rows


def curves(measured: Sequence[Run]) -> Figure | None:
    """Draw the error of new users against the panel's size, with reports and without."""
    drawn = [run for run in measured if len({row["panel"] for row in run["rows"]}) > 2]
    if not drawn:
        return None
    figure, axes = plt.subplots(1, len(drawn), figsize=(4.6 * len(drawn), 3.6), squeeze=False)
    for axis, run in zip(axes[0], drawn, strict=True):
        sizes = sorted({row["panel"] for row in run["rows"]} - {EVERYONE})
        for name, text in (("alone_protected", "panel alone"), ("both_protected", "with reports")):
            height = [mean(run, size, name) for size in sizes]
            axis.semilogx(sizes, height, marker="o", label=text)
        everyone = mean(run, EVERYONE, "alone_protected")
        axis.axhline(everyone, color="black", ls="--", lw=0.8, label="everyone in the panel")
        axis.margins(y=0.08)
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=8)
        axis.minorticks_off()
        axis.set(title=heading(run), xlabel="people in the panel", ylabel="RMSE of new users")
        axis.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return figure


def parts(measured: Sequence[Run]) -> Iterator[tuple[str, Run]]:
    """Return each run with its heading, as `document.chapter` writes them."""
    for run in measured:
        yield heading(run), {"program": NAME, **run}
