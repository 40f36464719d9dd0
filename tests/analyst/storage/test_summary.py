"""Summaries are what rounds and reports say, no matter who wrote them, and go with them."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from sqlalchemy import text

from midpoint.analyst.storage import Decision, Storage, Summary, migrate, transaction
from midpoint.analyst.storage.connection import connect
from tests.support.sites.storage_works import Made, asked, erases, keeps, opens, person, said

ANN, BOB = person("Ann"), person("Bob")


def require_recomputed(url: str, *tokens: bytes) -> int:
    """Compare what is kept with what rounds and reports say; return how many there are."""
    with Storage(url) as storage:
        summaries = storage.summaries(tokens)
        for token, summary in summaries.items():
            history = storage.history(token)
            assert history is not None
            assert summary.raw == Summary.of(history).raw
            if summary.answered and summary.sums is not None:
                assert summary.sums.data == b"%d answers" % len(summary.answers)
        return len(summaries)


def execute(url: str, statement: str) -> list[tuple[object, ...]]:
    engine = connect(url, writing=True)
    with engine.begin() as connection:
        found = connection.execute(text(statement))
        rows = [tuple(row) for row in found] if found.returns_rows else []
    engine.dispose()
    return rows


def test_a_summary_is_kept_with_every_round_and_report(url: str) -> None:
    with Storage(url) as storage:
        storage.write([opens(ANN, asked(0, "a", "b")), opens(BOB, asked(0, "a"))])
        assert storage.sums([ANN, BOB, person("Eve")]) == {ANN: None, BOB: None}
        storage.write([keeps(ANN, said(0, a=5, x=2)), opens(ANN, asked(1, "c"))])
        storage.write([keeps(ANN, said(1, a=5, c=1))])
        summary = storage.summaries([ANN])[ANN]
        assert summary.items == {"a": 5, "b": None, "c": 1, "x": 2}
        assert summary.sums == storage.sums([ANN])[ANN]
        assert set(summary.answered) == {0, 1}
        assert summary.waiting == {}
        history = storage.history(ANN)
    assert history is not None
    kept = [*(r.solicitation for r in history.rounds), *(r.report for r in history.reports)]
    assert summary.size == sum(map(len, kept))
    assert require_recomputed(url, ANN, BOB) == 2


def test_an_older_database_is_summed_up_when_it_is_needed(url: str) -> None:
    with Storage(url) as storage:
        storage.write([opens(ANN, asked(0, "a")), keeps(ANN, said(0, a=5)), opens(ANN, asked(1))])
        before = storage.summaries([ANN])[ANN]
        execute(url, "UPDATE pseudonym SET mark = 0, summary = NULL, model = NULL, sums = NULL")
        assert storage.sums([ANN]) == {ANN: None}
        assert storage.summaries([ANN])[ANN].raw == before.raw
        assert storage.write([keeps(ANN, said(0, a=1)), keeps(ANN, said(1, b=2))]) == [
            "there",
            "kept",
        ]
    assert execute(url, "SELECT count(summary) FROM pseudonym") == [(1,)]
    assert require_recomputed(url, ANN) == 1


def test_erasing_takes_the_summary_with_it(url: str) -> None:
    with Storage(url) as storage:
        storage.write([opens(ANN, asked(0, "a")), opens(BOB, asked(0)), keeps(ANN, said(0, a=5))])
        assert storage.sums([ANN])[ANN] is not None  # the control
        storage.write([erases(ANN)])
        assert storage.sums([ANN, BOB]) == {BOB: None}
        assert storage.summaries([ANN]) == {}
        storage.write([erases(BOB), opens(BOB, asked(0, "z"))])
        assert storage.summaries([BOB])[BOB].items == {"z": None}
    assert execute(url, "SELECT count(*), count(sums) FROM pseudonym") == [(1, 0)]


def meet(url: str) -> None:
    """Let two workers add to one pseudonym at once: a question and a report."""
    barrier = threading.Barrier(2)

    def write(work: Made) -> object:
        def choose(summary: Summary | None) -> Decision:
            with suppress(threading.BrokenBarrierError):
                barrier.wait(0.3)
            return work.decide(summary)

        with Storage(url) as own:
            return own.write([Made(work.token, choose, work.begins)])[0]

    with Storage(url) as storage:
        storage.write([opens(ANN, asked(0, "a"))])
    with ThreadPoolExecutor(2) as pool:
        both = pool.map(write, [opens(ANN, asked(1, "b")), keeps(ANN, said(0, a=5))])
        assert list(both) == ["opened", "kept"]


def test_a_question_and_a_report_at_once_are_both_in_the_summary(url: str) -> None:
    meet(url)
    assert require_recomputed(url, ANN) == 1


@pytest.mark.slow
def test_without_marks_one_of_them_would_be_missing(
    postgresql: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: round and report have other keys, so neither is in the other's way."""
    url = postgresql()
    migrate(url)
    monkeypatch.setattr(transaction, "_mark", lambda: 0)
    meet(url)
    with pytest.raises(AssertionError):
        require_recomputed(url, ANN)


def test_workers_in_each_others_way_leave_true_summaries(url: str) -> None:
    people = [person(n) for n in range(4)]

    def work(seed: int) -> None:
        draw = random.Random(seed)  # noqa: S311 - nothing is secret here
        with Storage(url) as own:
            for _ in range(20):
                own.write([drawn(draw) for _ in range(6)])

    def drawn(draw: random.Random) -> Made:
        token, number = draw.choice(people), draw.randrange(5)
        works = [opens(token, asked(number, draw.choice("abcd"))), keeps(token, said(number, e=1))]
        return draw.choices([*works, erases(token)], weights=[5, 5, 1])[0]

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    require_recomputed(url, *people)
