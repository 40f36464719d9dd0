"""Whole audits of several rounds against people who know others' categories."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from midpoint.analyst import Factorizer
from midpoint.audit import AuditResults
from midpoint.audit.measure.findings import Row
from midpoint.audit.report.page import page
from midpoint.audit.report.verdict import judge
from midpoint.audit.rounds.attackers import TRANSCRIPT_ATTACKERS
from midpoint.audit.rounds.protocol import RoundsProtocol
from midpoint.audit.run.assignment import QUICK_OUTSIDERS, choose_work
from midpoint.cli.options.audit_extras import show_rounds
from midpoint.data import Ratings, Scale, simulate
from midpoint.errors import MidpointError
from tests.support.audits.seen import LEAKY
from tests.support.audits.small_audit import audit_with

slow = pytest.mark.slow  # whole audits
PRODUCT, RAW = "dmpss:rounds=3", "no:rounds=3:budget=15"
ATTACKS = ("transcript-lr-items", "adaptive-lr-mask")
OUTSIDERS = [f"outsider:{name}" for name in ATTACKS]


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return simulate(replace(LEAKY, users=600, items=60, ratings=18_000), seed=3).ratings


def rounds(ratings: Ratings, **changes: Any) -> AuditResults:
    """Hold three rounds in two folds: 300 people outside of each."""
    options: dict[str, Any] = {
        "feature": "gender",
        "schemes": {PRODUCT: RoundsProtocol("dmpss", rounds=3, budget=15)},
        "folds": 2,
        "attacks": ATTACKS,
        "factorizer": Factorizer(dimension=2, iterations=5),
        "panel": 60,
        "outsiders": 150,
    }
    return audit_with(ratings, **(options | changes))


def strongest(results: AuditResults, scheme: str, adversary: str) -> Row:
    row = results.strongest(scheme, adversary)
    assert row is not None
    return row


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rounds") / "out"


@pytest.fixture(scope="module")
def alone(ratings: Ratings, directory: Path) -> AuditResults:
    return rounds(ratings, adversaries="outsider", out=directory)


@pytest.fixture(scope="module")
def both(ratings: Ratings, directory: Path, alone: AuditResults) -> AuditResults:
    del alone  # it goes on in the same directory
    return rounds(ratings, adversaries=("panel", "outsider"), out=directory)


@slow
def test_outsiders_find_the_error_of_a_small_panel_over_rounds(both: AuditResults) -> None:
    """The panel's own attackers do not, and raw ratings are the control of either."""
    for adversary in ("panel", "outsider"):
        assert strongest(both, RAW, adversary).value > 0.9
        assert both.adversaries[adversary].bands[PRODUCT].attackers == 2
    outsider, panel = (strongest(both, PRODUCT, name) for name in ("outsider", "panel"))
    assert both.adversaries["outsider"].panel == 60
    assert not both.is_chance(outsider)
    assert outsider.value > 0.5 + 2 * abs(panel.value - 0.5)
    verdict = judge(both, PRODUCT)
    assert verdict is not None
    assert verdict.strongest.attack in {"judge:outsider", outsider.attack}
    assert "over 3 rounds" in verdict.lines
    assert "Measured against: outsider (150 labelled people outside a panel of 60)." in (
        verdict.lines
    )


@slow
def test_a_larger_panel_leaves_them_less(ratings: Ratings, alone: AuditResults) -> None:
    more = rounds(ratings, adversaries="outsider", folds=4, panel=300)
    few, many = (strongest(one, PRODUCT, "outsider").value for one in (alone, more))
    assert strongest(more, RAW, "outsider").value > 0.9
    assert many < few - 0.1


@slow
def test_outsiders_alone_are_a_whole_audit_of_rounds(alone: AuditResults) -> None:
    assert list(alone.adversaries) == ["outsider"]
    held = alone.rounds[PRODUCT]
    assert set(held.controls) == set(OUTSIDERS)
    assert all(control.reads for control in held.controls.values())
    assert [len(answers) for answers in held.answers.values()] == [3, 3]
    assert "learn split early" in alone.seconds


@slow
def test_the_panels_numbers_are_the_same_with_and_without_outsiders(
    ratings: Ratings, both: AuditResults
) -> None:
    panel = rounds(ratings, adversaries="panel")
    assert set(panel.rows) <= set(both.rows)
    alone, beside = (result.adversaries["panel"].bands for result in (panel, both))
    assert {scheme: band.p_value for scheme, band in alone.items()} == {
        scheme: band.p_value for scheme, band in beside.items()
    }
    # With outsiders a verdict looks at one judge more, so each band holds more of chance.
    assert all(band.level < beside[scheme].level for scheme, band in alone.items())


@slow
def test_report_and_terminal_show_the_judge_of_each_adversary(both: AuditResults) -> None:
    html = page(both)
    assert "judge of outsider" in html
    assert "those of outsiders from people of them who are not the panel" in html
    console = Console(record=True, width=120)
    show_rounds(console, both, both.rounds[PRODUCT])
    text = console.export_text()
    assert "panel: judge" in text
    assert "outsider: judge" in text


def test_each_adversary_that_knows_the_scheme_reads_transcripts() -> None:
    scale = Scale.stars(1, 5)
    work = choose_work(
        ["dmp"], None, scale, rounds=2, adversaries=("clean", "published", "outsider")
    )
    over_rounds = [name for name in work.schemes if ":rounds=2" in name]
    names = {f"{one}:{name}" for one in ("published", "outsider") for name in TRANSCRIPT_ATTACKERS}
    # One that learns from the panel what others show the worth of: there are no others.
    names -= {"published:adaptive-lr-panel"}
    assert {name for s in over_rounds for name in work.attackers if work.wants(s, name)} == names
    assert not any(work.wants(scheme, "transcript-lr") for scheme in over_rounds)
    quick = choose_work(None, None, scale, quick=True, rounds=2, adversaries=("panel", "outsider"))
    assert set(quick.adversary) == {f"outsider:{name}" for name in QUICK_OUTSIDERS}
    with pytest.raises(MidpointError, match="attackers of several rounds know the scheme, and cle"):
        choose_work(["dmp"], None, scale, rounds=2, adversaries=("clean",))
