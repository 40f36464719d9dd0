from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from midpoint.audit import AuditResults
from midpoint.audit.measure.findings import Band, Cost, Judge
from midpoint.audit.report import adversary_figures
from midpoint.audit.report.adversary_figures import roc_curves, withholding_curves
from midpoint.audit.report.style import Picture
from tests.support.audits.made_up_judges import judged
from tests.support.audits.made_up_results import made_up


def test_judges_are_drawn_and_nothing_where_there_is_none() -> None:
    picture = roc_curves(judged(0.56, single=0.55))
    assert picture is not None
    assert picture.title == "How sure the judge is"
    assert roc_curves(made_up()) is None


def withheld_by(areas: Mapping[str, tuple[float, float]]) -> AuditResults:
    """Invent what a judge of outsiders finds of each scheme, and the share that is withheld."""
    results = made_up({"no": {"lr": 0.8}} | {name: {"lr": 0.6} for name in areas})
    rows = [row for row in results.rows if row.metric != "withheld"]
    for scheme, (area, hidden) in areas.items():
        plain = rows[0]._replace(scheme=scheme, low=area - 0.01, high=area + 0.01)
        rows += [plain._replace(attack="judge:outsider", value=area)]
        rows += [plain._replace(metric="withheld", attack="", value=hidden)]
    judge = Judge("judge:outsider", Band(0.48, 0.52, 2, 0.01), {"lr": 1.0}, 0.9, (0, 1), (0, 1))
    cost = Cost(0.01, 0.0, 0.02)
    return replace(
        results,
        rows=tuple(rows),
        judges={scheme: {"outsider": judge} for scheme in areas},
        costs=dict.fromkeys(areas, cost),
    )


def points(drawn: Artist) -> list[list[float]]:
    assert isinstance(drawn, Line2D)
    return [[float(x), float(y)] for x, y in np.asarray(drawn.get_xydata()).tolist()]


def test_budgets_and_shares_are_drawn_by_what_they_withhold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[Figure] = []

    def keep(figure: Figure, title: str, text: str, note: str) -> Picture:
        kept.append(figure)
        return Picture(title, text, note)

    monkeypatch.setattr(adversary_figures, "picture", keep)
    areas = {"cmpss": (0.6, 0.2), "cmpss:leak=0.6": (0.52, 0.9), "cmpss:leak=0.7": (0.55, 0.5)}
    assert withholding_curves(withheld_by(areas)) is not None
    assert withholding_curves(withheld_by(areas | {"cmpss:keep=0.5": (0.57, 0.6)})) is not None
    assert withholding_curves(withheld_by({"cmpss": (0.6, 0.2), "dmpss": (0.6, 0.2)})) is None
    budgets, both = (one.axes[0].get_legend_handles_labels()[0] for one in kept)
    assert [str(line.get_label()) for line in budgets] == ["cmpss, leak budget: outsider"]
    assert points(budgets[0]) == [[20, 0.6], [50, 0.55], [90, 0.52]]
    assert [str(line.get_label()) for line in both] == [
        "cmpss, leak budget: outsider",
        "cmpss, share: outsider",
    ]
    assert points(both[1]) == [[20, 0.6], [60, 0.57]]
    assert {text.get_text() for text in kept[1].axes[0].texts} == {
        "cmpss", "leak=0.6", "leak=0.7", "keep=0.5",
    }  # fmt: skip
