"""Reports as tables and as messages become the same answers."""

from pathlib import Path

import pytest

from midpoint.analyst import CollectedReports
from midpoint.errors import MidpointError
from midpoint.wire import ONE, Report
from tests.support.tables.two_kinds import two_kinds


def test_a_table_and_messages_say_the_same(tmp_path: Path) -> None:
    world = two_kinds()
    digest, (first, second) = world.disclosure.digest, world.disclosure.items[:2]
    table = tmp_path / "reports.csv"
    table.write_text(
        f"Pseudonym,Disclosure,Item,Value\nann,{digest},{first},4\nann,{digest},{second},2\n"
    )
    read = CollectedReports.read(table, [world.disclosure])
    answers = tuple(sorted([(first, 4 * ONE), (second, 2 * ONE)]))
    message = Report(id="0" * 32, disclosure=digest, round=0, answers=answers)
    received = CollectedReports.of([("ann", message)], [world.disclosure])
    assert read.answers.sort("item").equals(received.answers.sort("item"))
    assert repr(received) == "<CollectedReports reports: 2 answers of 1 people under 1 disclosures>"
    assert "ann" not in repr(read)


def test_a_table_without_its_columns_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    table.write_text("user,item,rating\nann,a,4\n")
    with pytest.raises(MidpointError, match=r"no column 'disclosure'.*has the columns pseudonym"):
        CollectedReports.read(table, [])


def test_a_word_for_a_value_is_a_blank(tmp_path: Path) -> None:
    table = tmp_path / "reports.csv"
    table.write_text("user,disclosure,item,rating\nann,d,a,good\nann,d,b,3\n")
    assert CollectedReports.read(table, []).answers["value"].to_list() == [None, 3.0]
