"""What leaks to outsiders as the panel, and their number, grow: a point for each size."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from midpoint.audit.measure.findings import SizePoint
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run.adversaries.outsiders import OUTSIDER
from midpoint.audit.setting import Size
from midpoint.errors import MidpointError

SIZES = "sizes"
"""Where the audits of single sizes are, below the directory of the whole."""


def size_directory(root: Path, panel: Size, outsiders: Size) -> Path:
    """Return where the audit of a size is kept, so that a killed run resumes."""
    return root / SIZES / f"panel-{_name(panel)}-outsiders-{_name(outsiders)}"


def _name(size: Size) -> str:
    return "rest" if size is None else f"{size:g}"


def require_outsiders(*against: Iterable[str]) -> None:
    """Refuse sizes that are measured against nobody whom they matter to."""
    if any(OUTSIDER not in adversaries for adversaries in against):
        raise MidpointError("sizes are of outsiders; name that adversary: --adversary outsider")


def size_points(results: AuditResults) -> Iterator[SizePoint]:
    """Say of each scheme what leaks to outsiders, by their judge and by their strongest."""
    outsider = results.adversaries[OUTSIDER]
    for scheme in results.bands:
        strongest, judge = results.strongest(scheme, OUTSIDER), results.judge(scheme, OUTSIDER)
        band = outsider.bands.get(scheme)
        if strongest is None or band is None:
            continue
        row, of = (strongest, band) if judge is None else (judge[0], judge[1].band)
        bound = results.bounds.get(scheme)
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
        )
