"""The figures of the page: one function for each chapter that has one."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks.report.verdicts import leak

MARKERS = "osD^vPX*<>hd"
Measured = Mapping[str, Any]


def privacy(results: Measured) -> Figure:
    """Draw what leaks against what it costs; the best is at the lower left."""
    data = results["data"]
    size = 4.2 * len(data), 5.0
    figure, axes = plt.subplots(1, len(data), figsize=size, squeeze=False, layout="constrained")
    names = list(dict.fromkeys(name for rows in data.values() for name in rows))
    for axis, (title, rows) in zip(axes[0], data.items(), strict=True):
        for name, row in rows.items():
            kind = names.index(name)
            marker, color = MARKERS[kind % len(MARKERS)], f"C{kind % 10}"
            axis.plot(100 * row["cost"], leak(row), marker, color=color, ms=8)
        axis.axhspan(0.5, max(row["null"] for row in rows.values()), color="0.9")
        axis.set(title=title, xlabel="cost, % RMSE", ylabel="strongest attacker, AUC")
        axis.set_ylim(0.48, 1.02)
    handles = [
        Line2D([], [], ls="", marker=MARKERS[k % len(MARKERS)], color=f"C{k % 10}", label=name)
        for k, name in enumerate(names)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return figure


def factorization(results: Measured) -> Figure:
    """Draw the error against the time to build and fit; the best is at the lower left."""
    rows = [row for row in results["contestants"].values() if row.get("rmse")]
    figure, axis = plt.subplots(figsize=(7, 4))
    for k, row in enumerate(rows):
        axis.semilogx(row["total"]["best"], row["rmse"], MARKERS[k], label=row["name"], ms=8)
    axis.set(xlabel="seconds to build and fit, best of several", ylabel="RMSE")
    axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    return figure


def engines(results: Measured) -> Figure | None:
    """Draw time and memory of a fit against the number of ratings, for each engine."""
    points = [point for point in results.get("points", []) if "alone_seconds" in point]
    if not points:
        return None
    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    for k, engine in enumerate(dict.fromkeys(point["engine"] for point in points)):
        own = sorted((p for p in points if p["engine"] == engine), key=lambda p: p["ratings"])
        for axis, name in zip(axes, ("alone_seconds", "peak_own_megabytes"), strict=True):
            size, height = [p["ratings"] for p in own], [p[name] for p in own]
            axis.loglog(size, height, marker=MARKERS[k], label=engine)
    axes[0].set(xlabel="ratings", ylabel="seconds from Parquet to profiles, alone")
    axes[1].set(xlabel="ratings", ylabel="peak memory without files, MB")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    return figure


FIGURES: Mapping[str, Callable[[Measured], Figure | None]] = MappingProxyType(
    {"factorization": factorization, "privacy": privacy, "engines": engines}
)
"""By the name of the chapter."""
