"""Files of the device, and what went wrong with them: the disk, or somebody's hand."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from midpoint.errors import MidpointError
from midpoint.files import replace_file

Kept = TypeVar("Kept")


class StorageError(MidpointError):
    """The device could not read or write what it keeps; nothing was lost, and nothing sent."""


class BrokenSealError(MidpointError):
    """What is kept was read, and is not what this device wrote."""


def keep_file(path: Path, content: bytes) -> None:
    """Write a file for its owner's eyes only, whole or not at all."""
    try:
        replace_file(path, content, mode=0o600)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror}); free some space, or see who may write it"
        ) from error


def read_kept(parse: Callable[[bytes], Kept], path: Path, remedy: str) -> Kept | None:
    """Read what the device keeps, None if there is nothing; `remedy` helps where it is damaged."""
    try:
        return parse(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read ({error}); see who may read it") from error
    except MidpointError as error:
        raise MidpointError(f"{path} is damaged ({error}); {remedy}") from error
