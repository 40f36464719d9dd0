from dataclasses import replace

from midpoint.audit.measure.findings import Cost
from midpoint.audit.report.tables.accuracy import costs, curves, lists
from tests.support.audits.made_up_results import made_up


def test_raw_ratings_are_the_base_and_others_cost_what_they_add() -> None:
    results = made_up()
    (shown,) = costs(replace(results, costs={"dmpss": Cost(0.02, 0.01, 0.03)}))
    assert "0: the base" in shown
    assert f"{100 * (results.cost('dmpss') or 0):+.2f} %" in shown
    assert "+1.00 to +3.00" in shown


def test_no_curve_is_shown_where_none_was_drawn() -> None:
    assert list(curves(made_up(), "alpha")) == []


def test_lists_are_shown_with_what_is_lost_and_only_where_they_were_ranked() -> None:
    results = made_up()
    assert list(lists(results)) == []
    ranked = [
        results.rows[0]._replace(scheme=scheme, metric="ndcg_at_10", attack="", value=value)
        for scheme, value in (("no", 0.4), ("dmpss", 0.38))
    ]
    lost = {"dmpss": Cost(0.05, 0.02, 0.08)}
    (shown,) = lists(replace(results, rows=(*results.rows, *ranked), ndcg_costs=lost))
    assert "NDCG@10" in shown
    assert "0.3800" in shown
    assert "+5.00 %" in shown
    assert "+2.00 to +8.00" in shown
    assert "0: the base" in shown
