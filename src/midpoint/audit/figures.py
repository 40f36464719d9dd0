"""The figures of the report: readable in print, and by people who see fewer colours."""

import base64
import io
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from midpoint.audit.plan import RAW
from midpoint.audit.results import RMSE, AuditResults
from midpoint.audit.verdict import headline

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
"""Okabe and Ito's, which people with any colour vision tell apart."""
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")
STYLE: Any = {
    "svg.hashsalt": "midpoint",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.6,
}
MOST_BARS = 6
"""Attackers shown in the bar chart: the paper's, and the strongest of the others."""
CLEAN_ATTACK = "lr"
"""Whose answers the histograms show, as the paper's do."""
FINEST = 16
"""Bits of a number that is not quantised."""


class Picture(NamedTuple):
    """One figure."""

    title: str
    """What it shows."""
    text: str
    """How to read it; also what is read out in its place."""
    source: str
    """It as an address of its own content."""


def pictures(results: AuditResults) -> Iterator[Picture]:
    """Draw all figures that the results can fill."""
    for make in (bars, trade_off, histograms, activity, alpha_curve, bits_curve):
        with mpl.rc_context(STYLE):
            picture = make(results)
        if picture is not None:
            yield picture


def bars(results: AuditResults) -> Picture | None:
    """Draw privacy and accuracy of every scheme (Figures 4 and 5)."""
    schemes = [name for name in results.scheme_names() if results.strongest(name)]
    if not schemes:
        return None
    shown = _shown_attacks(results)
    figure, (top, below) = _panels(2, 1, height=5.2, ratios=(2, 1))
    place, width = np.arange(len(schemes)), 0.84 / max(len(shown), 1)
    for k, attack in enumerate(shown):
        rows = [results.get(scheme, "auc", attack) for scheme in schemes]
        value = np.array([np.nan if row is None else abs(row.value - 0.5) + 0.5 for row in rows])
        top.bar(place - 0.42 + (k + 0.5) * width, value - 0.5, width, bottom=0.5, label=attack,
                color=COLOURS[k % len(COLOURS)], hatch=HATCHES[k % len(HATCHES)],
                edgecolor="black", linewidth=0.5)  # fmt: skip
    for x, scheme in zip(place, schemes, strict=True):
        high = results.bands[scheme].high
        top.plot([x - 0.45, x + 0.45], [high, high], color="black", linestyle=":", linewidth=1.2,
                 label="chance, strongest of all" if x == 0 else None)  # fmt: skip
    top.set(ylim=(0.5, 1.02), ylabel="AUC, on either side of 0.5", xticks=place)
    top.set_xticklabels([])
    top.legend(ncols=4, fontsize=7, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    _rmse_bars(below, results, schemes)
    return _picture(
        figure,
        "Privacy and accuracy",
        "Above, how well attackers tell the categories apart: 0.5 is a blind guess, 1 is certainty;"
        " below the dotted line it is no more than chance. Below, the error of predictions.",
    )


def _rmse_bars(axes: Axes, results: AuditResults, schemes: list[str]) -> None:
    place, lowest = np.arange(len(schemes)), np.inf
    for k, metric in enumerate(RMSE):
        rows = [results.get(scheme, metric) for scheme in schemes]
        value = np.array([np.nan if row is None else row.value for row in rows])
        lowest = min(lowest, float(np.nanmin(value)))
        axes.bar(place + (k - 1) * 0.28, value, 0.28, label=metric.removeprefix("rmse_"),
                 color=("white", "#999999", "#0072B2")[k], hatch=("//", "", "")[k],
                 edgecolor="black", linewidth=0.5)  # fmt: skip
    axes.set(ylabel="RMSE", xticks=place, ylim=(0.9 * lowest, None))
    axes.set_xticklabels(schemes, rotation=30, ha="right")
    axes.legend(ncols=3, fontsize=7, frameon=False, loc="upper left")


def trade_off(results: AuditResults) -> Picture | None:
    """Place every scheme by privacy, accuracy and disclosure, as measured (Figure 1)."""
    figure, (axes,) = _panels(1, 1)
    placed = 0
    for k, scheme in enumerate(results.scheme_names()):
        strongest, error = results.strongest(scheme), results.get(scheme, RMSE[2])
        bits = results.get(scheme, "disclosed_bits")
        if strongest is None or error is None or bits is None:
            continue
        x, placed = abs(strongest.value - 0.5) + 0.5, placed + 1
        label, look = f"{scheme}, {bits.value:.0f} bits", _line(k) | {"linestyle": ""}
        axes.plot([x], [error.value], markersize=8, markeredgecolor="black", label=label, **look)
        axes.annotate(scheme, (x, error.value), xytext=(6, 4), textcoords="offset points")
    axes.set(xlabel="AUC of the strongest attacker (0.5: private)", xlim=(0.48, 1.05))
    axes.set(ylabel="RMSE, corrected locally")
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if not placed:
        return None
    return _picture(
        figure,
        "Privacy, accuracy and disclosure",
        "Left is more private, low is more accurate. The bits are what is disclosed of each item.",
    )


def histograms(results: AuditResults) -> Picture | None:
    """Draw how an attacker's answers are spread before and after (Figure 6)."""
    verdict = headline(results)
    attack = CLEAN_ATTACK if CLEAN_ATTACK in results.answers.get(RAW, {}) else ""
    if verdict is None or not attack or attack not in results.answers.get(verdict.scheme, {}):
        return None
    figure, panels = _panels(1, 2, height=2.6)
    for axes, scheme in zip(panels, (RAW, verdict.scheme), strict=True):
        drawn, row = results.answers[scheme][attack], results.get(scheme, "auc", attack)
        for k, name in enumerate(results.categories):
            share = np.array(drawn.counts[k]) / max(sum(drawn.counts[k]), 1)
            axes.stairs(share, np.array(drawn.edges), fill=True, alpha=0.45, label=name,
                        color=COLOURS[k], hatch=("", "//")[k])  # fmt: skip
            axes.stairs(share, np.array(drawn.edges), color=COLOURS[k], linewidth=1)
        reading = "" if row is None else f": AUC {row.value:.2f}"
        axes.set(title=f"{attack} on {scheme}{reading}", xlabel="log-odds, standardised by fold")
        axes.legend(fontsize=7, frameon=False)
    panels[0].set_ylabel("share of users")
    return _picture(
        figure,
        "Answers before and after",
        "The attacker's log-odds for people of either category, on raw ratings (left) and on what"
        f" {verdict.scheme} sends (right). Where the two cannot be told apart, nothing is learned.",
    )


def activity(results: AuditResults) -> Picture | None:
    """Draw privacy against the number of ratings a person gives."""
    if not results.activity:
        return None
    figure, (axes,) = _panels(1, 1)
    for k, (scheme, found) in enumerate(results.activity.items()):
        axes.plot(found.ratings, found.value, label=f"{scheme}: {found.attack}", **_line(k))
        axes.fill_between(
            found.ratings, found.low, found.high, alpha=0.12, color=COLOURS[k % len(COLOURS)]
        )
    axes.axhline(0.5, color="black", linewidth=0.7)
    axes.set(xscale="log", xlabel="ratings given, mean of each quarter of the users", ylabel="AUC")
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return _picture(
        figure,
        "Privacy by the number of ratings",
        "AUC of each scheme's strongest attacker, for quarters of the users by how many ratings"
        " they gave; bands are 95 % intervals.",
    )


def alpha_curve(results: AuditResults) -> Picture | None:
    """Draw privacy against accuracy as more ratings are obfuscated (Figure 7)."""
    return _curve(
        _series(results, "alpha", lambda point: (point.area, point.error)),
        ("AUC of the strongest attacker", "RMSE, corrected locally"),
        "Privacy against accuracy",
        "Along a line, a growing share alpha of the ratings is obfuscated, the rest sent as it is.",
    )


def bits_curve(results: AuditResults) -> Picture | None:
    """Draw privacy against what is disclosed, the paper's closing question (Sec. 8)."""
    return _curve(
        _series(results, "bits", lambda point: (point.bits, point.area)),
        ("bits disclosed of an item", "AUC of the strongest attacker"),
        "Privacy against disclosure",
        "Along a line, the same numbers are disclosed in more bits.",
    )


class Point(NamedTuple):
    """A scheme as measured."""

    setting: float
    """What was varied."""
    area: float
    """AUC of the strongest attacker, folded."""
    error: float
    """RMSE with local correction."""
    bits: float
    """Bits disclosed of an item."""


Series = dict[str, list[tuple[float, float]]]


def _series(
    results: AuditResults, key: str, place: Callable[[Point], tuple[float, float]]
) -> Series:
    """Return for each base scheme where its settings lie, in ascending order."""
    found: dict[str, list[Point]] = {}
    for scheme in results.scheme_names():
        settings, strongest = results.schemes[scheme], results.strongest(scheme)
        error, bits = results.get(scheme, RMSE[2]), results.get(scheme, "disclosed_bits")
        if strongest and error and bits and scheme != RAW:
            setting = float(FINEST if settings[key] is None else settings[key])
            area = abs(strongest.value - 0.5) + 0.5
            point = Point(setting, area, error.value, bits.value)
            found.setdefault(settings["name"], []).append(point)
    return {
        name: [place(point) for point in sorted(points)]
        for name, points in found.items()
        if len({point.setting for point in points}) > 1
    }


def _curve(series: Series, labels: tuple[str, str], title: str, text: str) -> Picture | None:
    if not series:
        return None
    figure, (axes,) = _panels(1, 1, height=3.2)
    for k, (name, points) in enumerate(series.items()):
        axes.plot(*np.transpose(points), label=name, **_line(k))
    axes.set(xlabel=labels[0], ylabel=labels[1])
    axes.legend(fontsize=7, frameon=False)
    return _picture(figure, title, text)


def _shown_attacks(results: AuditResults) -> list[str]:
    """Return the clean attackers, and of the others those that read most of any scheme."""

    def excess(name: str) -> float:
        rows = (results.get(scheme, "auc", name) for scheme in results.scheme_names()[1:])
        return sum(abs(row.value - 0.5) for row in rows if row)

    names = results.attack_names()
    clean = [name for name in names if not results.adaptive[name]]
    others = sorted((name for name in names if results.adaptive[name]), key=excess, reverse=True)
    return [*clean, *others[: max(MOST_BARS - len(clean), 2)]]


def _line(k: int) -> dict[str, Any]:
    """Return the look of the k-th line."""
    return {
        "color": COLOURS[k % len(COLOURS)],
        "marker": MARKERS[k % len(MARKERS)],
        "linewidth": 1,
    }


def _panels(
    rows: int, columns: int, *, height: float = 3.6, ratios: tuple[int, ...] | None = None
) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(7.2, height), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, height_ratios=ratios)
    return figure, list(grid.ravel())


def _picture(figure: Figure, title: str, text: str) -> Picture:
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    content = base64.b64encode(stream.getvalue()).decode()
    return Picture(title, text, f"data:image/svg+xml;base64,{content}")
