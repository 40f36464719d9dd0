"""Files are replaced whole or not at all."""

from pathlib import Path

import pytest

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
