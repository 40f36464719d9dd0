"""One contract for every database: SQLite, and a real PostgreSQL."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, select, text

from midpoint.analyst.storage import (
    Decision,
    History,
    Member,
    Storage,
    Summary,
    UnavailableError,
    migrate,
)
from midpoint.analyst.storage.collection import kept_panel
from midpoint.analyst.storage.connection import connect
from midpoint.analyst.storage.tables import answer, metadata, pseudonym, question
from midpoint.analyst.storage.upgrade import _settings
from midpoint.errors import MidpointError
from tests.support.sites.storage_works import Made, asked, erases, keeps, opens, person, said

ANN, BOB, EVE = person("Ann"), person("Bob"), person("Eve")


@pytest.fixture
def storage(url: str) -> Iterator[Storage]:
    with Storage(url) as opened:
        yield opened


def rows(url: str) -> tuple[int, ...]:
    """Count pseudonyms, rounds and reports."""
    engine = connect(url, writing=False)
    try:
        with engine.connect() as connection:
            tables = (pseudonym, question, answer)
            counts = [connection.scalar(select(func.count()).select_from(t)) for t in tables]
    finally:
        engine.dispose()
    return tuple(int(count or 0) for count in counts)


def test_what_is_kept_comes_back_byte_for_byte(storage: Storage) -> None:
    assert storage.history(ANN) is None
    first, second = asked(0, "a", "b"), asked(1, "c")
    assert storage.write([opens(ANN, first), opens(BOB, second)]) == ["opened"] * 2
    assert storage.write([keeps(ANN, said(0, a=5, x=2)), opens(ANN, second)]) == ["kept", "opened"]
    found = storage.history(ANN)
    assert found == History(7, (first, second), (said(0, a=5, x=2),))
    known = storage.summaries([ANN])[ANN]
    assert known.answers == {"a": 5, "x": 2}
    assert set(known.items) == {"a", "b", "c", "x"}
    waiting = known.unanswered("d" * 64)
    assert waiting is not None
    assert (waiting.number, waiting.solicitation) == (1, second.solicitation)
    assert known.unanswered("e" * 64) is None
    assert known.unanswered("d" * 64, after=1) is None
    assert storage.history(BOB) == History(7, (second,), ())


def test_a_pseudonym_begins_once(storage: Storage) -> None:
    storage.write([opens(ANN, asked(0))])
    later = Made(ANN, lambda _: Decision(round=asked(1)), begins=99)
    storage.write([later])
    found = storage.history(ANN)
    assert found is not None
    assert found.created == 7
    assert [kept.number for kept in found.rounds] == [0, 1]


def test_one_that_declines_or_fails_leaves_its_neighbours_alone(storage: Storage, url: str) -> None:
    storage.write([opens(ANN, asked(0)), opens(BOB, asked(0))])

    def fail(_: Summary | None) -> Decision:
        raise ZeroDivisionError

    batch = [keeps(ANN, said(0, a=1)), Made(BOB, fail), keeps(EVE, said(0)), keeps(BOB, said(0))]
    replies = storage.write(batch)
    assert [type(reply) for reply in replies] == [str, ZeroDivisionError, LookupError, str]
    assert rows(url) == (2, 2, 2)


def test_what_the_database_refuses_is_done_one_by_one(storage: Storage, url: str) -> None:
    """A report without its question breaks the transaction; the others are kept all the same."""
    storage.write([opens(ANN, asked(0)), opens(BOB, asked(0))])
    broken = Made(BOB, lambda _: Decision("never", report=said(8)))
    replies = storage.write([keeps(ANN, said(0)), broken, keeps(BOB, said(0))])
    assert replies[0] == replies[2] == "kept"
    assert isinstance(replies[1], UnavailableError)
    assert "constraint" in str(replies[1])  # it is logged, so it says what, and not who
    assert BOB.hex() not in str(replies[1])
    assert rows(url) == (2, 2, 2)


def test_requests_of_one_batch_see_each_other(storage: Storage, url: str) -> None:
    batch = [opens(ANN, asked(0)), keeps(ANN, said(0)), keeps(ANN, said(0)), keeps(ANN, said(0))]
    assert storage.write(batch) == ["opened", "kept", "there", "there"]
    assert rows(url) == (1, 1, 1)


def test_erasing_leaves_nothing_and_touches_nobody_else(storage: Storage, url: str) -> None:
    storage.write([opens(ANN, asked(0)), opens(BOB, asked(0))])
    storage.write([keeps(ANN, said(0)), keeps(BOB, said(0))])
    assert storage.write([erases(ANN), erases(EVE)]) == ["gone", "gone"]
    assert storage.history(ANN) is None
    assert rows(url) == (1, 1, 1)
    batch = [opens(ANN, asked(0)), keeps(ANN, said(0)), erases(ANN), opens(ANN, asked(0, "z"))]
    assert storage.write(batch)[-1] == "opened"
    found = storage.history(ANN)
    assert found is not None
    assert found.reports == ()
    assert found.rounds[0].items == ("z",)


def joins(token: bytes, shared: bytes, at: int = 7) -> Made:
    return Made(token, lambda _: Decision("in", join=Member(at, "d" * 64, shared)))


def leaves(token: bytes) -> Made:
    return Made(token, lambda _: Decision("out", leave=True))


def test_the_panel_is_apart_from_reports(storage: Storage, url: str) -> None:
    """Who joins again joined first; leaving erases what was shared, and no report goes with it."""
    storage.write([opens(ANN, asked(0)), joins(ANN, b"a"), joins(BOB, b"b"), joins(BOB, b"b2", 9)])
    storage.write([joins(ANN, b"a2", 99)])
    assert storage.member(ANN) == Member(7, "d" * 64, b"a2")
    assert storage.member(BOB) == Member(7, "d" * 64, b"b2")
    assert storage.member(EVE) is None
    assert storage.write([erases(ANN)]) == ["gone"]
    assert storage.member(ANN) is not None
    storage.write([opens(BOB, asked(0))])
    assert storage.write([leaves(BOB), leaves(ANN), leaves(EVE)]) == ["out"] * 3
    assert storage.member(BOB) is storage.member(ANN) is None
    assert rows(url) == (1, 1, 0)
    storage.write([joins(EVE, b"e"), leaves(EVE), joins(EVE, b"e2", 50)])
    assert storage.member(EVE) == Member(50, "d" * 64, b"e2")
    assert b"e2" not in repr(storage.member(EVE)).encode()


def test_two_workers_take_one_member_together(url: str) -> None:
    def work(number: int) -> object:
        with Storage(url) as own:
            return own.write([joins(ANN, b"%d" % number, number)])[0]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == ["in"] * 4
    with Storage(url) as storage:
        assert storage.member(ANN) is not None


def test_a_database_of_the_first_layout_is_upgraded_and_keeps_everything(url: str) -> None:
    engine = connect(url, writing=True)
    with Storage(url) as storage:
        storage.write([opens(ANN, asked(0)), keeps(ANN, said(0))])
    with engine.begin() as connection:
        settings = _settings()
        settings.attributes["connection"] = connection
        command.downgrade(settings, "0001")
    engine.dispose()
    with pytest.raises(MidpointError, match="upgrades its tables"):
        list(kept_panel(url))
    migrate(url)
    assert list(kept_panel(url)) == []
    assert rows(url) == (1, 1, 1)


def test_two_workers_keep_each_report_once(url: str) -> None:
    """Both get every report, at the same time, in batches: each round is kept exactly once."""
    people = [person(n) for n in range(40)]
    with Storage(url) as storage:
        storage.write([opens(token, asked(0)) for token in people])

    def work(seed: int) -> list[object]:
        replies: list[object] = []
        with Storage(url) as own:
            for start in range(0, 40, 8):
                shift = start if seed else 32 - start  # from both ends
                replies += own.write([keeps(t, said(0, a=seed)) for t in people[shift : shift + 8]])
        return replies

    with ThreadPoolExecutor(2) as pool:
        found = Counter(reply for replies in pool.map(work, range(2)) for reply in replies)
    assert found == {"kept": 40, "there": 40}
    assert rows(url) == (40, 40, 40)


def test_two_workers_begin_one_pseudonym_together(url: str) -> None:
    def work(number: int) -> object:
        with Storage(url) as own:
            return own.write([opens(ANN, asked(number))])[0]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == ["opened"] * 4
    assert rows(url) == (1, 4, 0)


def test_migrations_make_the_tables_that_are_used(url: str) -> None:
    engine = connect(url, writing=True)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()


def test_migrations_run_once_however_many_try(empty: str) -> None:
    with Storage(empty) as storage, pytest.raises(UnavailableError):
        storage.check()
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(migrate, [empty] * 3)) == [None] * 3
    with Storage(empty) as storage:
        storage.check()
        storage.write([opens(ANN, asked(0))])
    migrate(empty)
    assert rows(empty) == (1, 1, 0)


def test_a_database_of_another_layout_is_refused_until_it_is_migrated(empty: str) -> None:
    migrate(empty)
    engine = connect(empty, writing=True)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'other'"))
    with Storage(empty) as storage, pytest.raises(UnavailableError, match="layout"):
        storage.check()
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0002'"))
        settings = _settings()
        settings.attributes["connection"] = connection
        command.downgrade(settings, "base")
    engine.dispose()
    migrate(empty)
    with Storage(empty) as storage:
        storage.check()
    assert rows(empty) == (0, 0, 0)


def test_reports_are_numbered_in_the_order_in_which_they_came(url: str) -> None:
    with Storage(url) as storage:
        works = [opens(ANN, asked(n)) for n in range(3)] + [keeps(ANN, said(n)) for n in (2, 0)]
        storage.write([*works, opens(BOB, asked(0)), keeps(BOB, said(0, a=1))])
        assert storage.write([keeps(ANN, said(1)), keeps(ANN, said(0))]) == ["kept", "there"]
    engine = connect(url, writing=False)
    with engine.connect() as connection:
        columns = (answer.c.token, answer.c.number, answer.c.round)
        found = connection.execute(select(*columns).order_by(answer.c.token, answer.c.number))
        numbered = [(bytes(token), number, asked_in) for token, number, asked_in in found]
    engine.dispose()
    assert [row for row in numbered if row[0] == ANN] == [(ANN, 0, 2), (ANN, 1, 0), (ANN, 2, 1)]
    assert [row for row in numbered if row[0] == BOB] == [(BOB, 0, 0)]


def test_there_is_no_room_for_more() -> None:
    """No column for an address or a name; none for a feature but of people who joined the panel."""
    assert {name: {c.name for c in table.columns} for name, table in metadata.tables.items()} == {
        "pseudonym": {"token", "created", "mark", "summary", "model", "sums"},
        "round": {"token", "number", "disclosure", "solicitation", "opened"},
        "report": {"token", "number", "round", "id", "report", "received"},
        "panel": {"token", "joined", "disclosure", "shared"},
    }


@pytest.mark.parametrize("url", ["mysql://x/y", "sqlite://", "sqlite:///:memory:", "no url"])
def test_other_databases_are_refused_in_a_sentence(url: str) -> None:
    with pytest.raises(MidpointError, match=r"sqlite:///FILE|docs/guides/operating"):
        migrate(url)


def test_a_database_that_cannot_be_opened_is_named_without_its_password() -> None:
    with pytest.raises(MidpointError, match="cannot be opened") as caught:
        migrate("postgresql://me:hunter2@127.0.0.1:1/none")
    assert "hunter2" not in str(caught.value)
