import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midpoint.audit import AuditResults
from midpoint.audit.report.figures import pictures
from midpoint.audit.report.page import page
from midpoint.audit.report.paper import PAPER, compared_with, paper_numbers, stand_in
from midpoint.audit.report.paper_tables import beside, compare, require_papers, shares, withheld
from midpoint.audit.report.settings import label
from midpoint.errors import MidpointError
from tests.support.audits.made_up_results import made_up


def test_the_papers_numbers_are_all_there() -> None:
    assert len(PAPER) == 5
    assert {len(schemes) for schemes in PAPER.values()} == {10}
    for schemes in PAPER.values():
        for found in schemes.values():
            assert all(0.5 <= one <= 1 for one in found[:4] if one is not None)
    assert PAPER["movielens-1m", "gender"]["no"].lr == 0.841
    assert PAPER["flixster", "gender"]["no"].svm is None
    like = paper_numbers("movielens-100k", "gender")
    assert like is not None
    assert like[0] == "movielens-1m, gender"
    assert paper_numbers("young-people", "gender") is None


def test_errors_on_another_scale_are_not_compared() -> None:
    television = paper_numbers("anes-tv", "gender")
    assert television is not None
    assert {said.rmse for said in television[1].values()} == {None}
    assert television[1]["no"].lr == PAPER["ptv", "gender"]["no"].lr


def test_the_page_about_the_paper_names_tests_that_there_are() -> None:
    root = Path(__file__).parents[3]
    written = (root / "docs" / "explanation" / "paper.md").read_text(encoding="utf-8")
    named = set(re.findall(r"tests/[\w/]+\.py", written))
    assert len(named) > 20
    assert [name for name in named if not (root / name).exists()] == []


def test_simulated_data_is_marked_as_a_stand_in() -> None:
    assert stand_in("simulated-flixster").startswith("Simulated data, a stand-in for Flixster")
    assert "Politics-and-TV" in stand_in("simulated-ptv")
    assert stand_in("movielens-1m") == ""
    assert "Politics-and-TV: other people rated these, on another scale" in stand_in("anes-tv")


def test_the_mark_is_on_the_figure_itself() -> None:
    sizes = [
        len(next(p.source for p in pictures(made_up(dataset=name)) if p.title == title))
        for name, title in (
            ("simulated-ptv", "Privacy and accuracy"),
            ("invented", "Privacy and accuracy"),
        )
    ]
    assert sizes[0] > sizes[1] + 1000  # the sentence is drawn, letter by letter


def test_what_is_withheld_is_compared_with_section_7_2() -> None:
    areas = {"no": {"lr": 0.83}, "mpss": {"lr": 0.5}}
    results = made_up(areas, dataset="movielens-1m")
    found = {share.what: (share.paper, here) for _, share, here in shares(results)}
    assert found["withheld by the median user"] == (0.23, 0.25)
    assert found["withheld by anyone, at most"] == (0.5, 0.5)
    assert "within" in "".join(withheld(results))


def test_the_papers_number_ours_and_the_difference() -> None:
    results = made_up({"no": {"lr": 0.83}, "mpss": {"lr": 0.45}}, dataset="movielens-1m")
    rows = {(one.scheme, one.what): one for one in compare(results)}
    assert rows["mpss", "lr"].paper == 0.542
    assert rows["mpss", "lr"].here == pytest.approx(0.55)  # folded
    assert rows["mpss", "lr"].difference == pytest.approx(0.008)
    assert "0.542 | 0.550" in "".join(beside(results))


def of_the_paper(**changes: Any) -> AuditResults:
    """Return results as `--paper` makes them."""
    fit = {"method": "factors", "dimension": 20, "iterations": 20, "regularization": 0.05}
    model = {"folds": 10, "share": 0.7, "paper": True, "factorizer": {**fit, "biases": "plain"}}
    areas = {"no": {"lr": 0.84, "lse-matched": 0.80}, "mpss": {"lr": 0.54, "lse-matched": 0.41}}
    results = made_up(areas, **{"dataset": "movielens-1m", "model": model} | changes)
    (raw, *_) = (row for row in results.rows if row.metric == "rmse_inferred")
    return replace(results, rows=(*results.rows, raw._replace(metric="rmse_matched", value=0.92)))


def test_the_papers_estimates_and_ours_stand_side_by_side() -> None:
    ours = made_up({"no": {"lr": 0.85}, "mpss": {"lr": 0.45}}, dataset="movielens-1m")
    shown = page(ours, papers=of_the_paper())
    assert "0.542 | 0.540 | 0.550" in shown  # the paper, by its estimates, by ours
    assert "0.819 | 0.800 | -" in shown  # our least squares has a prior instead
    assert "0.919 | 0.920 | -" in shown
    assert "The paper's estimates: Item profiles: stochastic gradient descent" in shown
    assert "no means of items or users (Eq. 1)" in shown
    assert "Our estimates: " in shown


def test_only_an_audit_of_the_paper_and_of_the_same_data_stands_beside() -> None:
    with pytest.raises(MidpointError, match="one with --paper"):
        require_papers(made_up(dataset="movielens-1m"), "movielens-1m", "gender")
    for other in (("movielens-1m", "age"), ("movielens-100k", "gender")):
        with pytest.raises(MidpointError, match=f"gender, this one of {', '.join(other)}: name"):
            require_papers(of_the_paper(), *other)
    with pytest.raises(MidpointError, match="this one of other"):
        list(beside(made_up(dataset="other"), of_the_paper()))


def test_what_a_stand_in_has_less_of_is_on_it() -> None:
    assert "a stand-in for Flixster with a tenth" in stand_in("simulated-flixster-tenth")
    assert compared_with("simulated-flixster-tenth", "gender") == ("flixster", "gender")
    assert compared_with("anes-tv", "politics") == ("ptv", "politics")


def test_schemes_with_settings_are_named_in_words() -> None:
    text = "mpss:estimation=plain:estimator=least-squares"
    assert label(text) == "mpss, plain, least squares"
    assert label("mpss:alpha=0.5") == "mpss, alpha=0.5"
    assert label("no") == "no"
