"""Engines: SQLite that survives a power cut, or PostgreSQL, behind one way to call them."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from midpoint.errors import MidpointError

BUSY = 5.0
"""Seconds to wait for a locked SQLite file."""
PATIENCE = 5
"""Seconds to wait for PostgreSQL to answer a call."""
READERS = 4
"""Connections for reading, of one worker."""


def connect(url: str, *, writing: bool, busy: float = BUSY) -> Engine:
    """Return an engine for one writer, or for several readers."""
    address = parsed(url)
    size = 1 if writing else READERS
    if address.get_backend_name() == "sqlite":
        return _sqlite(address, size, writing=writing, busy=busy)
    return _postgresql(address, size)


def parsed(url: str) -> URL:
    """Read a database URL; PostgreSQL is spoken to by psycopg, whatever the URL says."""
    try:
        address = make_url(url)
    except ArgumentError as error:
        raise MidpointError("cannot read the database URL: see docs/guides/operating.md") from error
    kind = address.get_backend_name()
    if kind == "sqlite" and address.database not in (None, "", ":memory:"):
        return address.set(drivername="sqlite")
    if kind in ("postgresql", "postgres"):
        return address.set(drivername="postgresql+psycopg")
    raise MidpointError(
        f"a database of kind {kind!r} is not known; use sqlite:///FILE or postgresql://..."
    )


def sqlite_url(path: Path) -> str:
    """Return the URL of an SQLite file."""
    return f"sqlite:///{path.resolve()}"


def _sqlite(address: URL, size: int, *, writing: bool, busy: float) -> Engine:
    if writing:
        _make_private(Path(str(address.database)))
    engine = create_engine(
        address,
        hide_parameters=True,  # an error is logged, and whom it is about is nobody's business
        pool_size=size,
        max_overflow=0,
        connect_args={"timeout": busy, "check_same_thread": False},
    )
    begin = "BEGIN IMMEDIATE" if writing else "BEGIN"

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver's own BEGIN would come too late
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "secure_delete=ON",  # what is erased is overwritten
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _make_private(file: Path) -> None:
    """Make the file for its owner's eyes only, unless it is there; its log takes after it."""
    with suppress(OSError):  # what is wrong is said when it is opened
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _postgresql(address: URL, size: int) -> Engine:
    limit = 1000 * PATIENCE
    return create_engine(
        address,
        hide_parameters=True,
        pool_size=size,
        max_overflow=0,
        pool_timeout=PATIENCE,
        connect_args={
            "connect_timeout": PATIENCE,
            "tcp_user_timeout": limit,
            "options": f"-c synchronous_commit=on -c statement_timeout={limit}"
            f" -c lock_timeout={limit} -c idle_in_transaction_session_timeout={2 * limit}",
        },
    )
