"""Audits with several panels and several numbers of outsiders."""

from pathlib import Path

import pytest

from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.page import page
from midpoint.audit.setting import AuditSetting
from midpoint.audit.sizes import with_reports
from midpoint.cli.options.audit_extras import read_sizes, share_given
from midpoint.data import Simulation
from midpoint.errors import MidpointError
from tests.support.audits.small_audit import SMALL, small_audit


@pytest.mark.slow
def test_sizes_are_audits_of_their_own_and_drawn_as_curves(
    tiny: Simulation, tmp_path: Path
) -> None:
    found = small_audit(
        tiny.ratings,
        tmp_path / "out",
        schemes=["dmpss"],
        attacks={"adaptive-items": SMALL["adaptive-items"]},
        adversaries="outsider",
        panel=[30, 60],
        outsiders=[20, 40],
    )
    alone = small_audit(
        tiny.ratings,
        schemes=["dmpss"],
        attacks={"adaptive-items": SMALL["adaptive-items"]},
        adversaries="outsider",
        panel=60,
        outsiders=40,
    )
    assert found.rows == alone.rows
    assert alone.sizes == ()
    points = {(p.scheme, p.panel, p.outsiders): p for p in found.sizes if not p.reports}
    assert sorted(points) == [
        (scheme, *sizes) for scheme in ("dmpss", "no") for sizes in ((30, 40), (60, 20), (60, 40))
    ]
    judged = alone.judge("dmpss", "outsider")
    assert judged is not None
    assert points["dmpss", 60, 40].value == judged[0].value
    small, large = points["dmpss", 30, 40].bound, points["dmpss", 60, 40].bound
    assert small is not None
    assert large is not None
    assert small > large  # a small panel's errors are greater
    assert points["no", 30, 40].bound is None
    shown = page(found)
    assert all(p.rmse is not None and p.panel_judge is None for p in found.sizes)
    taught = {(p.panel, p.outsiders): p for p in found.sizes if p.reports and p.scheme == "dmpss"}
    assert sorted(taught) == [(30, 40), (60, 40)]
    assert taught[30, 40].rmse != points["dmpss", 30, 40].rmse
    for title in ("How many must tell", "What leaks to outsiders, by their number"):
        assert title in shown
        assert title not in page(alone)
    assert "dmpss: volunteers that this data needs" in shown
    assert "dmpss, with everyone else&#x27;s reports: volunteers that" in shown
    assert "volunteers that this data needs" not in page(alone)
    found.save(tmp_path)
    assert AuditResults.load(tmp_path).sizes == found.sizes


def test_the_panel_alone_is_half_of_the_work() -> None:
    sizes = [30, 60]
    assert with_reports(AuditSetting(panel=sizes))
    assert not with_reports(AuditSetting(panel=sizes, panel_alone=True))
    assert not with_reports(AuditSetting(panel=60))


def test_sizes_that_are_none_are_refused(tiny: Simulation) -> None:
    assert read_sizes("500,0.5, all", "--panel") == [500, 0.5, 1]
    assert read_sizes(None, "--panel") == [None]
    with pytest.raises(MidpointError, match="--outsiders takes numbers of people"):
        read_sizes("many", "--outsiders")
    with pytest.raises(MidpointError, match="name one size of the panel at least"):
        small_audit(tiny.ratings, panel=[])
    with pytest.raises(MidpointError, match="one panel is audited alone anyway; name several"):
        small_audit(tiny.ratings, panel_alone=True)
    with pytest.raises(MidpointError, match="sizes are of outsiders; name that adversary"):
        small_audit(tiny.ratings, panel=[30, 60], adversaries="panel")


def test_what_people_give_is_a_share_or_all() -> None:
    assert [share_given(text) for text in (None, "all", "0.5")] == [None, 1.0, 0.5]
    with pytest.raises(MidpointError, match="a share between 0 and 1, or all: got 'most'"):
        share_given("most")
