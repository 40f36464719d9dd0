"""Audits of several sizes of the panel and numbers of outsiders, a point of a curve each."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from midpoint.audit.measure.findings import RMSE, SizePoint
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run.adversaries.catalogue import OUTSIDER, PANEL
from midpoint.audit.run.plan import Plan
from midpoint.audit.setting import AuditSetting, Size
from midpoint.errors import MidpointError

SIZES = "sizes"
"""Where the audits of single sizes are, below the directory of the whole."""


def with_reports(setting: AuditSetting) -> bool:
    """Tell whether every panel is to be audited with everyone else's reports, too: of several."""
    return not setting.panel_alone and len({panel for panel, _ in setting.sizes()}) > 1


def size_directory(root: Path, plan: Plan) -> Path:
    """Return where the audit of a size is kept, so that a killed run resumes."""
    size = f"panel-{_name(plan.panel)}-outsiders-{_name(plan.outsiders)}"
    return root / SIZES / (size + "-reports" * plan.reports)


def _name(size: Size) -> str:
    return "rest" if size is None else f"{size:g}"


def require_outsiders(*against: Iterable[str]) -> None:
    """Refuse sizes that are measured against nobody whom they matter to."""
    if any(OUTSIDER not in adversaries for adversaries in against):
        raise MidpointError("sizes are of outsiders; name that adversary: --adversary outsider")


def size_points(results: AuditResults, *, reports: bool = False) -> Iterator[SizePoint]:
    """Say of each scheme what leaks to outsiders and to the panel's analyst, and what it costs."""
    outsider = results.adversaries[OUTSIDER]
    for scheme in results.bands:
        strongest, judge = results.strongest(scheme, OUTSIDER), results.judge(scheme, OUTSIDER)
        band = outsider.bands.get(scheme)
        if strongest is None or band is None:
            continue
        row, of = (strongest, band) if judge is None else (judge[0], judge[1].band)
        bound, of_panel = results.bounds.get(scheme), results.judge(scheme, PANEL)
        cost = results.get(scheme, RMSE[-1])
        yield SizePoint(
            scheme=scheme,
            panel=outsider.panel,
            outsiders=outsider.outsiders,
            value=row.value,
            low=row.low,
            high=row.high,
            chance=of.judged_high,
            strongest=strongest.value,
            bound=None if bound is None else bound.value,
            reports=reports,
            panel_judge=None if of_panel is None else of_panel[0].value,
            rmse=None if cost is None else cost.value,
        )
