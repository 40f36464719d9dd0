"""Results of an audit in a few lines, for a console or a notebook."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from midpoint.audit.measure.findings import Row
    from midpoint.audit.measure.results import AuditResults

SHOWN = 6
"""Schemes in a `repr` or a table, at most."""


def as_text(results: "AuditResults") -> str:
    """Say what was attacked, and how far the strongest attack on each scheme got."""
    against = f", measured against {', '.join(results.adversaries)}" if results.adversaries else ""
    first = (
        f"<AuditResults of {results.dataset}: {results.feature}"
        f" ({', '.join(results.categories[:SHOWN])}), {len(results.attack_names())} attackers,"
        f" {results.folds} folds{against}"
    )
    names = _tried(results)
    lines = [first, *(_sentence(results, scheme) for scheme in names[:SHOWN])]
    if len(names) > SHOWN:
        lines.append(f"and {len(names) - SHOWN} more schemes")
    return "\n  ".join(lines) + ">"


def as_table(results: "AuditResults") -> str:
    """Show the AUC of every attacker on every scheme; bold is outside the wider chance band."""
    names = _tried(results)
    shown = names[:SHOWN]
    rows = [
        [escape(attack), *(_area(results, results.get(scheme, "auc", attack)) for scheme in shown)]
        for attack in results.attack_names()
    ]
    bands = [(results.macro_bands or results.bands)[scheme] for scheme in shown]
    rows.append(["chance band", *(f"{b.judged_low:.3f}-{b.judged_high:.3f}" for b in bands)])
    rest = f"; {len(names) - SHOWN} more schemes" if len(names) > SHOWN else ""
    caption = (
        f"{escape(results.dataset)}: AUC of attackers on {escape(results.feature)}, by scheme;"
        f" bold: outside the chance band{rest}"
    )
    head = "".join(f"<th>{name}</th>" for name in ["attacker", *map(escape, shown)])
    body = "".join(map(_row, rows))
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _tried(results: "AuditResults") -> list[str]:
    """List the schemes that were attacked, the one in use first."""
    names = [name for name in results.bands if results.strongest(name) is not None]
    return sorted(names, key=lambda name: name != results.usual)


def _sentence(results: "AuditResults", scheme: str) -> str:
    row, band = results.strongest(scheme), results.bands[scheme]
    if row is None:
        return f"{scheme}: not attacked"
    cost, lost = None if results.unary else results.cost(scheme), results.ndcg_costs.get(scheme)
    priced = [] if cost is None or results.is_raw(scheme) else [f"{100 * cost:+z.1f} % RMSE"]
    priced += [] if lost is None else [f"{100 * lost.value:+z.1f} % of NDCG@10"]
    price = f"; cost {', '.join(priced)}" if priced else ""
    return (
        f"{scheme}: strongest attack {row.attack}, AUC {row.value:.3f}"
        f" (chance {band.judged_low:.3f}-{band.judged_high:.3f}){price}"
    )


def _area(results: "AuditResults", row: "Row | None") -> str:
    if row is None:
        return ""
    value = f"{row.value:.3f}"
    return value if results.is_chance(row) else f"<b>{value}</b>"


def _row(cells: Sequence[str]) -> str:
    return f"<tr><th>{cells[0]}</th>" + "".join(f"<td>{cell}</td>" for cell in cells[1:]) + "</tr>"
