from dataclasses import replace

from midpoint.audit.measure.findings import Cost
from midpoint.audit.report.tables.accuracy import costs, curves
from tests.support.audits.made_up_results import made_up


def test_raw_ratings_are_the_base_and_others_cost_what_they_add() -> None:
    results = made_up()
    (shown,) = costs(replace(results, costs={"dmpss": Cost(0.02, 0.01, 0.03)}))
    assert "0: the base" in shown
    assert f"{100 * (results.cost('dmpss') or 0):+.2f} %" in shown
    assert "+1.00 to +3.00" in shown


def test_no_curve_is_shown_where_none_was_drawn() -> None:
    assert list(curves(made_up(), "alpha")) == []
