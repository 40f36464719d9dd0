"""Files of the device, and what went wrong with them: the disk, or somebody's hand."""

from pathlib import Path

from midpoint.errors import MidpointError
from midpoint.files import replace_file


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
