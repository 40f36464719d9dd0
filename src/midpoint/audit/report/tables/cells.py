"""Cells that several tables have."""

from collections.abc import Iterator

from midpoint.audit.measure.findings import Band, Row
from midpoint.audit.measure.results import AuditResults

WIDEST = 6
"""Schemes side by side in one table: more do not fit on a page, printed or on a screen."""


def chunks(schemes: list[str]) -> Iterator[list[str]]:
    """Cut into equal parts of no more than fit side by side."""
    count = max(1, -(-len(schemes) // WIDEST))
    size = -(-len(schemes) // count)
    yield from (schemes[k : k + size] for k in range(0, len(schemes), max(size, 1)))


def area_cell(results: AuditResults, row: Row | None) -> str:
    """Show an AUC, its distance from 0.5 and its interval."""
    if row is None:
        return ""
    distance = results.folded(row) - 0.5
    value = value_cell(row, chance=results.is_chance(row))
    return f"{value} <small>({distance:.3f})<br>{row.low:.3f}-{row.high:.3f}</small>"


def value_cell(row: Row, *, chance: bool) -> str:
    """Show an AUC, marked where it is beyond chance."""
    return f"{row.value:.3f}" if chance else f'<span class="leaks">{row.value:.3f}</span>'


def band_cell(band: Band | None) -> str:
    """Show what chance would show, and by what it is judged."""
    if band is None:
        return ""
    chance = f"of {band.attackers}; p {band.p_value:.3f}"
    judged = f"wider {band.judged_low:.3f}-{band.judged_high:.3f}"
    return f"{band.low:.3f}-{band.high:.3f}<br><small>{judged}<br>{chance}</small>"
