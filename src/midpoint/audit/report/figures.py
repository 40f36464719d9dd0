"""The figures of the report: what leaks to whom, and what is withheld (Figures 4 to 6)."""

from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from midpoint.analyst.fit.choice import RAW
from midpoint.audit.measure.findings import INFERRED, LISTED, NDCG, RMSE, ROUNDING, Row
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.adversary_figures import (
    outsider_curves,
    roc_curves,
    size_curves,
    withholding_curves,
)
from midpoint.audit.report.curve_figures import (
    activity,
    alpha_curve,
    bits_curve,
    count_curve,
    trade_off,
)
from midpoint.audit.report.paper import PaperNumbers, paper_numbers, stand_in
from midpoint.audit.report.settings import tick
from midpoint.audit.report.style import (
    COLOURS,
    STYLE,
    Picture,
    bar_look,
    legend_above,
    legend_beside,
    line_look,
    panels,
    picture,
)
from midpoint.audit.report.tradeoff import plain_schemes
from midpoint.audit.report.verdict import headline

STRONGEST = "the strongest of all"
MOST_BARS = 7
"""Attackers in the chart beside the paper's: the clean ones, and the strongest of the others."""
CLEAN_ATTACK = "lr"
"""The attacker whose scores the histograms show, as in the paper."""
AFTER = ("mpss",)
"""Schemes whose histograms are shown beside the main one's: the paper's."""
PAPER_MARK: Any = {
    "marker": "D",
    "linestyle": "",
    "color": "white",
    "markeredgecolor": "black",
    "markersize": 3.5,
}
"""How the paper's numbers are marked."""
_PAPERS = dict.fromkeys(("lse-penalized", "lse-matched"), "lse")
"""Which of the paper's attackers ours is, where it is called otherwise."""
ALIKE = 0.02
"""Shares withheld that differ less than this are drawn as one line."""


def pictures(results: AuditResults) -> Iterator[Picture]:
    """Draw all figures that the results can fill."""
    makers = (
        trade_off,
        roc_curves,
        size_curves,
        outsider_curves,
        withholding_curves,
        bars,
        every_attacker,
        histograms,
        withheld,
        activity,
        alpha_curve,
        bits_curve,
        count_curve,
    )
    for make in makers:
        with mpl.rc_context(STYLE):
            drawn = make(results)
        if drawn is not None:
            yield drawn


def bars(results: AuditResults) -> Picture | None:
    """Draw privacy and accuracy of every scheme, the paper's numbers on ours (Figures 4, 5)."""
    schemes = [name for name in plain_schemes(results) if results.strongest(name)]
    if not schemes:
        return None
    shown, known = bar_heights(results, schemes), paper_numbers(results.dataset, results.feature)
    paper = {} if known is None else known[1]
    figure, (top, below) = panels(2, 1, height=5.6, ratios=(2, 1))
    position, width = np.arange(len(schemes)), 0.84 / max(len(shown), 1)
    for k, (attack, value) in enumerate(shown.items()):
        middle = position - 0.42 + (k + 0.5) * width
        top.bar(middle, value - 0.5, width, bottom=0.5, label=attack, **bar_look(k))
        theirs = _PAPERS.get(attack, attack)
        said = [getattr(paper.get(_name(results, scheme)), theirs, None) for scheme in schemes]
        top.plot(middle, [one or np.nan for one in said], **PAPER_MARK)
    if paper:
        top.plot([], [], label="the paper", **PAPER_MARK)
    high = [results.bands[scheme].judged_high for scheme in schemes]
    top.hlines(high, position - 0.45, position + 0.45, color="black", linestyle=":", linewidth=1.2,
               label="chance, strongest of all")  # fmt: skip
    top.set(ylim=(0.5, 1.02), ylabel="AUC, on either side of 0.5", xticks=position)
    top.set_xticklabels([])
    legend_above(top, 4)
    _rmse_bars(below, results, schemes, paper)
    whose = "" if known is None else f" White marks are the paper's numbers ({known[0]})."
    if results.macro:
        whose = (
            " Bars of single attackers are means over categories; the last bar, and the dotted"
            f" line, are of the category that is guessed best.{whose}"
        )
    return picture(
        figure,
        "Privacy and accuracy",
        "Above, how well attackers tell the categories apart: 0.5 is a blind guess, 1 is certainty;"
        " below the dotted line it is at chance. Below, the error of predictions, on an"
        f" axis that does not begin at 0.{whose} As the paper's Figures 4 and 5.",
        stand_in(results.dataset),
    )


def bar_heights(results: AuditResults, schemes: list[str]) -> dict[str, NDArray[np.float64]]:
    """Return what is drawn of each attacker, and of the strongest whichever it is. (schemes,)."""
    heights = {name: _folded(results, schemes, name) for name in _shown_attacks(results)}
    most = [results.strongest(scheme) for scheme in schemes]
    heights[STRONGEST] = np.array([np.nan if r is None else abs(r.value - 0.5) + 0.5 for r in most])
    return heights


def _rmse_bars(
    axes: Axes, results: AuditResults, schemes: list[str], paper: Mapping[str, PaperNumbers]
) -> None:
    position, lowest = np.arange(len(schemes)), np.inf
    graded = (NDCG,) if results.unary else RMSE
    for k, metric in enumerate(INFERRED if results.is_paper else graded):
        rows = [results.get(scheme, metric) for scheme in schemes]
        value = np.array([np.nan if row is None else row.value for row in rows])
        lowest = min(lowest, float(np.nanmin(value)))
        axes.bar(position + (k - 1) * 0.28, value, 0.28,
                 label=LISTED.get(metric, metric.removeprefix("rmse_")),
                 color=("white", "#999999", "#0072B2")[k], hatch=("//", "", "")[k],
                 edgecolor="black", linewidth=0.5)  # fmt: skip
    names = [_name(results, scheme) for scheme in schemes]
    said = np.array([paper[name].rmse if name in paper else None for name in names], dtype=float)
    if np.isfinite(said).any():
        for moved in (-0.28, 0.0, 0.28)[: 3 if results.is_paper else 1]:
            axes.plot(position + moved, said, **PAPER_MARK)
        lowest = min(lowest, float(np.nanmin(said)))
    axes.set(
        ylabel="NDCG@10" if results.unary else "RMSE", xticks=position, ylim=(0.9 * lowest, None)
    )
    axes.set_xticklabels(list(map(tick, schemes)), rotation=30, ha="right")
    legend_above(axes, 3)


def _name(results: AuditResults, scheme: str) -> str:
    """Return what a scheme is called without its settings, as the paper does."""
    return str(results.schemes[scheme]["name"])


def every_attacker(results: AuditResults) -> Picture | None:
    """Draw one small chart for each attacker, all schemes in each."""
    schemes = [name for name in plain_schemes(results) if results.strongest(name)]
    attacks = [name for name in results.attack_names() if any(_rows(results, schemes, name))]
    if not schemes or not attacks:
        return None
    columns = 4
    rows = -(-len(attacks) // columns)
    figure, grid = panels(rows, columns, height=0.7 + 1.15 * rows)
    position = np.arange(len(schemes))
    high = [(results.macro_bands or results.bands)[scheme].judged_high for scheme in schemes]
    for k, (axes, attack) in enumerate(zip(grid, attacks, strict=False)):
        value = _folded(results, schemes, attack)
        outside = value > np.array(high) + ROUNDING
        for leaks, look in ((True, COLOURS[5]), (False, "white")):
            axes.bar(position, np.where(outside == leaks, value - 0.5, 0), 0.8, bottom=0.5,
                     color=look, edgecolor="black", linewidth=0.4)  # fmt: skip
        axes.hlines(
            high, position - 0.5, position + 0.5, color="black", linestyle=":", linewidth=0.8
        )
        void = "" if results.controls[attack].reads else " (proves nothing)"
        axes.set_title(f"{attack.removeprefix('adaptive-')}{void}", fontsize=7)
        axes.set(ylim=(0.5, 1.02), xticks=position, yticks=(0.5, 0.75, 1.0))
        last = k + columns >= len(attacks)
        axes.set_xticklabels(list(map(tick, schemes)) if last else [], rotation=90, fontsize=6)
        axes.tick_params(labelleft=k % columns == 0, labelsize=6)
    for axes in grid[len(attacks) :]:
        axes.remove()
    return picture(
        figure,
        "Every attacker on every scheme",
        "AUC on either side of 0.5. A filled bar is above what chance would show of the strongest"
        " attacker (dotted), a white one is not.",
        stand_in(results.dataset),
    )


def histograms(results: AuditResults) -> Picture | None:
    """Draw how two attackers' answers are spread before and after (Figure 6).

    The paper's attacker is seldom the strongest; so each scheme's strongest is below it.
    """
    verdict, drawn = headline(results), results.histograms
    if verdict is None or CLEAN_ATTACK not in drawn.get(RAW, {}):
        return None
    wanted = dict.fromkeys([RAW, *AFTER, verdict.scheme])
    schemes = [name for name in wanted if CLEAN_ATTACK in drawn.get(name, {})]
    if len(schemes) < 2:
        return None
    most = [row.attack for name in schemes if (row := results.strongest(name)) is not None]
    shown = [(name, CLEAN_ATTACK) for name in schemes] + list(zip(schemes, most, strict=True))
    figure, axes_of = panels(2, len(schemes), height=4.6)
    for axes, (scheme, attack) in zip(axes_of, shown, strict=True):
        _spread(axes, results, scheme, attack)
    for axes in axes_of[:: len(schemes)]:
        axes.set_ylabel("share of users")
    for axes in axes_of[len(schemes) :]:
        axes.set_xlabel("answer, on its fold's scale")
    axes_of[0].legend(fontsize=7, frameon=False)
    return picture(
        figure,
        "Answers before and after",
        "Scores that attackers give to people of either category, scaled in each fold, on raw"
        f" ratings (left) and on what is sent under {' and '.join(schemes[1:])}. Above, the"
        f" log-odds of {CLEAN_ATTACK}, trained on raw ratings, as in the paper's Figure 6: where"
        " its two shapes are the same, this attacker learns nothing; another may. Below,"
        " the strongest attacker on each. The first and the last bin hold all that lies beyond.",
        stand_in(results.dataset),
    )


def _spread(axes: Axes, results: AuditResults, scheme: str, attack: str) -> None:
    """Draw an attacker's answers about people of either category, over each other."""
    drawn, row = results.histograms[scheme][attack], results.get(scheme, "auc", attack)
    for k, name in enumerate(results.categories):
        share = np.array(drawn.counts[k]) / max(sum(drawn.counts[k]), 1)
        axes.stairs(share, np.array(drawn.edges), fill=True, alpha=0.45, label=name,
                    color=COLOURS[k], hatch=("", "//")[k])  # fmt: skip
        axes.stairs(share, np.array(drawn.edges), color=COLOURS[k], linewidth=1)
    area = "" if row is None else f": AUC {row.value:.2f}"
    axes.set_title(f"{scheme}{area}\n{attack}", fontsize=8)


def withheld(results: AuditResults) -> Picture | None:
    """Draw which share of their ratings people withhold (Sec. 7.2, sparse data)."""
    plain = plain_schemes(results)
    shares = {name: results.withheld[name] for name in plain if name in results.withheld}
    groups: dict[tuple[float, ...], list[str]] = {}
    for name, share in shares.items():
        near = next((one for one in groups if _alike(one, share)), share)
        if max(share) > 0:
            groups.setdefault(near, []).append(name)
    if not groups:
        return None
    figure, (axes,) = panels(1, 1, height=2.8)
    for k, (share, names) in enumerate(groups.items()):
        where = np.linspace(0, 100, len(share))
        axes.plot(where, 100 * np.array(share), label="\n".join(names), clip_on=False,
                  **line_look(k))  # fmt: skip
    axes.set(xlabel="users, those who withhold least first (%)", ylabel="ratings withheld (%)")
    axes.set(xlim=(0, 100), ylim=(0, None))
    legend_beside(axes)
    return picture(
        figure,
        "How much is withheld",
        "The share of her ratings that a user's device keeps to itself, over users: at 50 is the"
        " median user. Schemes that withhold alike share a line. The paper: half of the users"
        " withhold at least 23 % on MovieLens and 10 % on Flixster; on its dense television data"
        " 80 % withhold nothing and the others at most 5 %; nobody withholds more than half.",
        stand_in(results.dataset),
    )


def _alike(some: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return float(np.abs(np.array(some) - np.array(other)).max()) < ALIKE


def _folded(results: AuditResults, schemes: list[str], attack: str) -> NDArray[np.float64]:
    """Return AUCs on the upper side of 0.5, NaN where there is none. Shape (schemes,)."""
    rows = _rows(results, schemes, attack)
    return np.array([np.nan if row is None else results.folded(row) for row in rows])


def _rows(results: AuditResults, schemes: list[str], attack: str) -> list[Row | None]:
    return [results.get(scheme, "auc", attack) for scheme in schemes]


def _shown_attacks(results: AuditResults) -> list[str]:
    """Return the clean attackers, and of the others those that are strongest on any scheme."""

    def excess(name: str) -> float:
        rows = _rows(results, plain_schemes(results)[1:], name)
        return sum(results.folded(row) - 0.5 for row in rows if row)

    names = results.attack_names()
    clean = [name for name in names if not results.adaptive[name]]
    others = sorted((name for name in names if results.adaptive[name]), key=excess, reverse=True)
    return [*clean, *others[: max(MOST_BARS - 1 - len(clean), 1)]]
