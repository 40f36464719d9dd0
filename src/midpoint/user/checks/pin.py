"""What a device holds the analyst to: its key, its list of disclosures, and what they are about."""

from pathlib import Path
from typing import ClassVar, Literal, Self

from midpoint.user.device_files import keep_file, read_kept
from midpoint.wire import FeatureNames, RatingScale
from midpoint.wire.message import Count, Digest, Message, Name, PublicKey

REMEDY = (
    "if you know why and agree, accept the change (--accept-changes, or in Python"
    " accept_changes=True)"
)
"""What helps when the analyst departs from what is pinned."""


class Pin(Message):
    """The state of trust after a disclosure was accepted; it never leaves the device."""

    domain: ClassVar[str] = "pin"

    key: PublicKey
    """The analyst's public key: the one that signed the last accepted entry."""
    sequence: Count
    """Number of the last accepted entry."""
    head: Digest
    """Digest of the last accepted entry."""
    features: tuple[FeatureNames, ...]
    """The private features and their categories, as first seen."""
    scale: RatingScale
    """What a rating can be, as first seen."""
    scheme: Name
    """What is done to ratings, as first seen."""
    sets: Literal["assigned"] | None = None
    """Whether items are assigned, as first seen."""
    successor: PublicKey | None = None
    """The key that signs what follows, if the last accepted entry names another one."""

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        keep_file(path, self.raw)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Read what `save` wrote; None when nothing was pinned yet."""
        return read_kept(cls.parse, path, "restore it, or ask again")
