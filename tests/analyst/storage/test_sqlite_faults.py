"""A locked file, a full disk, a cut off power: SQLite says so, and nothing is half-written."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from midpoint.analyst.storage import Storage, UnavailableError, migrate
from midpoint.analyst.storage.connection import sqlite_url
from tests.support.sites.storage_works import asked, keeps, opens, person, said

ANN, BOB = person("Ann"), person("Bob")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "kept.sqlite"
    migrate(sqlite_url(file))
    return file


@pytest.fixture
def storage(path: Path) -> Iterator[Storage]:
    with Storage(sqlite_url(path), busy=0.1) as opened:
        opened.write([opens(ANN, asked(0)), opens(BOB, asked(0))])
        yield opened


def test_a_locked_file_is_unavailable_and_recovers_by_itself(storage: Storage, path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnavailableError, match="locked"):
        storage.write([keeps(ANN, said(0))])
    assert storage.history(ANN) is not None  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    assert storage.write([keeps(ANN, said(0))]) == ["kept"]


def test_a_full_disk_is_unavailable_and_keeps_nothing_by_half(storage: Storage, path: Path) -> None:
    with storage._writing.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    large = {f"item-{n:05d}": 5 for n in range(2000)}
    with pytest.raises(UnavailableError, match="full"):
        storage.write([keeps(ANN, said(0, a=1)), keeps(BOB, said(0, **large))])
    assert storage.history(ANN) == storage.history(BOB)
    with storage._writing.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=100000")
    assert storage.write([keeps(ANN, said(0, a=1)), keeps(BOB, said(0, **large))]) == ["kept"] * 2
    found = sqlite3.connect(path)
    assert found.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    found.close()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_file_and_its_log_are_for_the_owner_only(storage: Storage, path: Path) -> None:
    assert storage.history(ANN) is not None
    for file in (path, path.with_name(f"{path.name}-wal")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    path.chmod(0o640)  # the control: what the operator chose stays
    migrate(sqlite_url(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_it_waits_for_the_disk_and_overwrites_what_is_erased(storage: Storage) -> None:
    for engine in (storage._writing, storage._reading):
        with engine.connect() as connection:
            found = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
            }
        assert found == {
            "journal_mode": "wal",
            "synchronous": 2,
            "foreign_keys": 1,
            "secure_delete": 1,
        }
