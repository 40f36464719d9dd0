"""The figures of adversaries: how sure judges are, and what panels of other sizes show."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

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
    name_points,
    panels,
    picture,
)
from midpoint.audit.report.tradeoff import without
from midpoint.audit.report.verdict import headline
from midpoint.audit.run.adversaries.catalogue import OUTSIDER, PANEL

LEAST = 1e-3
"""Least false positive rate that is drawn where both axes are logarithmic."""
WITHHOLDS: Mapping[str, str] = MappingProxyType({"leak": "leak budget", "keep": "share"})
"""The settings of a scheme that withhold more answers, and what they are called."""


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


def withholding_curves(results: AuditResults) -> Picture | None:
    """Draw what leaks, and what it costs, as a leak budget or a share withholds more."""
    lines = {
        f"{name}, {words}": schemes
        for setting, words in WITHHOLDS.items()
        for name, schemes in _withholding(results, setting)
    }
    if not lines:
        return None
    figure, (left, right) = panels(1, 2, height=3.6)
    lost = results.ndcg_costs if results.unary else results.costs
    named = dict[tuple[float, float], str]()
    for k, (name, schemes) in enumerate(lines.items()):
        hidden, colour = [_hidden(results, scheme) for scheme in schemes], COLOURS[k % len(COLOURS)]
        for adversary, dashes in ((PANEL, "--"), (OUTSIDER, "-")):
            rows = [judged[0] for scheme in schemes if (judged := results.judge(scheme, adversary))]
            if len(rows) == len(schemes):
                values, ends = [row.value for row in rows], [(row.low, row.high) for row in rows]
                look = line_look(k) | {"linestyle": dashes}
                left.plot(hidden, values, label=f"{name}: {adversary}", **look)
                left.vlines(hidden, *zip(*ends, strict=True), color=colour, linewidth=0.8)
                named |= dict(zip(zip(hidden, values, strict=True), schemes, strict=True))
        bounds = [results.bounds[scheme].value for scheme in schemes if scheme in results.bounds]
        if len(bounds) == len(schemes):
            left.plot(hidden, bounds, color=colour, linestyle=":")
        costs = [lost[scheme] for scheme in schemes]
        ends = [(100 * cost.low, 100 * cost.high) for cost in costs]
        look = line_look(k) | {"linestyle": "-"}
        right.plot(hidden, [100 * cost.value for cost in costs], **look)
        right.vlines(hidden, *zip(*ends, strict=True), color=colour, linewidth=0.8)
    judges = [judge for schemes in lines.values() for s in schemes for judge in
              results.judges[s].values()]  # fmt: skip
    left.axhline(max(judge.band.judged_high for judge in judges), color="black", linestyle="--",
                 linewidth=0.8)  # fmt: skip
    left.set(ylabel="AUC of the judge")
    right.set(ylabel="NDCG@10 lost (%)" if results.unary else "RMSE above raw ratings (%)")
    for axes in (left, right):
        axes.set(xlabel="withheld, mean of all people (%)")
        axes.margins(x=0.16)
    left.legend(fontsize=7, frameon=False)
    name_points(left, [scheme.partition(":")[2] or scheme for scheme in named.values()], [*named])
    return picture(
        figure,
        "What leaks as more is withheld",
        "AUC of the judge, with 95 % intervals, and what it costs, against the share of their"
        " answers that people's devices withhold: by a leak budget (leak), or by a share that is"
        " revealed (keep). Dotted, in the same colour: the bound, what leaks to somebody who knew"
        " every error of the disclosure. Below the dashed line it is at chance.",
        stand_in(results.dataset),
    )


def _withholding(results: AuditResults, setting: str) -> Iterator[tuple[str, list[str]]]:
    """Go through the schemes that were tried with several values of a setting, or without it."""
    alike: dict[str, list[str]] = {}
    for scheme in results.scheme_names():
        if scheme in results.ndcg_costs or scheme in results.costs:
            rest = {key: value for key, value in results.schemes[scheme].items() if key != setting}
            alike.setdefault(json.dumps(rest, sort_keys=True), []).append(scheme)
    for schemes in alike.values():
        judged = [s for s in schemes if {PANEL, OUTSIDER} & results.judges.get(s, {}).keys()]
        if len(judged) > 1:
            judged.sort(key=lambda scheme: _hidden(results, scheme))
            yield without(judged[0], setting), judged


def _hidden(results: AuditResults, scheme: str) -> float:
    """Return the share of their answers that people withhold, on average, in per cent."""
    row = results.get(scheme, "withheld")
    return 0.0 if row is None else 100 * row.value


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
