"""Whole audits against adversaries that learn under the published disclosure."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from midpoint.analyst.disclose.leak import area_of
from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.page import page
from midpoint.audit.report.verdict import headline
from midpoint.audit.run.assignment import QUICK_OUTSIDERS, choose_work
from midpoint.cli.options.audit_extras import show_adversaries
from midpoint.data import Scale, Simulation
from midpoint.errors import MidpointError
from tests.support.audits.small_audit import SMALL, small_audit

slow = pytest.mark.slow  # whole audits
ALL = ("panel", "published", "outsider")
OURS = ("adaptive-items", "chance")
"""Attackers that know the scheme."""
SIZES: dict[str, Any] = {"outsiders": 40, "panel": 50}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outsiders") / "out"


@pytest.fixture(scope="module")
def alone(tiny: Simulation, directory: Path) -> AuditResults:
    return small_audit(tiny.ratings, directory, adversaries="outsider", **SIZES)


@pytest.fixture(scope="module")
def results(tiny: Simulation, directory: Path, alone: AuditResults) -> AuditResults:
    del alone  # it goes on in the same directory
    return small_audit(tiny.ratings, directory, adversaries=ALL, **SIZES)


@slow
def test_outsiders_alone_are_a_whole_audit(alone: AuditResults) -> None:
    assert list(alone.adversaries) == ["outsider"]
    names = [f"outsider:{name}" for name in OURS]
    assert [row.attack for row in alone.areas("dmpss")] == names == alone.attack_names()
    assert alone.scheme_names() == ["no", "mp", "dmpss"]
    assert alone.cost("dmpss") is not None
    assert alone.controls["outsider:adaptive-items"].reads
    assert not alone.controls["outsider:chance"].reads
    assert alone.bands["dmpss"] == alone.adversaries["outsider"].bands["dmpss"]


@slow
def test_the_bound_is_that_of_the_published_disclosure(
    tiny: Simulation, alone: AuditResults, results: AuditResults
) -> None:
    assert list(alone.bounds) == ["dmpss"]  # raw ratings and whole stars leak more than errors
    bound = alone.bounds["dmpss"]
    assert bound == results.bounds["dmpss"]
    assert bound.panel == 50
    assert bound.value == pytest.approx(area_of(bound.sets + bound.values))
    larger = small_audit(tiny.ratings).bounds["dmpss"]
    assert larger.panel == 100
    assert 0.5 < larger.value < bound.value


@slow
def test_the_panels_numbers_are_the_same_with_and_without_outsiders(
    tiny: Simulation, results: AuditResults
) -> None:
    panel = small_audit(tiny.ratings, panel=50, outsiders=40)
    assert list(panel.adversaries) == ["clean", "panel"]
    assert set(panel.rows) <= set(results.rows)
    assert panel.costs == results.costs
    for name, adversary in panel.adversaries.items():
        beside = results.adversaries[name]
        assert (adversary.attacks, adversary.panel) == (beside.attacks, beside.panel)
        # Two more judges are looked at, so that every band holds more of chance.
        alone, wider = adversary.bands["dmpss"], beside.bands["dmpss"]
        assert (alone.level, wider.level) == pytest.approx((0.975, 0.9875))
        assert alone.high < wider.high


@slow
def test_each_adversary_is_kept_apart(results: AuditResults) -> None:
    found = results.adversaries
    assert list(found) == ["clean", *ALL]
    assert [(one.panel, one.outsiders) for one in found.values()] == [
        (50, 0),
        (50, 0),
        (50, 0),
        (50, 40),
    ]
    assert found["clean"].attacks == ("items",)
    assert found["panel"].attacks == OURS
    assert [found[name].bands["dmpss"].attackers for name in found] == [1, 2, 2, 2]
    assert results.bands["dmpss"].attackers == 7
    for name, one in found.items():
        row = results.strongest("dmpss", name)
        assert row is not None
        assert row.attack in one.attacks
        assert results.adversary_of(row.attack) == name
    every = [results.strongest("dmpss", name) for name in found]
    assert results.strongest("dmpss") == max(
        every, key=lambda row: abs(row.value - 0.5) if row else 0
    )


@slow
def test_a_verdict_goes_by_the_strongest_and_says_whose_it_is(
    tiny: Simulation, results: AuditResults
) -> None:
    verdict = headline(results)
    assert verdict is not None
    whose = results.against(verdict.strongest)
    people = {"outsider": "40 labelled people outside a panel of 50", "published": "a panel of 50"}
    assert f"Measured against: {whose} ({people[whose]})." in verdict.lines
    panel = headline(small_audit(tiny.ratings))
    assert panel is not None
    assert "(a panel of 100); outsiders were not tried." in panel.lines


@slow
def test_report_and_terminal_show_adversaries_apart(results: AuditResults) -> None:
    html = page(results)
    assert "<h2>Measured against whom</h2>" in html
    assert "panel 50, outsiders 40" in html
    assert "It assumes that errors have the analyst&#x27;s own posterior variances" in html
    console = Console(record=True, width=120)
    show_adversaries(console, results, results.scheme_names())
    text = console.export_text()
    assert "measured against whom" in text
    assert "omniscient (bound)" in text
    for name in results.adversaries:
        assert name in text


@slow
def test_results_are_read_as_they_were_written(results: AuditResults, tmp_path: Path) -> None:
    results.save(tmp_path)
    loaded = AuditResults.load(tmp_path)
    assert (loaded.adversaries, loaded.bounds) == (results.adversaries, results.bounds)


@slow
def test_processes_change_nothing(tiny: Simulation, tmp_path: Path) -> None:
    two = small_audit(
        tiny.ratings, tmp_path / "two", adversaries="outsider", schemes=["dmpss"], jobs=2,
        attacks=["adaptive-lr-mask"], **SIZES,
    )  # fmt: skip
    one = small_audit(
        tiny.ratings, adversaries="outsider", schemes=["dmpss"], attacks=["adaptive-lr-mask"],
        **SIZES,
    )  # fmt: skip
    assert one.rows == two.rows


@slow
def test_another_panel_needs_another_directory(
    tiny: Simulation, directory: Path, results: AuditResults
) -> None:
    del results
    with pytest.raises(MidpointError, match=r"other settings.*panel: 50"):
        small_audit(tiny.ratings, directory, adversaries=ALL, outsiders=40, panel=60)


@slow
def test_people_who_are_not_there_are_refused_before_anything_runs(tiny: Simulation) -> None:
    with pytest.raises(MidpointError, match="more than the 100 people outside a fold"):
        small_audit(tiny.ratings, adversaries="outsider", outsiders=90, panel=50)


def test_a_quick_audit_tries_few_outsiders_and_a_named_attack_decides_itself() -> None:
    scale, both = Scale.stars(1, 5), ("panel", "outsider")
    quick = choose_work(None, None, scale, quick=True, adversaries=both)
    once = [f"outsider:{name}" for name in QUICK_OUTSIDERS if name in ATTACKERS]
    assert list(quick.adversary) == once  # the others read rounds
    named = choose_work(["dmpss"], SMALL, scale, adversaries=both)
    assert list(named.adversary) == [f"outsider:{name}" for name in OURS]
    assert named.has_panel
    assert not choose_work(["dmpss"], SMALL, scale, adversaries=["outsider"]).has_panel
    assert not choose_work(["dmpss"], SMALL, scale).has_split


def test_clean_attackers_cannot_learn_from_outsiders() -> None:
    with pytest.raises(MidpointError, match="lr cannot learn as outsider"):
        choose_work(["dmpss"], ["lr"], Scale.stars(1, 5), adversaries=["outsider"])
    only = choose_work(["dmpss"], SMALL, Scale.stars(1, 5), adversaries=["clean"])
    assert list(only.attackers) == ["items"]
