"""Audits and tables that several commands need; each is made once."""

from pathlib import Path

import pytest

from tests.support.models.small_model import SMALL_AUDIT, run
from tests.support.tables.small_tables import write_tables


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the directory of an audit, and what the command printed."""
    out = tmp_path_factory.mktemp("audit") / "out"
    shown = run("audit", "simulated-tiny", "--feature", "gender", *SMALL_AUDIT, "--out", out)
    return out, shown


@pytest.fixture(scope="session")
def parquet_tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return ratings and users as Parquet."""
    return write_tables(tmp_path_factory.mktemp("tables"))
