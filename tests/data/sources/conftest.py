"""Data directories of a test."""

from pathlib import Path

import pytest


@pytest.fixture
def directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return the directory that the environment names, and our own."""
    given, own = tmp_path / "given", tmp_path / "own"
    given.mkdir()
    own.mkdir()
    monkeypatch.setenv("MIDPOINT_DATA", str(given))
    monkeypatch.setattr("midpoint.data.sources.catalogue.user_data_path", lambda *_, **__: own)
    return given, own
