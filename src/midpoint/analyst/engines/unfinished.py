"""What a killed run leaves behind, so that the next one goes on where it was."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from midpoint.analyst.fit.profiles import ItemProfiles, Provenance
from midpoint.errors import MidpointError

PROFILES, POSITIONS, COLUMNS = "profiles", "positions", "columns"
"""Directories in the one that is left: item profiles, checkpoints of positions, sorted ratings."""


@dataclass(frozen=True)
class Unfinished:
    """A directory for the results of stages that are done; nothing is kept without one."""

    directory: Path | None = None

    @property
    def positions(self) -> Path | None:
        """Directory for the checkpoints of `learn_positions`."""
        return None if self.directory is None else self.directory / POSITIONS

    def profiles(self, made: Provenance) -> ItemProfiles | None:
        """Return item profiles that were made in just this way before, from the same ratings."""
        if self.directory is None or not (self.directory / PROFILES).exists():
            return None
        try:
            profiles = ItemProfiles.load(self.directory / PROFILES)
        except MidpointError:  # damaged, or of another version: made again
            return None
        return profiles if profiles.provenance == made else None

    def keep(self, profiles: ItemProfiles) -> None:
        """Keep item profiles."""
        if self.directory is not None:
            profiles.save(self.directory / PROFILES)

    @contextmanager
    def columns(self, workspace: Path | None) -> Iterator[Path]:
        """Yield an empty directory for sorted ratings, which goes away with the block."""
        if self.directory is None:
            with TemporaryDirectory(prefix="midpoint-", dir=workspace) as directory:
                yield Path(directory)
            return
        directory_here = self.directory / COLUMNS
        shutil.rmtree(directory_here, ignore_errors=True)  # of a killed run
        directory_here.mkdir(parents=True)
        try:
            yield directory_here
        finally:
            shutil.rmtree(directory_here, ignore_errors=True)

    def remove(self) -> None:
        """Forget all of it: the run is finished."""
        if self.directory is not None:
            shutil.rmtree(self.directory, ignore_errors=True)
