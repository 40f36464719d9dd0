"""How figures look: readable in print, and by people who see fewer colours or none."""

import base64
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
"""Okabe and Ito's, which people with any colour vision tell apart."""
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")
DASHES = ("-", "--", "-.", ":")
STYLE: Any = {
    "svg.hashsalt": "midpoint",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.6,
}
WIDTH = 7.2
"""Inches: what a printed page holds."""


class Picture(NamedTuple):
    """One figure."""

    title: str
    """What it shows."""
    text: str
    """How to read it; also what is read out instead of it."""
    source: str
    """It as an address of its own content."""


def panels(
    rows: int, columns: int, *, height: float = 3.6, ratios: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """Start a figure of the page's width."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, height_ratios=ratios)
    return figure, list(grid.ravel())


def picture(figure: Figure, title: str, text: str, note: str = "") -> Picture:
    """Turn a figure into a drawing that carries its own content; a note is written on it."""
    if note:
        figure.suptitle(note, fontsize=8, color="#a00000", fontweight="bold")
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    content = base64.b64encode(stream.getvalue()).decode()
    return Picture(title, text, f"data:image/svg+xml;base64,{content}")


def line_look(k: int) -> dict[str, Any]:
    """Return the look of the k-th line: colour, marker and dashes all tell it."""
    return point_look(k) | {"linestyle": DASHES[k % len(DASHES)], "linewidth": 1}


def point_look(k: int) -> dict[str, Any]:
    """Return the look of the k-th point."""
    return {
        "color": COLOURS[k % len(COLOURS)],
        "marker": MARKERS[k % len(MARKERS)],
        "markeredgecolor": "black",
        "markeredgewidth": 0.5,
        "linestyle": "",
    }


def bar_look(k: int) -> dict[str, Any]:
    """Return the look of the k-th bar: colour and hatching both tell it."""
    return {
        "color": COLOURS[k % len(COLOURS)],
        "hatch": HATCHES[k % len(HATCHES)],
        "edgecolor": "black",
        "linewidth": 0.5,
    }


def legend_above(axes: Axes, columns: int) -> None:
    """Put the legend over the panel, where it hides nothing."""
    axes.legend(
        ncols=columns, fontsize=7, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0)
    )


def legend_beside(axes: Axes) -> None:
    """Put the legend to the right of the panel."""
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def name_points(axes: Axes, names: Sequence[str], marks: Sequence[tuple[float, float]]) -> None:
    """Write names beside points, each where it meets no other name or point, if there is room."""
    figure = axes.get_figure(root=True)
    if figure is None or not marks:
        return
    figure.draw_without_rendering()
    points = axes.transData.transform(np.array(marks)) * 72 / figure.dpi
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in points.tolist()]
    for name, mark, (x, y) in zip(names, marks, points.tolist(), strict=True):
        wide, best = 4.6 * len(name), (5.0, 4.0)
        for dx, dy in _offsets(wide):
            box = (x + dx, y + dy, x + dx + wide, y + dy + 7)
            if not any(_meet(box, other) for other in taken):
                best = (dx, dy)
                break
        taken.append((x + best[0], y + best[1], x + best[0] + wide, y + best[1] + 7))
        arrow = {"arrowstyle": "-", "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
        axes.annotate(
            name, mark, xytext=best, textcoords="offset points", fontsize=7, arrowprops=arrow
        )


def _offsets(wide: float) -> list[tuple[float, float]]:
    """Return where a name may stand, in points from its point, the nearest first."""
    near = [(5.0, 4.0), (5.0, -10.0), (-wide - 5, 4.0), (-wide - 5, -10.0)]
    return near + [
        (dx, sign * (12.0 * far))
        for far in (1, 2, 3, 4, 5)
        for sign in (1, -1)
        for dx in (8.0, -wide / 2, -wide - 8)
    ]


def _meet(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Tell whether two boxes (left, bottom, right, top) overlap."""
    apart = box[2] < other[0] or other[2] < box[0] or box[3] < other[1] or other[3] < box[1]
    return not apart
