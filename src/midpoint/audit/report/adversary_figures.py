"""The figures of adversaries: how sure judges are, and what panels of other sizes show."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from midpoint.analyst.fit.choice import RAW
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
from midpoint.audit.run.adversaries.catalogue import OUTSIDER

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
        "ROC curves of the judge of each adversary, on raw ratings and on the scheme in use: the"
        " share of a category that is found (upwards) against the share of the others that is taken"
        " for it (to the right). The right panel shows the same on logarithmic axes, where an"
        " attack that is sure of a few people shows. The thin line is blind guessing.",
        stand_in(results.dataset),
    )


def size_curves(results: AuditResults) -> Picture | None:
    """Draw what leaks, and what it costs, against the panel's size; with reports and without."""
    if len({point.panel for point in results.sizes}) < 2:
        return None
    reported = any(point.reports for point in results.sizes)
    most = max(point.outsiders for point in results.sizes)
    shown = [point for point in results.sizes if point.outsiders == most]
    figure, axes = panels(1, 3 if reported else 2, height=3.4)
    for axis, reports in zip(axes[:-1], (False, True), strict=False):
        _leaks(axis, [p for p in shown if p.reports == reports], lambda point: point.panel)
        axis.set_title("panel and reports" if reports else "panel alone")
    axes[0].set(ylabel=f"AUC ({most:,} outsiders)")
    _errors(axes[-1], shown)
    axes[-1].set(ylabel="RMSE", title="new people's error")
    axes[-1].legend(fontsize=7, frameon=False)
    sizes = sorted({point.panel for point in shown})
    for axis in axes:
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=7, rotation=45)
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set(xlabel="people in the panel")
    return picture(
        figure,
        "How many must tell",
        "AUC of the outsiders' judge, with 95 % intervals, against the size of the panel that the"
        " disclosure was made of. Dotted, in the same colour: the bound, what leaks to somebody who"
        " knew every error of that panel's disclosure. Crosses: the judge of the analyst with the"
        " panel alone. Below the dashed line it is at chance. Last, the RMSE of what new people's"
        " devices show; dashed, if items were also learned from everyone else's reports.",
        stand_in(results.dataset),
    )


def outsider_curves(results: AuditResults) -> Picture | None:
    """Draw what leaks to outsiders against their number, and the bound."""
    if OUTSIDER not in results.adversaries:
        return None
    panel = results.adversaries[OUTSIDER].panel
    shown = [p for p in results.sizes if p.panel == panel and not p.reports]
    if len({point.outsiders for point in shown}) < 2:
        return None
    figure, (axes,) = panels(1, 1, height=3.4)
    _leaks(axes, shown, lambda point: point.outsiders)
    axes.set(xlabel=f"labelled outsiders (panel of {panel:,})", ylabel="AUC")
    legend_beside(axes)
    return picture(
        figure,
        "What leaks to outsiders, by their number",
        "AUC of the outsiders' judge, with 95 % intervals, against the number of labelled outsiders"
        " that it learned from. Dotted, in the same colour: the bound. Below the dashed line it is"
        " at chance.",
        stand_in(results.dataset),
    )


def _leaks(axes: Axes, points: Sequence[SizePoint], where: Callable[[SizePoint], int]) -> None:
    """Draw what leaks along one axis, a line for each scheme."""
    for k, scheme in enumerate(dict.fromkeys(point.scheme for point in points)):
        own = sorted((p for p in points if p.scheme == scheme), key=where)
        colour = COLOURS[k % len(COLOURS)]
        axes.plot([*map(where, own)], [p.value for p in own], label=scheme, markersize=4,
                  **line_look(k))  # fmt: skip
        axes.vlines([*map(where, own)], [p.low for p in own], [p.high for p in own],
                    color=colour, linewidth=0.8)  # fmt: skip
        bounds = [(where(p), p.bound) for p in own if p.bound is not None]
        if bounds:
            axes.plot(*zip(*bounds, strict=True), color=colour, linestyle=":")
        crosses = [(where(p), p.panel_judge) for p in own if p.panel_judge is not None]
        if crosses:
            axes.plot(*zip(*crosses, strict=True), color=colour, linestyle="", marker="x")
    if points:
        axes.axhline(max(p.chance for p in points), color="black", linestyle="--", linewidth=0.8)
        axes.set(xscale="log", ylim=(0.45, 1.02))


def _errors(axes: Axes, points: Sequence[SizePoint]) -> None:
    """Draw the RMSE of new people, a colour for each scheme, dashed with reports."""
    for k, scheme in enumerate(dict.fromkeys(point.scheme for point in points)):
        for reports in (False, True):
            own = [p for p in points if (p.scheme, p.reports) == (scheme, reports)]
            at = sorted((p.panel, p.rmse) for p in own if p.rmse is not None)
            if at:
                look = line_look(k) | ({"linestyle": "--"} if reports else {"linestyle": "-"})
                label = f"{scheme}, with reports" if reports else scheme
                axes.plot(*zip(*at, strict=True), label=label, markersize=4, **look)
    axes.set(xscale="log")
