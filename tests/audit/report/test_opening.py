"""How the report begins and ends: the plain sentence, what it rests on, and what to cite."""

import re
from datetime import date
from pathlib import Path

import pytest

from midpoint.audit import pipeline
from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.measure.findings import Control
from midpoint.audit.report.page import page, write_report
from midpoint.audit.report.settings import FULL_FOLDS, front_words
from midpoint.audit.report.tables.attackers import EXPLAINED, explained
from midpoint.audit.report.tables.latex import citation, latex
from midpoint.audit.report.verdict import headline
from midpoint.audit.run.paper_setup import paper_attackers
from tests.support.audits.made_up_judges import judged
from tests.support.audits.made_up_results import made_up

DAY = date(2026, 3, 4)


@pytest.fixture
def _words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures out, which take their time."""
    monkeypatch.setattr("midpoint.audit.report.page.pictures", lambda _: [])


@pytest.mark.usefixtures("_words_only")
def test_the_report_opens_with_the_plain_sentence_and_what_it_rests_on() -> None:
    results = made_up()
    verdict = headline(results)
    assert verdict is not None
    body = page(results, "", DAY).partition("</h1>")[2]
    first, second, *_ = re.findall(r"<p[^>]*>(.*?)</p>", body)
    assert first == f"{verdict.plain}."
    assert second.startswith("4 March 2026 · 60 people · ")


def test_it_says_how_fully_was_audited() -> None:
    every = dict.fromkeys(ATTACKERS, 0.8)
    areas = {"no": every, "mp": every, "dmpss": dict.fromkeys(ATTACKERS, 0.51)}
    controls = {name: Control("no", 0.8, reads=True) for name in ATTACKERS}
    ten = made_up(areas, controls=controls, folds=10)
    assert front_words(ten).endswith(f"10 folds · {len(ATTACKERS)} attackers · full audit")
    assert "partial audit: a full one has 10 folds" in front_words(made_up(areas, folds=5))
    assert "partial audit" in front_words(made_up(folds=10))
    quick = made_up(areas, controls=controls, folds=10, model={"quick": True})
    assert front_words(quick).endswith("quick audit, for a first look")
    papers = made_up(folds=10, model={"paper": True})
    assert "the paper's experiment" in front_words(papers)
    assert pipeline.FOLDS == FULL_FOLDS


def test_every_attacker_is_explained() -> None:
    assert set(EXPLAINED) == set(ATTACKERS) | set(paper_attackers())
    assert explained("outsider:lr") == (
        f"{EXPLAINED['lr']}; trained on people outside the panel whose category is known"
    )
    assert "published disclosure" in explained("published:adaptive-lr-mask")
    assert explained("judge:panel").startswith("combines all attackers")
    assert explained("enthusiasm") == "the auditor's own attacker"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("README.md", "today's {} attackers"), ("CHANGELOG.md", "with {} attackers, and your own")],
)
def test_pages_say_how_many_attackers_there_are(name: str, sentence: str) -> None:
    written = (Path(__file__).parents[3] / name).read_text(encoding="utf-8")
    assert sentence.format(len(ATTACKERS)) in written


@pytest.mark.usefixtures("_words_only")
def test_those_who_attacked_are_explained_on_the_page() -> None:
    shown = page(judged(0.56, single=0.55))
    assert "combines all attackers of" in shown
    assert "what it does" in shown


def test_the_table_for_a_paper_is_latex(tmp_path: Path) -> None:
    results = made_up(dataset="my_50%_data")
    table = latex(results)
    assert r"my\_50\%\_data" in table
    assert r"\texttt{dmpss} & 0.560 [0.540, 0.580] & \texttt{adaptive-lr-items}" in table
    assert r"$+2.0\,\%$ \\" in table
    assert table.count("{") == table.count("}")
    rows = table.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    assert {row.count(" & ") for row in rows} == {4}
    write_report(results, tmp_path)
    assert (tmp_path / "report.tex").read_text() == table + "\n"


def test_what_to_cite_has_version_and_year() -> None:
    made = citation(made_up(versions={"midpoint": "9.9"}), 2030)
    assert "version = {9.9}" in made
    assert "year = {2030}" in made
    assert "Ioannidis" in made
