"""Two workers at one pseudonym, at the same moment: as if one had come after the other.

Every request waits, once it has read what is kept, until another one has read it too. SQLite keeps
the other one out until the first is done, so there they do not meet.
"""

import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import text

from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.service.state.acceptance import Accepted, Erase, KeepReport, OpenRound
from midpoint.analyst.storage import (
    Decision,
    History,
    Storage,
    Summary,
    UnavailableError,
    Work,
    batch,
    migrate,
    transaction,
)
from midpoint.analyst.storage import connection as connecting
from midpoint.analyst.storage.connection import connect
from midpoint.analyst.storage.upgrade import LOCK
from midpoint.wire import ONE, Report
from tests.support.sites.storage_works import person

ANN, DISCLOSURE = person("Ann"), "d" * 64
FIRST, SECOND = f"{1:032x}", f"{2:032x}"


@dataclass
class Meeting:
    """A request that decides only when another one has read what it read, or cannot."""

    work: Work
    barrier: threading.Barrier
    met: list[bool] = field(default_factory=list)

    @property
    def token(self) -> bytes:
        return self.work.token

    @property
    def begins(self) -> int | None:
        return self.work.begins

    def decide(self, summary: Summary | None) -> Decision:
        with suppress(threading.BrokenBarrierError):
            self.barrier.wait(0.3)
            self.met.append(True)
        return self.work.decide(summary)


def race(url: str, *works: Work) -> list[Any]:
    """Let each worker write one of them at the same time; return their replies."""
    barrier = threading.Barrier(len(works))

    def write(work: Work) -> Any:
        with Storage(url) as own:
            return own.write([Meeting(work, barrier)])[0]

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(write, works))


def opened(*items: str, after: int = -1) -> OpenRound:
    return OpenRound(ANN, 7, DISCLOSURE, items, only_asked=False, after=after)


def reported(number: int, name: str, **answers: int) -> KeepReport:
    said = tuple((item, star * ONE) for item, star in sorted(answers.items()))
    report = Report(id=name, disclosure=DISCLOSURE, round=number, answers=said)
    return KeepReport.of(ANN, report, 9, retired=False)


def kept(url: str) -> History | None:
    with Storage(url) as storage:
        return storage.history(ANN)


def begin(url: str, *works: Work) -> None:
    with Storage(url) as storage:
        for reply in storage.write(works):
            assert not isinstance(reply, Exception)


def codes(replies: Sequence[Any]) -> list[str]:
    """Say what became of each: kept, repeated, or the code by which it was declined."""
    said = []
    for reply in replies:
        if isinstance(reply, DeclinedError):
            said.append(reply.code)
        else:
            assert isinstance(reply, Accepted), reply
            said.append("repeated" if reply.repeated else "kept")
    return sorted(said)


def test_one_report_sent_twice_is_kept_once(url: str) -> None:
    begin(url, opened("a", "b"))
    assert codes(race(url, *[reported(0, FIRST, a=5)] * 2)) == ["kept", "repeated"]
    found = kept(url)
    assert found is not None
    assert len(found.reports) == 1


RIVALS = {
    "one round": (reported(0, FIRST, a=5), reported(0, SECOND, a=1)),
    "one name": (reported(0, FIRST, a=5), reported(1, FIRST, b=1)),
    "one item": (reported(0, FIRST, a=5), reported(1, SECOND, a=1)),
}


@pytest.mark.parametrize("name", RIVALS)
def test_of_two_reports_that_exclude_each_other_one_is_kept(url: str, name: str) -> None:
    begin(url, opened("a"), opened("b", after=0))
    assert codes(race(url, *RIVALS[name])) == ["kept", "report_changed"]
    found = kept(url)
    assert found is not None
    assert len(found.reports) == 1


def test_one_question_asked_for_twice_is_one(url: str) -> None:
    first, second = race(url, opened("a"), opened("a"))
    assert first == second
    found = kept(url)
    assert found is not None
    assert len(found.rounds) == 1


def test_a_report_in_flight_does_not_outlive_its_person(url: str) -> None:
    begin(url, opened("a"))
    gone, reply = race(url, Erase(ANN), reported(0, FIRST, a=5))
    assert gone is None
    assert codes([reply]) in (["kept"], ["round_unknown"])
    assert kept(url) is None
    tables = connect(url, writing=False)
    with tables.connect() as connection:
        for name in ("pseudonym", "round", "report"):
            assert connection.scalar(text(f"SELECT count(*) FROM {name}")) == 0  # noqa: S608
    tables.dispose()


def test_a_person_asked_while_she_is_erased_is_somebody_new(url: str) -> None:
    begin(url, opened("a"), reported(0, FIRST, a=5))
    gone, reply = race(url, Erase(ANN), opened("b", after=0))
    assert gone is None
    assert isinstance(reply, bytes)
    found = kept(url)
    assert found is None or (
        found.reports == () and [one.items for one in found.rounds] == [("b",)]
    )


@dataclass
class Unlucky:
    """A request whose person another worker replaces between reading and writing, every time."""

    url: str
    work: Work
    pool: ThreadPoolExecutor
    tries: int = 0

    @property
    def token(self) -> bytes:
        return self.work.token

    @property
    def begins(self) -> int | None:
        return self.work.begins

    def decide(self, summary: Summary | None) -> Decision:
        self.tries += 1
        with suppress(TimeoutError):  # it may have to wait
            self.pool.submit(begin, self.url, Erase(self.token), opened("a")).result(0.3)
        return self.work.decide(summary)


@pytest.mark.parametrize("work", [opened("b", after=0), reported(0, FIRST, a=5)])
def test_somebody_erased_again_and_again_is_answered_at_the_second_try(
    url: str, work: Work
) -> None:
    """The first try locks nothing; the second locks her row, so that the other worker waits."""
    begin(url, opened("a"))
    with ThreadPoolExecutor(2) as pool, Storage(url) as storage:
        unlucky = Unlucky(url, work, pool)
        (reply,) = storage.write([unlucky])
    assert isinstance(reply, bytes) or codes([reply]) == ["kept"]
    assert unlucky.tries == (1 if url.startswith("sqlite") else 2)
    found = kept(url)
    assert found is not None
    assert [one.items for one in found.rounds] == [("a",)]
    assert found.reports == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one name", "one item"])
def test_without_their_numbers_both_would_be_kept(
    postgresql: Callable[[], str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The control: rounds differ, so nothing but numbers and marks tells workers of each other."""
    row = batch._report_row
    monkeypatch.setattr(batch, "_report_row", lambda t, _, kept: row(t, kept.round, kept))
    monkeypatch.setattr(transaction, "_update", lambda *_: None)
    url = postgresql()
    migrate(url)
    begin(url, opened("a"), opened("b", after=0))
    assert codes(race(url, *RIVALS[name])) == ["kept", "kept"]


@pytest.mark.parametrize("erasing", [1, 8])
def test_workers_in_each_others_way_neither_stall_nor_fail(url: str, erasing: int) -> None:
    """Batches of all kinds, about few people, in any order: no failure, no contradiction."""
    people, items = [person(n) for n in range(5)], "abcdefgh"

    def work(seed: int) -> list[Any]:
        draw, replies = random.Random(seed), []  # noqa: S311 - nothing is secret here
        with Storage(url) as own:
            for _ in range(25):
                replies += own.write([drawn(draw) for _ in range(8)])
        return replies

    def drawn(draw: random.Random) -> Work:
        token, item = draw.choice(people), draw.choice(items)
        number = draw.randrange(4)
        answers = ((item, draw.randint(1, 5) * ONE),)
        report = Report(
            id=f"{draw.randrange(9):032x}", disclosure=DISCLOSURE, round=number, answers=answers
        )
        works: list[Work] = [
            Erase(token),
            OpenRound(token, 7, DISCLOSURE, (item,), only_asked=False, after=number - 1),
            KeepReport.of(token, report, 9, retired=False),
        ]
        return draw.choices(works, weights=[erasing, 4, 6])[0]

    with ThreadPoolExecutor(3) as pool:
        replies = [reply for batch in pool.map(work, range(3)) for reply in batch]
    assert not [reply for reply in replies if isinstance(reply, UnavailableError)]
    often = {"kept", "round_unknown"} | ({"report_changed"} if erasing == 1 else set())
    assert often <= {
        code for reply in replies if not isinstance(reply, bytes | None) for code in codes([reply])
    }
    with Storage(url) as storage:
        for found in filter(None, map(storage.history, people)):
            pairs = [pair for kept in found.reports for pair in kept.answers.items()]
            assert len(dict(pairs)) == len(set(pairs))
            names = [one.id for one in found.reports]
            assert len(set(names)) == len(names)


def test_who_comes_back_in_one_breath_needs_no_second_try(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Erased and asked again in one transaction: it holds, and slows nobody down."""
    begin(url, opened("a"), reported(0, FIRST, a=5))

    def fail(*_: object) -> None:
        raise AssertionError("it was tried again, one by one")

    monkeypatch.setattr(Storage, "_write_one", fail)
    with Storage(url) as storage:
        storage.write([Erase(ANN), opened("b"), reported(0, SECOND, b=1)])
    with Storage(url) as storage:
        assert storage.summaries([ANN])[ANN].answers == {"b": ONE}


@pytest.mark.slow
def test_a_migration_waits_for_another_as_long_as_it_takes(
    postgresql: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than a request may take, after which the control gives up."""
    url = postgresql()
    monkeypatch.setattr(connecting, "PATIENCE", 1)
    engine = connect(url, writing=True)
    with ThreadPoolExecutor(1) as pool:
        with engine.begin() as other:
            other.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
            waiting = pool.submit(migrate, url)
            threading.Event().wait(1.5)
            assert not waiting.done()
        waiting.result(10)
    engine.dispose()
    with Storage(url) as storage:
        storage.check()
