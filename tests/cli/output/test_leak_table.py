"""What `midpoint train` says of the errors of what is disclosed."""

import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from midpoint.analyst import Factorizer, train
from midpoint.analyst.fit.choice import Choice, Tried
from midpoint.cli.output import leak_table
from midpoint.cli.output.leak_table import TAUGHT, show_leak, show_shares
from midpoint.data import Simulation

QUICK = Factorizer(dimension=2, iterations=2)


def said(tiny: Simulation, scheme: str, leak: float | None = None) -> str:
    profiles = train(tiny.ratings, "gender", factorizer=QUICK, scheme=scheme)
    console = Console(width=200, record=True, file=StringIO())
    show_leak(console, replace(profiles, leak=leak), tiny.ratings, QUICK)
    return console.export_text()


def test_a_smaller_share_has_a_smaller_bound(tiny: Simulation) -> None:
    bounds = [
        float(re.findall(r"an AUC of (\d\.\d+)", said(tiny, scheme))[0])
        for scheme in ("dmpss", "dmpss:keep=0.25")
    ]
    assert 0.5 < bounds[1] < bounds[0] < 1
    assert said(tiny, "dmp") == ""  # it withholds nothing


@pytest.mark.parametrize("scheme", ["dmpss:keep=0.35", "dmp:keep=0.35"])
def test_shares_are_shown_with_what_each_leaks_and_teaches(tiny: Simulation, scheme: str) -> None:
    profiles = train(tiny.ratings, "gender", factorizer=QUICK, scheme=scheme)
    console = Console(width=200, record=True, file=StringIO())
    show_shares(console, profiles)
    shown = console.export_text()
    rows = re.findall(r"│ (\d+)%( \*)? +│(?: (0\.\d\d) +│)? (\+\d\.\d%)? +│", shown)
    assert [(share, mark) for share, mark, _, _ in rows] == [
        ("100", ""), ("50", ""), ("35", " *"), ("25", ""),
    ]  # fmt: skip
    bounds = [float(bound) for _, _, bound, _ in rows if bound]
    assert len(bounds) == (4 if "ss" in scheme else 0)  # dmp hides no set that a bound is about
    assert bounds == sorted(bounds, reverse=True)
    assert [taught for *_, taught in rows] == ["+0.9%", "+2.4%", "", "+3.5%"]


def test_without_a_share_there_is_nothing_to_compare(tiny: Simulation) -> None:
    console = Console(width=200, record=True, file=StringIO())
    for scheme in ("dmpss", "dmpss:leak=0.6"):
        show_shares(console, train(tiny.ratings, "gender", factorizer=QUICK, scheme=scheme))
    assert console.export_text() == ""


def test_what_shares_teach_is_what_the_documentation_says() -> None:
    page = Path(__file__).parents[3] / "docs" / "guides" / "operating.md"
    said = page.read_text(encoding="utf-8").partition("**From a share")[2]
    for share, above in TAUGHT.items():
        name = "`cmpss`" if share == 1 else f"`cmpss:keep={share:g}`"
        row = next(line for line in said.splitlines() if line.startswith(f"| reports under {name}"))
        assert f"+{100 * above:.1f} %" in row


@pytest.mark.slow
def test_budgets_are_drawn_with_what_each_costs(tiny: Simulation) -> None:
    shown = said(tiny, "dmpss", leak=0.57)
    rows = re.findall(r"(\d\.\d\d)( \*)? +│ +[-+]\d+\.\d% .*?(\d+)%", shown)
    leaks = [float(leak) for leak, _, _ in rows]
    kept = [int(share) for _, _, share in rows]
    assert leaks == sorted(leaks)
    assert kept == sorted(kept)
    assert kept[-1] == 100
    assert [leak for leak, chosen, _ in rows if chosen] == ["0.57"]
    assert "RMSE of what people see" in shown


def test_a_budget_that_was_chosen_is_said_and_one_that_was_asked_for_is_drawn(
    tiny: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = list[object]()
    monkeypatch.setattr(leak_table, "_show_budgets", lambda *given: drawn.append(given))
    profiles = train(tiny.ratings, "gender", factorizer=QUICK, scheme="dmpss:leak=0.6")
    row = Tried("dmpss:leak=0.6", 0.52, "sets", "F", 0.0, 0.0, 0.01)
    for choice, says in (
        (Choice(row.scheme, "it leaks least", (row,)), True),
        (Choice(row.scheme, "it was asked for"), False),
        (None, False),
    ):
        console = Console(width=200, record=True, file=StringIO())
        drawn.clear()
        show_leak(console, replace(profiles, choice=choice), tiny.ratings, QUICK)
        text = console.export_text()
        assert ("keep to a leak budget of 0.6:" in text) == says
        assert ("would reach that AUC at most. --leak" in text) == says
        assert bool(drawn) != says
        assert "wait for more answers" in text


def test_with_counterparts_a_budget_that_is_kept_to_may_be_passed(
    tiny: Simulation,
) -> None:
    profiles = train(tiny.ratings, "gender", factorizer=QUICK, scheme="dmpss:leak=0.6")
    row = Tried("cmpss:leak=0.6", 0.52, "sets", "F", 0.0, 0.0, 0.01)
    chosen = replace(profiles, scheme="cmpss", choice=Choice(row.scheme, "it leaks least", (row,)))
    console = Console(width=200, record=True, file=StringIO())
    show_leak(console, chosen, tiny.ratings, QUICK)
    assert "at most, or a little more with counterparts. --leak" in console.export_text()
