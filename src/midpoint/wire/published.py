"""What a service shows everyone, as it came: nothing of it is checked yet."""

from dataclasses import dataclass
from typing import ClassVar, Self

from midpoint.wire.canonical import digest
from midpoint.wire.listing import Certificates, Chain
from midpoint.wire.message import Message
from midpoint.wire.signing import Signed


class PublishedFile(Message):
    """All that a service shows everyone, as one file: each part is the exact text of a message."""

    domain: ClassVar[str] = "published"

    chain: str
    """The list of disclosures."""
    disclosure: str
    """What the newest entry of the list names."""
    catalogue: str
    """The titles that the newest entry names; empty if it names none."""
    certificates: str
    """What auditors signed about the disclosure."""


@dataclass(frozen=True)
class Published:
    """What a service shows everyone, unchecked: a device checks it before it answers."""

    chain: Chain
    """The list of disclosures."""
    disclosure: bytes
    """What the entry names under which is answered, exact; without a witness that is the newest."""
    catalogue: bytes
    """The titles that the same entry names, exact; nothing if it names none."""
    certificates: Certificates
    """What auditors signed about the disclosure."""
    witness: Signed | None = None
    """What an independent witness signed about the list, if there is one."""

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Read the one file that `raw` is; a witness is somebody else, and not in it."""
        file = PublishedFile.parse(raw)
        return cls(
            Chain.parse(file.chain.encode()),
            file.disclosure.encode(),
            file.catalogue.encode(),
            Certificates.parse(file.certificates.encode()),
        )

    @property
    def raw(self) -> bytes:
        """All of it but the witness as one file, for those who exchange files."""
        return PublishedFile(
            chain=self.chain.raw.decode(),
            disclosure=self.disclosure.decode(),
            catalogue=self.catalogue.decode(),
            certificates=self.certificates.raw.decode(),
        ).raw

    def __repr__(self) -> str:
        """Say what it is, in one line."""
        return (
            f"<Published, unchecked: disclosure {digest(self.disclosure)[:12]},"
            f" {len(self.disclosure)} bytes; {len(self.chain.entries)} in the list,"
            f" {len(self.certificates.certificates)} certificates>"
        )
