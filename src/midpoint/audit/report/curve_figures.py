"""The figures of trade-offs: Figures 1 and 7, and privacy along what is disclosed and rated."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.measure.findings import Rounds
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.paper import stand_in
from midpoint.audit.report.style import (
    COLOURS,
    Picture,
    bar_look,
    legend_above,
    legend_beside,
    line_look,
    name_points,
    panels,
    picture,
    point_look,
)
from midpoint.audit.report.tradeoff import Line, Point, given_ratings, lines, points_of
from midpoint.audit.report.verdict import headline

COMPARED = ("mpr", "mpssr")
"""Schemes that are drawn beside raw ratings and the main one where too many would blur."""
ALIKE = 1.2
"""Where the most active quarter gives no more than so many times what the least active one does,
as in a survey that asks everyone everything, people do not differ in it."""
MUCH = 3.0
"""How many times the least count the greatest is where equal steps would crowd the small ones."""
Coordinates = Callable[[Point], tuple[float | None, float | None]]


def trade_off(results: AuditResults) -> Picture | None:
    """Draw every scheme by privacy, accuracy and disclosure, as measured (Figure 1)."""
    points = points_of(results)
    if not points:
        return None
    figure, (left, right) = panels(1, 2, height=3.8)
    names = [point.scheme for point in points]
    costs = [(100 * point.cost, point.leak) for point in points]
    bits = [(point.bits, point.leak) for point in points]
    chance = float(np.median([point.chance for point in points]))
    for axes, marks in ((left, costs), (right, bits)):
        axes.axhspan(-0.02, chance, color="#dddddd", zorder=0)
        for k, (x, y) in enumerate(marks):
            axes.plot([x], [y], markersize=6, **point_look(k))
        axes.set(ylim=(-0.02, 0.53))
        axes.margins(x=0.16)
    lists = "NDCG@10 below the best of raw sets (%)"
    errors = "RMSE above the best of raw ratings (%)"
    left.set(xlabel=f"accuracy: {lists if results.unary else errors}")
    left.set(ylabel="privacy: strongest attacker's |AUC - 0.5|")
    right.set(xlabel="disclosure: bits of each item")
    for axes, marks in ((left, costs), (right, bits)):
        name_points(axes, names, marks)
    return picture(
        figure,
        "Privacy, accuracy and disclosure",
        "Every scheme where it was measured, as the paper's Figure 1 sketches it. Low is private:"
        " the grey band is at chance. Left in the first panel is accurate; left in the second"
        f" discloses little. Raw {'sets' if results.unary else 'ratings'} (no) cost 0 by"
        f" definition: {_compared(results)}.",
        stand_in(results.dataset),
    )


def _compared(results: AuditResults) -> str:
    """Say what the other schemes are compared with."""
    if results.unary:
        return "lists that devices corrected are compared with the best lists of raw sets"
    return (
        "errors of the other schemes, corrected on the device, are compared with the best error"
        " that raw ratings give"
    )


def activity(results: AuditResults) -> Picture | None:
    """Draw privacy against the number of ratings a person gives, for people as they are."""
    main = headline(results)
    wanted = dict.fromkeys([RAW, *COMPARED, "" if main is None else main.scheme])
    shown = [scheme for scheme in wanted if scheme in results.activity]
    counts = [count for scheme in shown for count in results.activity[scheme].ratings]
    if not shown or max(counts) < ALIKE * min(counts):
        return None
    figure, (axes,) = panels(1, 1)
    for k, scheme in enumerate(shown):
        quarters = results.activity[scheme]
        axes.plot(
            quarters.ratings, quarters.value, label=f"{scheme}: {quarters.attack}", **line_look(k)
        )
        axes.fill_between(
            quarters.ratings,
            quarters.low,
            quarters.high,
            alpha=0.08,
            color=COLOURS[k % len(COLOURS)],
        )
    axes.axhline(0.5, color="black", linewidth=0.7)
    axes.set(xlabel="ratings given, mean of each quarter of the users", ylabel="AUC")
    _counts(axes)
    legend_beside(axes)
    return picture(
        figure,
        "Privacy by how active people are",
        "AUC of each scheme's strongest attacker, for quarters of the users by how many ratings"
        " they gave; bands are 95 % intervals. Active people differ in other ways, too.",
        stand_in(results.dataset),
    )


def alpha_curve(results: AuditResults) -> Picture | None:
    """Draw privacy against accuracy as more ratings are obfuscated (Figure 7)."""
    curves = lines(results, "alpha")
    if not curves:
        return None
    figure, (left, *between, right) = panels(1, 2 + results.is_paper, height=3.2)
    _draw(left, curves, lambda point: (point.paper_area, point.paper_error))
    left.set(title="the paper's way", xlabel="AUC of lse", ylabel="RMSE, category inferred")
    if results.is_paper:
        left.set(title="minimum norm")
        _draw(between[0], curves, lambda point: (point.penalized_area, point.penalized_error))
        between[0].set(title="penalty of the fit", xlabel="AUC of lse-penalized")
        _draw(right, curves, lambda point: (point.matched_area, point.matched_error))
        right.set(title="penalty fitted to the paper's error", xlabel="AUC of lse-matched")
        beside = (
            "The same with a penalty fitted to the paper's error of raw ratings on MovieLens 1M by"
            " gender; between them, with the penalty of the fit"
        )
    else:
        _draw(right, curves, lambda point: (point.leak + 0.5, point.error))
        right.set(title="strongest attacker", xlabel="AUC")
        right.set(ylabel="NDCG@10" if results.unary else "RMSE, corrected locally")
        beside = f"The strongest attacker that tried every point ({_who(curves)})"
    legend_beside(right)
    return picture(
        figure,
        "Privacy against accuracy",
        "Along a line, a growing share alpha of the ratings is obfuscated and the rest sent as it"
        " is: from raw ratings (right) to the scheme itself (large mark). Left panel: least"
        f" squares, as in the paper's Figure 7. Right panel: {beside[0].lower()}{beside[1:]}. Flat"
        " is good: privacy that costs little.",
        stand_in(results.dataset),
    )


def bits_curve(results: AuditResults) -> Picture | None:
    """Draw privacy against what is disclosed, the paper's closing question (Sec. 8)."""
    curves = lines(results, "bits")
    if not curves:
        return None
    figure, (left, right) = panels(1, 2, height=3.0)
    _draw(left, curves, lambda point: (point.bits, point.leak + 0.5))
    _draw(right, curves, lambda point: (point.bits, 100 * point.cost))
    _chance(left, curves)
    left.set(xlabel="bits disclosed of each item", ylabel="AUC of the strongest attacker")
    right.set(xlabel="bits disclosed of each item", ylabel="cost against raw ratings (%)")
    for axes in (left, right):
        _counts(axes)
    legend_beside(right)
    alone = " and ".join(line.scheme for line in curves if len(line.points) == 1)
    single = f" A large mark alone: {alone}, disclosed at one precision." if alone else ""
    return picture(
        figure,
        "Privacy against disclosure",
        "Along a line, the same numbers are disclosed in more bits, up to all 16 (large"
        f" mark).{single} By attackers that tried every point: {_who(curves)}. Dashed: what chance"
        " would show.",
        stand_in(results.dataset),
    )


def count_curve(results: AuditResults) -> Picture | None:
    """Draw privacy against how many ratings the same people give."""
    curves = lines(results, "share")
    if not curves:
        return None
    figure, (axes,) = panels(1, 1, height=3.0)
    each = given_ratings(results)
    _draw(axes, curves, lambda point: (each * point.setting, point.leak + 0.5))
    _chance(axes, curves)
    axes.set(xlabel="ratings given by a person, on average", ylabel="AUC")
    _counts(axes)
    legend_beside(axes)
    return picture(
        figure,
        "Privacy by the number of ratings",
        "The same people, giving a growing share of their ratings, drawn at random, up to all of"
        f" them (large mark); the attackers learn from people thinned alike ({_who(curves)})."
        " Dashed: what chance would show.",
        stand_in(results.dataset),
    )


def _draw(axes: Axes, curves: Sequence[Line], where: Coordinates) -> None:
    """Draw lines, with a larger mark where the setting is at its end."""
    for k, line in enumerate(curves):
        marks = np.array([where(point) for point in line.points], dtype=np.float64)
        if len(marks) == 1:
            axes.plot(*marks.T, label=line.scheme, markersize=8, **point_look(k))
            continue
        axes.plot(*marks.T, label=line.scheme, markersize=3.5, **line_look(k))
        axes.plot(*marks[-1:].T, markersize=8, **point_look(k))


def _counts(axes: Axes) -> None:
    """Show counts as they are, on a logarithmic axis if they differ much."""
    low, high = axes.dataLim.intervalx
    if high < MUCH * low:
        return
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(LogLocator(subs=(2, 3, 5, 7)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.tick_params(axis="x", which="both", labelsize=7)


def _chance(axes: Axes, curves: Sequence[Line]) -> None:
    high = 0.5 + float(np.median([point.chance for line in curves for point in line.points]))
    axes.axhline(high, color="black", linestyle="--", linewidth=0.8)


def _who(curves: Sequence[Line]) -> str:
    return ", ".join(dict.fromkeys(attack for line in curves for attack in line.attacks))


def round_bars(results: AuditResults, held: Rounds) -> Picture:
    """Draw the AUC on whole transcripts, by kind of device."""
    devices, attacks = list(held.devices), list(held.controls)
    figure, (axes,) = panels(1, 1, height=3.4)
    position, width = np.arange(len(devices)), 0.84 / max(len(attacks), 1)
    for k, attack in enumerate(attacks):
        rows = [results.get(device, "auc", attack) for device in devices]
        value = np.array([np.nan if row is None else results.folded(row) - 0.5 for row in rows])
        axes.bar(position - 0.42 + (k + 0.5) * width, value, width, bottom=0.5, label=attack,
                 **bar_look(k))  # fmt: skip
    bands = results.macro_bands or results.bands
    high = [bands[device].judged_high for device in devices]
    axes.hlines(high, position - 0.45, position + 0.45, color="black", linestyle=":",
                linewidth=1.2, label="chance, strongest of all")  # fmt: skip
    axes.set(ylim=(0.5, 1.02), ylabel="AUC, on either side of 0.5", xticks=position)
    axes.set_xticklabels(list(held.devices.values()))
    legend_above(axes, 3)
    return picture(
        figure,
        "What rounds give away",
        "How well whole transcripts tell the categories apart, by kind of device: raw ratings,"
        " the product's, and two that do not keep decisions. Below the dotted line it is at"
        " chance.",
        stand_in(results.dataset),
    )
