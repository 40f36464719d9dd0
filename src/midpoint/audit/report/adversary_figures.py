"""The figures of adversaries: how sure judges are, and what panels of other sizes show."""

from collections.abc import Callable

from matplotlib.axes import Axes

from midpoint.audit.measure.findings import SizePoint
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.paper import stand_in
from midpoint.audit.report.style import (
    COLOURS,
    DASHES,
    Picture,
    legend_beside,
    line_look,
    panels,
    picture,
)
from midpoint.audit.report.verdict import headline
from midpoint.audit.run.adversaries.outsiders import OUTSIDER
from midpoint.audit.run.plan import RAW

LEAST = 1e-3
"""Least false positive rate that is drawn where both axes are logarithmic."""


def roc_curves(results: AuditResults) -> Picture | None:
    """Draw the ROC curves of the judges, on raw ratings and on the scheme of the headline."""
    main = headline(results)
    wanted = dict.fromkeys([RAW, "" if main is None else main.scheme])
    shown = [
        (scheme, adversary, judge)
        for scheme in wanted
        for adversary, judge in results.judges.get(scheme, {}).items()
    ]
    if not shown:
        return None
    figure, (left, right) = panels(1, 2, height=3.4)
    styles = {scheme: DASHES[k % len(DASHES)] for k, scheme in enumerate(wanted)}
    colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(results.adversaries)}
    for scheme, adversary, judge in shown:
        for axes in (left, right):
            axes.plot(judge.false, judge.true, label=f"{scheme}: {adversary}", linewidth=1.2,
                      color=colours.get(adversary, "black"), linestyle=styles[scheme])  # fmt: skip
    for axes in (left, right):
        axes.plot([LEAST, 1], [LEAST, 1], color="black", linewidth=0.7)
        axes.set(xlabel="false positive rate")
    left.set(xlim=(0, 1), ylim=(0, 1), ylabel="true positive rate")
    right.set(xscale="log", yscale="log", xlim=(LEAST, 1), ylim=(LEAST, 1))
    legend_beside(right)
    return picture(
        figure,
        "How sure the judge is",
        "ROC curves of the judge of each adversary, on raw ratings and on the scheme in use: how"
        " many people of a category are found (upwards) if so many of the others are taken for it"
        " (to the right). The right panel shows the same on logarithmic axes, where an attack that"
        " is sure of a few people shows. The thin line is blind guessing.",
        stand_in(results.dataset),
    )


def size_curves(results: AuditResults) -> Picture | None:
    """Draw what leaks to outsiders against the panel's size and their number, and the bound."""
    if not results.sizes or OUTSIDER not in results.adversaries:
        return None
    figure, (left, right) = panels(1, 2, height=3.4)
    main = results.adversaries[OUTSIDER]
    panel, m = main.panel, main.outsiders
    _sized(left, results, lambda point: point.panel if point.outsiders == m else None)
    _sized(right, results, lambda point: point.outsiders if point.panel == panel else None)
    left.set(xlabel=f"people in the panel ({m:,} outsiders)", ylabel="AUC")
    right.set(xlabel=f"labelled outsiders (panel of {panel:,})")
    legend_beside(right)
    return picture(
        figure,
        "What leaks to outsiders, by sizes",
        "AUC of the outsiders' judge, with 95 % intervals, against the size of the panel that the"
        " disclosure was made of (left), and against the number of labelled outsiders that it"
        " learned from (right). Dotted, in the same colour: the bound, what leaks to somebody who"
        " knew every error of that panel's disclosure. Below the dashed line it is at chance.",
        stand_in(results.dataset),
    )


def _sized(axes: Axes, results: AuditResults, where: Callable[[SizePoint], int | None]) -> None:
    """Draw the points that lie along one axis, a line for each scheme."""
    along = [(at, point) for point in results.sizes if (at := where(point)) is not None]
    for k, scheme in enumerate(dict.fromkeys(point.scheme for _, point in along)):
        own = sorted(((at, p) for at, p in along if p.scheme == scheme), key=lambda pair: pair[0])
        x, y = [at for at, _ in own], [p.value for _, p in own]
        axes.plot(x, y, label=scheme, markersize=4, **line_look(k))
        axes.vlines(x, [p.low for _, p in own], [p.high for _, p in own],
                    color=COLOURS[k % len(COLOURS)], linewidth=0.8)  # fmt: skip
        bounds = [(at, p.bound) for at, p in own if p.bound is not None]
        if bounds:
            axes.plot(*zip(*bounds, strict=True), color=COLOURS[k % len(COLOURS)], linestyle=":")
    if along:
        axes.axhline(max(p.chance for _, p in along), color="black", linestyle="--", linewidth=0.8)
        axes.set(xscale="log", ylim=(0.45, 1.02))
