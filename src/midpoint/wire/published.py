"""What a service shows everyone, as it came: nothing of it is checked yet."""

from dataclasses import dataclass

from midpoint.wire.canonical import digest
from midpoint.wire.listing import Certificates, Chain


@dataclass(frozen=True)
class Witness:
    """What an independent party saw of the same list."""

    sequence: int
    """Number of the last entry it saw."""
    head: str
    """Digest of that entry."""


@dataclass(frozen=True)
class Published:
    """What a service shows everyone, unchecked: a device checks it before it answers."""

    chain: Chain
    """The list of disclosures."""
    disclosure: bytes
    """What the newest entry names, exact."""
    catalogue: bytes
    """The titles that the newest entry names, exact; nothing if it names none."""
    certificates: Certificates
    """What auditors signed about the disclosure."""
    witness: Witness | None = None
    """The newest entry that an independent witness saw, if there is one."""

    def __repr__(self) -> str:
        """Say what it is, in one line."""
        return (
            f"<Published, unchecked: disclosure {digest(self.disclosure)[:12]},"
            f" {len(self.disclosure)} bytes; {len(self.chain.entries)} in the list,"
            f" {len(self.certificates.certificates)} certificates>"
        )
