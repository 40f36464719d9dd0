"""Results of an audit with several rounds that nobody held."""

from dataclasses import replace
from typing import Any

from midpoint.audit.measure.findings import Band, Control, Rounds, Row
from midpoint.audit.measure.results import AuditResults
from tests.support.audits.made_up_results import made_up, settings

RAW, PRODUCT = "no:rounds=4", "dmpss:rounds=4"
AREAS = {RAW: 0.9, PRODUCT: 0.52, f"{PRODUCT}:forgetful": 0.66, f"{PRODUCT}:tossing": 0.94}
KINDS = ("raw", "final", "forgetful", "tossing")
ATTACKS = ("transcript-trees", "adaptive-lr-items")


def made_up_rounds(product: float = 0.52, *, reads: bool = True, **changes: Any) -> AuditResults:
    """Add to invented results what two attackers read of each kind of device."""
    once, areas = made_up(**changes), AREAS | {PRODUCT: product}
    rows = tuple(
        Row("invented", "gender", device, "auc", name, value - k / 100, value - 0.1, 0.99, 10, 0)
        for device, value in areas.items()
        for k, name in enumerate(ATTACKS)
    )
    held = Rounds(
        rounds=4,
        budget=30,
        items=300,
        timed=True,
        devices=dict(zip(areas, KINDS, strict=True)),
        controls={name: Control(RAW, 0.9, reads) for name in ATTACKS},
        answers=dict.fromkeys(areas, (5.0, 6.5, 7.0, 9.0)),
    )
    return replace(
        once,
        rows=once.rows + rows,
        bands={**once.bands, **{device: Band(0.46, 0.54, 2, 0.2) for device in areas}},
        schemes={**once.schemes, **{device: settings(device) for device in areas}},
        rounds={PRODUCT: held},
    )
