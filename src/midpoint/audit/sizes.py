"""What outsiders read as the panel, and the number of outsiders, grow: an audit for each size."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from midpoint.audit.measure.results import AuditResults, SizePoint
from midpoint.audit.pipeline import audit
from midpoint.audit.run.adversaries.outsiders import OUTSIDER
from midpoint.data import Ratings
from midpoint.errors import MidpointError

SIZES = "sizes"
"""Where the audits of single sizes are, below the directory of the whole."""


def audit_sizes(
    ratings: Ratings,
    feature: str | Sequence[str],
    panels: Sequence[float | None],
    outsiders: Sequence[float | None],
    *,
    out: Path,
    **options: Any,
) -> AuditResults:
    """Audit against outsiders with every panel and every number of outsiders; return the last.

    The last panel and the last number of outsiders are what the results are about; the others are
    in `sizes`, with them. All are audits of the same people in the same folds. Each has its own
    directory below `out`, so that a killed run resumes.

    Args:
        ratings: The data.
        feature: The private feature, or several to be crossed.
        panels: Sizes of the panel, as numbers or shares; the last is the main one.
        outsiders: Numbers of outsiders, likewise.
        out: Directory of the whole.
        options: All else that `audit` takes.
    """
    if not panels or not outsiders:
        raise MidpointError("name one size of the panel at least, and one number of outsiders")
    if len(panels) == len(outsiders) == 1:
        return audit(ratings, feature, out=out, panel=panels[0], outsiders=outsiders[0], **options)
    points = list[SizePoint]()
    main = None
    for panel, m in _each(panels, outsiders):
        last = (panel, m) == (panels[-1], outsiders[-1])
        directory = out if last else out / SIZES / f"panel-{_name(panel)}-outsiders-{_name(m)}"
        results = audit(ratings, feature, out=directory, panel=panel, outsiders=m, **options)
        if OUTSIDER not in results.adversaries:
            raise MidpointError("sizes are of outsiders; name that adversary: --adversary outsider")
        points += size_points(results)
        main = results if last else main
    if main is None:  # the last size is always among them
        raise MidpointError("no size was audited")
    return replace(main, sizes=tuple(points))


def _each(
    panels: Sequence[float | None], outsiders: Sequence[float | None]
) -> Iterator[tuple[float | None, float | None]]:
    """Go along both curves: every panel with the last number of outsiders, and the other way.

    The last of both come first, since the others are below their directory.
    """
    along = [(panel, outsiders[-1]) for panel in reversed(panels)]
    across = [(panels[-1], m) for m in reversed(outsiders)]
    yield from dict.fromkeys([*along, *across])


def _name(size: float | None) -> str:
    return "rest" if size is None else f"{size:g}"


def size_points(results: AuditResults) -> Iterator[SizePoint]:
    """Say of each scheme what outsiders read of it, by their judge and by their strongest."""
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
