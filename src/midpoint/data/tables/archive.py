"""A directory and a zip, seen alike."""

import gzip
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from midpoint.errors import MidpointError


class Archive:
    """The files of a directory or a zip, found by their bare names whatever the case.

    Zips and unpacked directories differ by a level or two of directories (`ml-1m/ratings.dat`), so
    only the last part of a path counts; of two files of the same name the shallower is taken.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        """Where it is."""
        members = _members_of_directory(path) if path.is_dir() else _members_of_zip(path)
        self._members: dict[str, str] = {}
        for member in sorted(members, key=lambda member: (member.count("/"), member)):
            self._members.setdefault(PurePosixPath(member).name.lower(), member)

    @property
    def names(self) -> frozenset[str]:
        """The bare names in it, in lower case."""
        return frozenset(self._members)

    def find(self, names: Sequence[str]) -> str | None:
        """Return the first of these names, in lower case, that is in it."""
        return next((name for name in names if name in self._members), None)

    def one_of(self, names: Sequence[str]) -> str:
        """Return the first of these names that is in it; one must be."""
        name = self.find(names)
        if name is None:
            raise MidpointError(
                f"{self.path} has none of the files {', '.join(names)}; add one, or name it so"
            )
        return name

    def where(self, name: str) -> str:
        """Name a file for an error message."""
        member = self._members.get(name.lower(), name)
        return str(self.path / member) if self.path.is_dir() else f"{self.path}:{member}"

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        member = self._members.get(name.lower())
        if member is None:
            raise MidpointError(
                f"{self.path} has no file {name}; it may be damaged or unpacked in part:"
                " get the data again"
            )
        if self.path.is_dir():
            return read_bytes(self.path / member)
        try:
            with zipfile.ZipFile(self.path) as archive:
                return archive.read(member)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
            raise MidpointError(
                f"{self.path}: {member} cannot be unpacked ({error}); get the zip again"
            ) from error


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if they are gzip's."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except FileNotFoundError as error:
        raise MidpointError(f"there is no file {path}; check the path") from error
    except (OSError, EOFError, zlib.error) as error:
        raise MidpointError(
            f"{path} cannot be read ({error}); check the path, or get the file again"
        ) from error


def _members_of_directory(path: Path) -> list[str]:
    """List two levels: a directory somebody points at by mistake may be deep."""
    paths = [*path.glob("*"), *path.glob("*/*")]
    return [file.relative_to(path).as_posix() for file in paths if file.is_file()]


def _members_of_zip(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return [member for member in archive.namelist() if not member.endswith("/")]
    except (zipfile.BadZipFile, OSError) as error:
        raise MidpointError(
            f"{path} is not a whole zip file ({error}); its download was perhaps cut short:"
            " get it again"
        ) from error
