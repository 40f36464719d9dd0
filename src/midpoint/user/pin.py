"""What a device holds the analyst to: its key and the last entry of its list that was accepted."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from midpoint.errors import MidpointError
from midpoint.files import replace_file


@dataclass(frozen=True)
class Pin:
    """The state of trust after a disclosure was accepted."""

    key: str
    """The analyst's public key."""
    sequence: int
    """Number of the last accepted entry."""
    head: str
    """Digest of the last accepted entry."""

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        replace_file(path, json.dumps(asdict(self), sort_keys=True).encode(), mode=0o600)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Read what `save` wrote; None when nothing was pinned yet."""
        try:
            found = json.loads(path.read_bytes())
            pin = cls(key=found["key"], sequence=found["sequence"], head=found["head"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise MidpointError(
                f"{path} is damaged ({error!r}); restore it, or ask anew"
            ) from error
        return pin


@dataclass(frozen=True)
class Witness:
    """What an independent party saw of the same list."""

    sequence: int
    """Number of the last entry it saw."""
    head: str
    """Digest of that entry."""
