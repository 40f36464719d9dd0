"""All that a service kept is read back, with the pseudonym that sent it."""

from pathlib import Path

import pytest
from sqlalchemy import insert

from midpoint.analyst.storage import migrate
from midpoint.analyst.storage.collection import kept_reports
from midpoint.analyst.storage.connection import connect, sqlite_url
from midpoint.analyst.storage.tables import answer, pseudonym, question
from midpoint.errors import MidpointError
from midpoint.wire import Report
from tests.support.sites.storage_works import person


def report(number: int) -> Report:
    answers = (("a", 65536 * number),)
    return Report(id=f"{number:032x}", disclosure="d" * 64, round=number, answers=answers)


def fill(url: str) -> dict[str, list[Report]]:
    """Write reports of two people, out of order."""
    migrate(url)
    kept = {person("Ann"): [report(1), report(2)], person("Bob"): [report(3)]}
    engine = connect(url, writing=True)
    with engine.begin() as connection:
        for token, sent in kept.items():
            connection.execute(insert(pseudonym), {"token": token, "created": 1, "mark": 1})
            for number, message in reversed(list(enumerate(sent))):
                asked = {"disclosure": "d" * 64, "solicitation": b"{}", "opened": 1}
                connection.execute(
                    insert(question), {"token": token, "number": message.round, **asked}
                )
                said = {"id": message.id, "report": message.raw, "received": 2}
                connection.execute(
                    insert(answer),
                    {"token": token, "number": number, "round": message.round, **said},
                )
    engine.dispose()
    return {token.hex(): sent for token, sent in kept.items()}


def test_reports_come_back_in_order(empty: str) -> None:
    kept = fill(empty)
    read = dict[str, list[Report]]()
    for token, message in kept_reports(empty):
        read.setdefault(token, []).append(message)
    assert read == kept


def test_a_database_that_is_not_there_is_said_and_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "none.sqlite"
    with pytest.raises(MidpointError, match="there is no database"):
        list(kept_reports(sqlite_url(missing)))
    assert not missing.exists()
    missing.write_bytes(b"")
    with pytest.raises(MidpointError, match="the database cannot be read"):
        list(kept_reports(sqlite_url(missing)))
