"""What a fit of positions has found so far, on disk, so that a killed one goes on from there."""

import io
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from midpoint.files import replace_file

PURPOSE = "made_for"
"""The entry that says what the arrays beside it were made for."""


@dataclass(frozen=True)
class Checkpoint:
    """Arrays by name, each file written whole; those made for something else count for nothing."""

    directory: Path | None = None
    """Where they are; nothing is kept without one."""
    made_for: str = ""
    """Digest of all that they depend on."""

    def load(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Return what was saved under a name; None if nothing was, or for another purpose."""
        if self.directory is None:
            return None
        with suppress(OSError, EOFError, ValueError, KeyError, BadZipFile):
            content = (self.directory / f"{name}.npz").read_bytes()
            with np.load(io.BytesIO(content)) as file:
                arrays = {key: file[key] for key in file.files}
            if str(arrays.pop(PURPOSE)) == self.made_for:
                return arrays
        return None

    def save(self, name: str, **arrays: Any) -> None:
        """Keep arrays under a name, instead of those before."""
        if self.directory is None:
            return
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, **arrays, **{PURPOSE: np.array(self.made_for)})
        replace_file(self.directory / f"{name}.npz", content.getvalue())
