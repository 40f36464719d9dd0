"""Files are replaced whole or not at all."""

import fcntl
import os
from pathlib import Path

import pytest

from midpoint import files
from midpoint.files import replace_directory, replace_file


def test_replace_file_swaps_whole_content(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "note"
    replace_file(path, b"old")
    replace_file(path, b"new", mode=0o600)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["note"]


def test_replace_directory_keeps_the_old_one_when_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with replace_directory(path) as fresh:
        (fresh / "a").write_text("old")

    def fail() -> None:
        with replace_directory(path) as fresh:
            (fresh / "a").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (path / "a").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_replace_directory_leaves_nothing_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "model"
    for name in ("a", "b"):
        with replace_directory(path) as fresh:
            (fresh / name).write_text(name)
    assert [p.name for p in path.iterdir()] == ["b"]
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("flags", [os.O_RDWR, os.O_RDONLY])
def test_a_directory_is_flushed_where_that_needs_files_open_for_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int
) -> None:
    """As on Windows, which cannot open a directory either; read only is the control."""
    flush = os.fsync

    def strict(descriptor: int) -> None:
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(9, "Bad file descriptor")
        flush(descriptor)

    def fill() -> None:
        with replace_directory(tmp_path / "model") as fresh:
            (fresh / "inner").mkdir()
            (fresh / "inner" / "a").write_text("new")

    monkeypatch.setattr(os, "fsync", strict)
    monkeypatch.setattr(files, "FLUSHED", flags)
    if flags == os.O_RDONLY:
        with pytest.raises(OSError, match="Bad file descriptor"):
            fill()
    else:
        fill()
        assert (tmp_path / "model" / "inner" / "a").read_text() == "new"
