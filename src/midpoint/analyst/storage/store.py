"""Read a history; write what many requests decide in one transaction."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from midpoint.analyst.storage import transaction
from midpoint.analyst.storage.batch import Reply
from midpoint.analyst.storage.connection import BUSY, connect
from midpoint.analyst.storage.records import History, Member, Work
from midpoint.analyst.storage.summary import Summary, Sums
from midpoint.analyst.storage.transaction import InTheWayError
from midpoint.analyst.storage.upgrade import is_current

FAILED_FOR = 30.0
"""Seconds for which a failed write counts as a database that is not ready."""
TRIES = 3
"""How often a request is tried alone: a deadlock of two others may end it, too."""
CLASHES = frozenset({"40001", "40P01"})
"""What PostgreSQL calls transactions that exclude each other: not serializable, deadlock."""


class UnavailableError(Exception):
    """The database does not answer now: locked, full, away. Asking again later may help."""


class Storage:
    """One worker's way to the database: a connection that writes, and some that read."""

    def __init__(self, url: str, *, busy: float = BUSY) -> None:
        self._failed: tuple[float, str] | None = None
        self._writing = connect(url, writing=True, busy=busy)
        self._reading = connect(url, writing=False, busy=busy)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._writing.dispose()
        self._reading.dispose()

    def check(self) -> None:
        """Raise unless the database answers, has the right layout, and took the last write.

        A write that failed, as on a full disk, counts for a while: without requests nothing is
        written, and nobody would see that there is space again.
        """
        if self._failed is not None and time.monotonic() < self._failed[0] + FAILED_FOR:
            raise UnavailableError(f"the last write failed ({self._failed[1]})")
        with _available(self._reading) as connection:
            if not is_current(connection):
                raise UnavailableError("the database has another layout; restart the service")

    def history(self, token: bytes) -> History | None:
        """Return all that is kept of a pseudonym, which may be much; None if it is not known."""
        with _available(self._reading) as connection:
            return transaction.histories_of(connection, [token]).get(token)

    def member(self, token: bytes) -> Member | None:
        """Return what a member of the panel shared; None if she is not in it."""
        with _available(self._reading) as connection:
            return transaction.member_of(connection, token)

    def summaries(self, tokens: Sequence[bytes]) -> dict[bytes, Summary]:
        """Return the summaries of those that are known."""
        with _available(self._reading) as connection:
            return transaction.summaries_of(connection, tokens)[0]

    def sums(self, tokens: Sequence[bytes]) -> dict[bytes, Sums | None]:
        """Return the statistics of those that are known, where they are kept."""
        with _available(self._reading) as connection:
            return transaction.sums_of(connection, tokens)

    def write(self, works: Sequence[Work]) -> list[Reply | Exception]:
        """Carry out requests in one transaction; on return they are on disk.

        Each gets its reply, or the exception by which it declined. Nothing is locked while they
        decide: a summary is written only over the one that was read, and rounds and reports are
        numbered in their primary keys, so writing fails if another worker wrote first. Before
        anything is written, its pseudonyms are locked in ascending order, so that workers hardly
        ever deadlock.

        If another worker was in the way, the requests are repeated one by one, and see what it
        wrote. Each locks its pseudonym before it reads, so nobody can be in the way again.
        """
        try:
            return self._write(works)
        except InTheWayError:
            return [self._write_one(work) for work in works]

    def _write(self, works: Sequence[Work], *, lock: bool = False) -> list[Reply | Exception]:
        try:
            with _available(self._writing) as connection:
                replies = transaction.carry_out(connection, works, lock=lock)
        except UnavailableError as error:
            if "locked" not in str(error):  # which passes by itself
                self._failed = time.monotonic(), str(error)
            raise
        self._failed = None
        return replies

    def _write_one(self, work: Work) -> Reply | Exception:
        for _ in range(TRIES):
            try:
                return self._write([work], lock=True)[0]
            except InTheWayError as error:
                why = error
        return UnavailableError(f"another request was in the way ({why})")


@contextmanager
def _available(engine: Engine) -> Iterator[Connection]:
    """Open a transaction and commit it; what the database fails at is that it is unavailable."""
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        clash = isinstance(error, IntegrityError) or getattr(error.orig, "sqlstate", "") in CLASHES
        raise (InTheWayError if clash else UnavailableError)(_first_line(error)) from error
    except SQLAlchemyError as error:  # no connection came free in time
        raise UnavailableError(type(error).__name__) from error


def _first_line(error: DBAPIError) -> str:
    """Return what the database says, without the details below it: they may name a pseudonym."""
    return f"{type(error.orig).__name__}: {error.orig}".partition("\n")[0]
