"""Files that are either the old ones or the new ones, whole, whatever happens in between."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FLUSHED = os.O_RDWR if os.name == "nt" else os.O_RDONLY
"""How a file is opened to be flushed: Windows flushes only what is open for writing."""


def replace_file(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write atomically: readers see the old bytes or the new ones, even after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):  # say which file could not be written, not the temporary
            error.filename, error.filename2 = str(path), None
        raise
    _sync_directory(path.parent)


@contextmanager
def replace_directory(path: Path) -> Iterator[Path]:
    """Yield an empty directory that replaces `path` when the block ends without error.

    A directory cannot be renamed over a full one, so an existing one steps aside first and is
    removed last; if the process dies between the two renames it is found beside the new name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    temporary.mkdir()
    try:
        yield temporary
        for path_inside in temporary.rglob("*"):
            (_sync_directory if path_inside.is_dir() else _sync)(path_inside)
        _sync_directory(temporary)
        retired = _beside(path)
        had_one = path.exists()
        if had_one:
            path.rename(retired)
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _sync_directory(path.parent)
    if had_one:
        shutil.rmtree(retired, ignore_errors=True)


def _beside(path: Path) -> Path:
    """Return an unused hidden name in the same directory, hence on the same file system."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}")


def _sync(path: Path) -> None:
    descriptor = os.open(path, FLUSHED)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_directory(path: Path) -> None:
    """Make a rename durable; file systems that cannot sync a directory are left alone."""
    with suppress(OSError):
        _sync(path)
