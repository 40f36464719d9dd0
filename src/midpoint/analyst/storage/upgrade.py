"""Bring a database to the newest layout: once, before any worker starts."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from midpoint.analyst.storage.connection import connect
from midpoint.errors import MidpointError

DIRECTORY = Path(__file__).parent / "migrations"
LOCK = 0x6D696470
"""Name of the lock that keeps two programs from migrating one PostgreSQL at a time."""
UNHURRIED = ("SET LOCAL statement_timeout = 0", "SET LOCAL lock_timeout = '600s'")
"""A large table takes its time, and so does another program that migrates it."""


def migrate(url: str) -> None:
    """Create or upgrade the tables in one transaction; a second program waits for the first."""
    engine = connect(url, writing=True)
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                for statement in (*UNHURRIED, f"SELECT pg_advisory_xact_lock({LOCK})"):
                    connection.execute(text(statement))
            settings = _settings()
            settings.attributes["connection"] = connection
            command.upgrade(settings, "head")
    except DBAPIError as error:
        raise MidpointError(
            f"the database cannot be opened or upgraded ({error.orig}); check its URL and rights"
        ) from error
    finally:
        engine.dispose()


def is_current(connection: Connection) -> bool:
    """Tell whether the tables have the layout that this program expects."""
    revision = MigrationContext.configure(connection).get_current_revision()
    return revision == ScriptDirectory.from_config(_settings()).get_current_head()


def _settings() -> Config:
    settings = Config()
    settings.set_main_option("script_location", str(DIRECTORY).replace("%", "%%"))
    return settings
