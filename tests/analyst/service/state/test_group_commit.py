"""Requests that wait share a commit; no one waits for ever."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from midpoint.analyst.service.state.group_commit import Committer, Readers
from midpoint.analyst.storage import Storage, UnavailableError, Work


def require(*, fine: bool) -> None:
    if not fine:
        raise RuntimeError("waited too long")


class Slow(Storage):
    """A database that waits, answers or fails as a test says."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.wait: Callable[[], None] = lambda: None
        self.error: Exception | None = None

    def write(self, works: Sequence[Work]) -> list[Any]:
        self.wait()
        self.batches.append(len(works))
        if self.error:
            raise self.error
        return list(works)


def commits(
    storage: Slow,
    body: Callable[[Committer], Coroutine[Any, Any, None]],
    *,
    waiting: int = 100,
    patience: float = 5.0,
    settle: Callable[[Sequence[Any], float], None] = lambda _replies, _seconds: None,
) -> None:
    committer = Committer(storage, waiting=waiting, patience=patience, settle=settle)
    committer.start()
    try:
        asyncio.run(body(committer))
    finally:
        committer.stop()


def test_requests_that_wait_share_a_commit_and_each_gets_its_own_reply() -> None:
    storage = Slow()

    async def body(committer: Committer) -> None:
        gate = threading.Event()
        storage.wait = lambda: require(fine=gate.wait(5))
        tasks = [asyncio.create_task(committer.submit(n)) for n in range(50)]
        await asyncio.sleep(0.05)
        storage.wait = lambda: None
        gate.set()
        assert await asyncio.gather(*tasks) == list(range(50))

    commits(storage, body)
    assert sum(storage.batches) == 50
    assert len(storage.batches) <= 3


def test_a_database_that_fails_fails_all_who_wait_and_then_recovers() -> None:
    storage = Slow()

    async def body(committer: Committer) -> None:
        storage.error = UnavailableError("away")
        tasks = [committer.submit(n) for n in range(10)]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(reply) for reply in found} == {UnavailableError}
        storage.error = None
        assert await committer.submit(1) == 1

    commits(storage, body)


def test_no_more_wait_than_may_and_none_for_ever() -> None:
    storage = Slow()

    async def body(committer: Committer) -> None:
        gate = threading.Event()
        storage.wait = lambda: require(fine=gate.wait(5))
        tasks = [asyncio.create_task(committer.submit(n)) for n in range(9)]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        said = sorted({str(reply) for reply in found})
        assert said == [
            "this took too long",
            "too many requests wait for this",
        ]
        gate.set()

    commits(storage, body, waiting=3, patience=0.2)


def test_a_client_that_left_or_was_sent_away_is_not_written() -> None:
    """Or a question would begin a pseudonym again that another worker erased."""
    storage = Slow()

    async def body(committer: Committer) -> None:
        gate = threading.Event()
        storage.wait = lambda: require(fine=gate.wait(5))
        first = asyncio.create_task(committer.submit(0))
        await asyncio.sleep(0.05)  # it is being written
        late = [asyncio.create_task(committer.submit(n)) for n in range(1, 9)]
        await asyncio.sleep(0)
        late[0].cancel()
        found = await asyncio.gather(first, *late[1:], return_exceptions=True)
        assert {type(reply) for reply in found} == {UnavailableError}
        storage.wait = lambda: None
        gate.set()
        assert await committer.submit(9) == 9
        assert committer._waiting == 0

    commits(storage, body, patience=0.2)
    assert storage.batches == [1, 1]


def test_no_reply_is_held_once_it_is_given() -> None:
    """Neither replies nor timers pile up while requests come one after the other."""
    storage = Slow()

    async def body(committer: Committer) -> None:
        for n in range(50):
            await committer.submit(n)
        assert len(committer._pending) == 0
        loop = asyncio.get_running_loop()
        assert len([timer for timer in loop._scheduled if not timer.cancelled()]) == 1  # type: ignore[attr-defined]

    commits(storage, body)


def test_what_fails_after_the_commit_does_not_reach_those_who_waited() -> None:
    storage, settled = Slow(), []

    def settle(replies: Sequence[Any], seconds: float) -> None:
        settled.append((list(replies), seconds >= 0))
        raise ZeroDivisionError

    async def body(committer: Committer) -> None:
        assert await committer.submit(1) == 1
        assert await committer.submit(2) == 2

    commits(storage, body, settle=settle)
    assert settled == [([1], True), ([2], True)]


def test_readers_take_no_more_than_they_can() -> None:
    async def body() -> None:
        readers = Readers(waiting=2, patience=0.2)
        gate = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wait() -> None:
            asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(5)

        tasks = [asyncio.create_task(readers.call(wait)) for _ in range(3)]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert sorted(map(str, found)) == ["this took too long"] * 2 + [
            "too many requests wait to be read"
        ]
        gate.set()
        assert await readers.call(lambda: 7) == 7
        readers.stop()

    asyncio.run(body())
