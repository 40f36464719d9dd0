"""An audit prints what it found, and not all that it keeps."""

from dataclasses import replace

import pytest

from midpoint.audit.measure.findings import Adversary
from midpoint.audit.measure.results import AuditResults
from tests.support.audits.made_up_results import made_up
from tests.support.audits.made_up_rounds import made_up_rounds


@pytest.mark.parametrize("results", [made_up(), made_up_rounds()], ids=["once", "rounds"])
def test_it_prints_in_a_few_short_lines(results: AuditResults) -> None:
    lines = repr(results).splitlines()
    assert 2 <= len(lines) <= 8
    assert max(map(len, lines)) <= 160


def test_each_scheme_is_named_with_its_strongest_attack_and_the_one_in_use_comes_first() -> None:
    results = made_up(usual="dmpss")
    first, *schemes = repr(results).splitlines()
    assert first == "<AuditResults of invented: gender (F, M), 3 attackers, 10 folds"
    known = replace(results, adversaries={"panel": Adversary("it", (), 90, 0, {})})
    assert repr(known).splitlines()[0] == f"{first}, measured against panel"
    assert [line.split(":")[0].strip() for line in schemes] == ["dmpss", "no", "mp"]
    band = results.bands["dmpss"]
    chance = f"(chance {band.judged_low:.3f}-{band.judged_high:.3f})"
    assert schemes[0].endswith(
        f"strongest attack adaptive-lr-items, AUC 0.560 {chance}; cost +2.0 % RMSE"
    )
    assert "cost" not in schemes[1]
    assert "strongest attack fraction, AUC 1.000" in schemes[2]


def test_a_table_has_every_attacker_and_marks_what_leaks() -> None:
    html = made_up(usual="dmpss")._repr_html_()
    assert html.count("<tr>") == 1 + 3 + 1
    assert "<tr><th>lr</th><td>0.480</td><td><b>0.830</b></td><td><b>0.810</b></td></tr>" in html
    assert "<tr><th>fraction</th><td>0.500</td><td>0.500</td><td><b>1.000</b></td></tr>" in html


def test_many_schemes_are_counted_and_names_are_text() -> None:
    areas = {name: {"lr": 0.8} for name in ("no", *(f"dmpss:alpha=0.{k}" for k in range(1, 9)))}
    results = made_up(areas, dataset="<script>")
    assert repr(results).endswith("and 3 more schemes>")
    assert "3 more schemes" in results._repr_html_()
    assert "<script>" not in results._repr_html_()
