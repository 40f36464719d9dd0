"""The terminal of a service without ratings: its own word instead of stars."""

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from midpoint.cli.answer.ratings import read_ratings
from midpoint.cli.answer.session import welcome
from midpoint.cli.answer.statements import say_leaving
from midpoint.cli.answer.tables import (
    leaving_table,
    ledger_table,
    recommendation_table,
    shared_table,
)
from midpoint.cli.answer.terminal import Terminal
from midpoint.errors import MidpointError
from midpoint.user.agent import Fate, Standing
from midpoint.user.agent.rows import PreviewLine, RankedTitle
from midpoint.wire import ONE, Catalogue, PanelRatings, Wording
from tests.support.people.made_up import UNARY, accepted, disclosure, unary_disclosure

LINES = [
    PreviewLine("a", "Alien", 1.0, 1.0, Fate.SENT),
    PreviewLine("b", "Heat", 1.0, None, Fate.WITHHELD),
]


def standing(
    word: str | None = "bought", *, sets: bool = True, title: str = "title of {}"
) -> Standing:
    shown = unary_disclosure("dmpss") if sets else disclosure("dmpss")
    named = None if word is None else Wording(item="thing", items="things", done=word)
    titles = tuple(title.format(item) for item in shown.items)
    catalogue = Catalogue(
        items=shown.items, titles=titles, ratings=(0,) * len(titles), wording=named
    )
    return Standing.of(accepted(shown), None, catalogue)


def said(*what: object) -> str:
    written = io.StringIO()
    for one in what:
        Terminal(Console(file=written, width=140)).say(one)
    return written.getvalue()


def test_the_sites_word_stands_for_an_item_of_a_set() -> None:
    assert standing().mark == "bought"
    assert standing(None).mark == "seen"
    assert standing(sets=False).mark is None  # items are rated there, whatever the word


def test_what_leaves_is_said_without_numbers() -> None:
    text = said(leaving_table(LINES, UNARY, "bought"))
    assert text.count("bought") == 3
    assert "has it more often" in text
    assert "1" not in text
    assert "\u2605" in said(leaving_table([replace(LINES[0], rating=3.0)], UNARY))  # the control
    written = io.StringIO()
    say_leaving(Terminal(Console(file=written, width=200)), LINES, UNARY, mark="bought")
    assert "1 of 2 titles leave now" in written.getvalue()
    assert "withheld and not bought look the same" in written.getvalue()
    assert "rating" not in written.getvalue()


def test_recommendations_of_sets_are_titles_in_their_order() -> None:
    best = [RankedTitle("a", "Alien", 0.4, 0.1), RankedTitle("b", "Heat", 0.2, 0.1)]
    text = said(recommendation_table(best, "bought"))
    assert text.index("Alien") < text.index("Heat")
    assert "0.4" not in text
    assert "0.4" in said(recommendation_table(best))


def test_recommendations_of_sets_show_genres_and_links() -> None:
    best = [RankedTitle("a", "Alien", 0.4, 0.1, genre="Horror", link="https://films.example/a")]
    assert "Horror" in said(recommendation_table(best, "bought"))
    linked = io.StringIO()
    Console(file=linked, width=120, force_terminal=True).print(recommendation_table(best, "bought"))
    assert "https://films.example/a" in linked.getvalue()


def test_nobody_is_told_of_ratings_where_nothing_is_rated() -> None:
    text = said(welcome("bought"))
    assert "which titles you have bought" in text
    assert "rate" not in text
    assert "You rate titles" in said(welcome(None))  # the control


def test_what_is_kept_and_shared_is_said_by_the_sites_word_and_not_as_markup() -> None:
    shared = PanelRatings(disclosure="0" * 64, category=(("gender", "F"),), ratings=(("a", ONE),))
    ledger: Any = SimpleNamespace(decided={"a"}, decision=lambda _: SimpleNamespace(value=ONE))
    titles = {"a": "Alien"}
    for table in (
        shared_table(shared, titles, "li[b]ked"),
        ledger_table(ledger, titles, "li[b]ked"),
    ):
        assert "li[b]ked" in said(table)
    assert "1" in said(shared_table(shared, titles))  # the control


def test_a_set_is_a_column_or_a_list_of_names(tmp_path: Path) -> None:
    shown, table, names = standing(), tmp_path / "set.csv", tmp_path / "set.json"
    first, second = (shown.titles[item] for item in list(shown.titles)[:2])
    table.write_text(f"title\n{first}\n{second}\n")
    names.write_text(f'["{first}", {{"title": "{second}"}}]')
    for path in (table, names):
        assert read_ratings(path, shown).named == {first: 1.0, second: 1.0}
    with pytest.raises(MidpointError, match="item \\(or title\\) and rating"):
        read_ratings(table, standing(sets=False))
    table.write_text("name\nx\n")
    with pytest.raises(MidpointError, match=r"first line with item \(or title\)$"):
        read_ratings(table, shown)
    table.write_text(f"title,rating\n{first},3\n")
    with pytest.raises(MidpointError, match="is 3; give 1, or only the names: nothing is rated"):
        read_ratings(table, shown)


def test_names_between_tabs_may_have_commas(tmp_path: Path) -> None:
    """Control: between commas such a name stands in quotes."""
    shown, table = standing(title="{}, The"), tmp_path / "set.tsv"
    names = list(shown.titles.values())[:2]
    table.write_text("title\n" + "\n".join(names))
    assert list(read_ratings(table, shown).named) == names
    with pytest.raises(MidpointError, match="line 2 has more columns"):
        read_ratings(table.rename(tmp_path / "set.csv"), shown)
