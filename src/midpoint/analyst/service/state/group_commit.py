"""Requests in groups: one thread takes all that wait, for one commit or one computation."""

import asyncio
import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

from midpoint.analyst.storage import Storage, UnavailableError, Work

LARGEST_BATCH = 256
"""Requests in one transaction, at most."""
READERS = 4
T = TypeVar("T")
log = logging.getLogger("midpoint.service")


@dataclass(frozen=True)
class _Waiting:
    work: Any
    reply: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop


Settle = Callable[[Sequence[Any], float], None]


def _settle_nothing(_replies: Sequence[Any], _seconds: float) -> None:
    pass


class Groups:
    """Takes requests; one thread carries out all that wait at once, and each gets its reply.

    Args:
        carry_out: Returns a reply for each of several requests, or the exception it gets.
        waiting: Requests that may wait, at most; more are sent away.
        patience: Seconds after which one that waits is sent away.
        settle: Gets the replies of each group, and how many seconds it took. It runs after those
            who waited have their replies, and its failure is nobody's.
        largest: Requests in one group, at most.
    """

    def __init__(
        self,
        carry_out: Callable[[Sequence[Any]], Sequence[Any]],
        *,
        waiting: int,
        patience: float,
        settle: Settle = _settle_nothing,
        largest: int = LARGEST_BATCH,
    ) -> None:
        self._carry_out = carry_out
        self._patience = patience
        self._settle = settle
        self._most = waiting
        self._largest = largest
        self._waiting = 0
        self._pending: deque[tuple[float, asyncio.Future[Any]]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=type(self).__name__, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Carry out what is waiting, then end."""
        self._queue.put(None)
        self._thread.join()

    async def submit(self, work: Any) -> Any:
        """Return the reply; raise if it declined, or cannot be carried out now."""
        if self._waiting >= self._most:
            raise UnavailableError("too many requests wait for this")
        loop = asyncio.get_running_loop()
        waiting = _Waiting(work, loop.create_future(), loop)
        self._waiting += 1
        self._queue.put(waiting)
        self._pending.append((loop.time() + self._patience, waiting.reply))
        if self._timer is None:
            self._timer = loop.call_later(self._patience, self._give_up, loop)
        return await waiting.reply

    def _give_up(self, loop: asyncio.AbstractEventLoop) -> None:
        """Tell those who have waited too long; one timer serves all, since they come in order."""
        now, self._timer = loop.time(), None
        while self._pending and (self._pending[0][0] <= now or self._pending[0][1].done()):
            _, reply = self._pending.popleft()
            if not reply.done():
                reply.set_exception(UnavailableError("this took too long"))
        if self._pending:
            self._timer = loop.call_at(self._pending[0][0], self._give_up, loop)

    def _run(self) -> None:
        last = False
        while not last:
            batch, last = self._next()
            if batch:
                self._serve(batch)

    def _next(self) -> tuple[list[_Waiting], bool]:
        """Wait for a request; take all that wait with it. Tell whether to end after them."""
        batch: list[_Waiting] = []
        taken = self._queue.get()
        while taken is not None:
            batch.append(taken)
            if len(batch) == self._largest:
                return batch, False
            try:
                taken = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _serve(self, batch: Sequence[_Waiting]) -> None:
        # A client that gave up or was sent away is not served: she may be erased by then.
        live = [waiting for waiting in batch if not waiting.reply.done()]
        start = perf_counter()
        try:
            replies = self._carry_out([waiting.work for waiting in live]) if live else []
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            self._tell(batch, live, [error] * len(live))
            return
        seconds = perf_counter() - start
        self._tell(batch, live, replies)
        try:
            self._settle(replies, seconds)
        except Exception:
            log.exception("settling")

    def _tell(
        self, batch: Sequence[_Waiting], live: Sequence[_Waiting], replies: Sequence[Any]
    ) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits any more
            batch[0].loop.call_soon_threadsafe(self._deliver, len(batch), live, replies)

    def _deliver(self, taken: int, live: Sequence[_Waiting], replies: Sequence[Any]) -> None:
        self._waiting -= taken  # counted in the loop's own thread, so no lock is needed
        for waiting, reply in zip(live, replies, strict=True):
            if waiting.reply.done():
                continue  # its client is gone
            if isinstance(reply, Exception):
                waiting.reply.set_exception(reply)
            else:
                waiting.reply.set_result(reply)
        while self._pending and self._pending[0][1].done():
            self._pending.popleft()  # or each reply would be held until its time is up


class Committer(Groups):
    """Takes requests that write; each gets its reply only after the commit they share."""

    def __init__(
        self,
        storage: Storage,
        *,
        waiting: int,
        patience: float,
        settle: Settle = _settle_nothing,
    ) -> None:
        def write(works: Sequence[Work]) -> Sequence[Any]:
            return storage.write(works)

        super().__init__(write, waiting=waiting, patience=patience, settle=settle)


class Readers:
    """A few threads for what reads or computes; no more may wait than can be served."""

    def __init__(self, *, waiting: int, patience: float) -> None:
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="reader")
        self._most = waiting
        self._patience = patience
        self._waiting = 0

    def stop(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)

    async def call(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run a function in one of the threads."""
        if self._waiting >= self._most:
            raise UnavailableError("too many requests wait to be read")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, work, *arguments)
        except TimeoutError as error:
            raise UnavailableError("this took too long") from error
        finally:
            self._waiting -= 1
