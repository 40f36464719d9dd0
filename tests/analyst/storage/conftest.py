"""Both kinds of database, for what holds on either."""

from pathlib import Path

import pytest

from midpoint.analyst.storage import migrate
from midpoint.analyst.storage.connection import sqlite_url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database without tables."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "kept.sqlite")
    return str(request.getfixturevalue("postgresql")())


@pytest.fixture
def url(empty: str) -> str:
    """Return the URL of a database with empty tables."""
    migrate(empty)
    return empty
