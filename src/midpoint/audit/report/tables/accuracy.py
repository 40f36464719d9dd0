"""What schemes cost, and curves over their settings."""

from collections.abc import Iterator, Sequence
from html import escape

from midpoint.audit.measure.findings import LISTED, NDCG, RANKING, RMSE, ROUNDING, Cost, Row
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.html import Cells, table
from midpoint.audit.report.settings import label
from midpoint.audit.report.tradeoff import Line, lines, plain_schemes

_COST = {
    False: "how far the local error is above the least of the three that raw ratings give, which"
    " cost 0",
    True: "how far the first is above that of raw ratings, as in the paper's Sec. 7.2",
}
"""What costs compare, in the paper's setting or not."""
_SETTING = {"alpha": "alpha", "bits": "bits of a number", "share": "share"}
"""How the settings of curves are called in a table."""
_POINT_HEADS = (
    "strongest AUC",
    "chance, up to",
    "AUC of lse",
    "RMSE, local, or NDCG@10 of sets",
    "cost",
    "bits of an item",
)


def costs(results: AuditResults) -> Iterator[str]:
    """Show what every scheme costs."""
    names = [] if results.unary else [metric.removeprefix("rmse_") for metric in RMSE]
    errors = (
        "Of sets of items:"
        if results.unary
        else "RMSE of held-out ratings: with the <b>inferred</b> category (the paper's way),"
        " <b>blind</b> to it, and <b>local</b>, corrected on the device. <b>Cost</b>:"
        f" {_COST[results.is_paper]}."
    )
    what = "items" if results.unary else "ratings"
    yield table(
        f"{errors} <b>Withheld</b>: the share of {what}, on average, of the median user, and at"
        " most. <b>Bits</b>: how much is disclosed of each item.",
        ["scheme", *names, *(["cost"] * (not results.unary)), "withheld", "median / most", "bits"],
        [_cost_row(results, scheme) for scheme in plain_schemes(results)],
    )


def lists(results: AuditResults) -> Iterator[str]:
    """Show how good the lists of new people are under every scheme, if they were ranked."""
    schemes = [name for name in plain_schemes(results) if results.get(name, NDCG) is not None]
    if schemes:
        yield table(
            "Recommendation lists of new people. Each device ranks all items that its user did not"
            " give. Relevant are held-out items that she rated in the upper quarter of the scale."
            " <b>Coverage</b>: the share of all items that somebody of a fold sees among her first"
            " ten. <b>Cost</b>: the share of NDCG@10 that is lost, against raw ratings. Intervals"
            " are over people.",
            ["scheme", *(LISTED[metric] for metric in RANKING), "cost in NDCG@10"],
            [_list_row(results, scheme) for scheme in schemes],
        )


def _list_row(results: AuditResults, scheme: str) -> Cells:
    cost = results.ndcg_costs.get(scheme)
    base = "0: the base" if scheme == results.baseline(scheme) else ""
    return [
        escape(label(scheme)),
        *(_measured(results.get(scheme, metric)) for metric in RANKING),
        base if cost is None else _share(cost.value, cost),
    ]


def _measured(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row.value:.4f}<br><small>{row.low:.4f}-{row.high:.4f}</small>"


def _cost_row(results: AuditResults, scheme: str) -> Cells:
    measured = [results.get(scheme, metric) for metric in (() if results.unary else RMSE)]
    errors = [_measured(row) for row in measured]
    kept = results.get(scheme, "withheld")
    bits, deciles = results.get(scheme, "disclosed_bits"), results.withheld.get(scheme)
    return [
        escape(label(scheme)),
        *errors,
        *([] if results.unary else [_cost(results, scheme)]),
        "" if kept is None else f"{kept.value:.1%}",
        "" if not deciles else f"{deciles[5]:.1%} / {deciles[10]:.1%}",
        "" if bits is None else f"{bits.value:.1f}",
    ]


def _cost(results: AuditResults, scheme: str) -> str:
    cost, spread = results.cost(scheme), results.costs.get(scheme)
    if cost is None:
        return ""
    if scheme == results.baseline(scheme):
        return "0: the base"
    return _share(cost, spread)


def _share(cost: float, spread: Cost | None) -> str:
    share = f"{100 * cost:+z.2f} %"
    if spread is None:
        return share
    return f"{share}<br><small>{100 * spread.low:+z.2f} to {100 * spread.high:+z.2f}</small>"


def curves(results: AuditResults, key: str) -> Iterator[str]:
    """Show the numbers behind the curves over one setting."""
    drawn = lines(results, key)
    if drawn:
        yield table(
            "The numbers behind the figure; AUC folded to 0.5 and above, by attackers that tried"
            " every point. <b>Bold</b>: above what chance would show (wider band)."
            f"{_without_setting(drawn)}",
            ["scheme", _SETTING[key], *_POINT_HEADS],
            [row for line in drawn for row in _point_rows(line)],
        )


def _without_setting(drawn: Sequence[Line]) -> str:
    """Say which schemes are disclosed at one precision, if some are."""
    names = [line.scheme for line in drawn if len(line.points) == 1]
    return f" Disclosed at one precision: {escape(', '.join(names))}." if names else ""


def _point_rows(line: Line) -> Iterator[Cells]:
    for point in line.points:
        area = f"{point.leak + 0.5:.3f}"
        yield [
            escape(line.scheme),
            "its own" if len(line.points) == 1 else f"{point.setting:g}",
            f'<span class="leaks">{area}</span>' if point.leak > point.chance + ROUNDING else area,
            f"{point.chance + 0.5:.3f}",
            "" if point.paper_area is None else f"{point.paper_area:.3f}",
            f"{point.error:.4f}",
            f"{100 * point.cost:+.2f} %",
            f"{point.bits:.1f}",
        ]
