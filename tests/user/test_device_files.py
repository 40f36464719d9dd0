import os
import stat
from pathlib import Path

import pytest

from midpoint.errors import MidpointError
from midpoint.user import StorageError
from midpoint.user.device_files import keep_file, read_kept


def test_a_file_is_for_its_owner_and_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    for content in (b"first", b"second"):
        keep_file(path, content)
        assert path.read_bytes() == content
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.name for found in tmp_path.iterdir()] == ["kept"]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="cannot be written"):
        keep_file(tmp_path / "file" / "kept", b"")


def _refuse(_: bytes) -> bytes:
    raise MidpointError("its first byte is wrong")


def test_what_is_kept_is_read_or_said_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    assert read_kept(bytes, path, "ask again") is None
    keep_file(path, b"content")
    assert read_kept(bytes, path, "ask again") == b"content"
    with pytest.raises(MidpointError, match=r"damaged \(its first byte is wrong\); ask again"):
        read_kept(_refuse, path, "ask again")
    with pytest.raises(StorageError, match="cannot be read"):
        read_kept(bytes, tmp_path, "ask again")
