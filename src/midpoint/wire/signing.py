"""Ed25519 signatures over exact bytes, bound to the kind of message."""

import os
import stat
from pathlib import Path
from typing import Annotated, ClassVar, Final, Self, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from pydantic import StringConstraints

from midpoint.errors import MidpointError
from midpoint.files import replace_file
from midpoint.wire.message import Message

M = TypeVar("M", bound=Message)
Signature = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]
NOBODYS: Final = frozenset(
    {
        *(n.to_bytes(32, "little") for n in (0, 1, 2**255 - 20, 2**255 - 19, 2**255 - 18)),
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
        bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
    }
)
"""Points whose order divides 8, as keys are written, without the sign. Anybody can sign for such a
key, so a service that used one could deny the two lists that it showed."""


class SigningKey:
    """A private Ed25519 key; it does not print."""

    __slots__ = ("_key",)

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @classmethod
    def generate(cls) -> Self:
        """Make a new key from the system's randomness."""
        return cls(os.urandom(32))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a key file, refusing one that others on the machine could have read."""
        try:
            loose = os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077
            key = load_pem_private_key(path.read_bytes(), password=None)
        except (OSError, ValueError, TypeError) as error:
            raise MidpointError(f"{path} is not a readable signing key ({error})") from error
        if loose:
            raise MidpointError(f"{path} can be read by others; run: chmod 600 {path}")
        if not isinstance(key, Ed25519PrivateKey):
            raise MidpointError(f"{path} holds a key of another kind; Ed25519 is needed")
        return cls(key.private_bytes_raw())

    def save(self, path: Path) -> None:
        """Write the key for its owner's eyes only; an existing file is not overwritten."""
        if path.exists():
            raise MidpointError(f"{path} exists; move it away first, a lost key cannot be remade")
        pem = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        replace_file(path, pem, mode=0o600)

    @property
    def public(self) -> str:
        """The public key in hexadecimal."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, domain: str, raw: bytes) -> str:
        """Return the signature over the domain and these exact bytes, in hexadecimal."""
        return self._key.sign(_bound(domain, raw)).hex()

    def __repr__(self) -> str:
        """Show the public half only."""
        return f"SigningKey(public={self.public})"

    def __reduce__(self) -> str:
        """Refuse to be pickled or copied."""
        raise TypeError("a signing key is not pickled or copied; use save and load")


class Signed(Message):
    """A message as its exact text, and the signature over it."""

    domain: ClassVar[str] = "signed"

    body: str
    """The exact text of the signed message."""
    signature: Signature
    """Ed25519 over "midpoint/v1/" + kind + newline + body, in hexadecimal."""

    @classmethod
    def seal(cls, message: Message, key: SigningKey) -> Self:
        """Sign a message's exact bytes."""
        return cls(body=message.raw.decode(), signature=key.sign(message.domain, message.raw))

    def open(self, kind: type[M]) -> M:
        """Read the message; this says nothing about who signed it."""
        return kind.parse(self.body.encode())

    def is_signed_by(self, public: str, kind: type[Message]) -> bool:
        """Return whether this key signed it as a message of this kind."""
        return verify(public, kind.domain, self.body.encode(), self.signature)


def verify(public: str, domain: str, raw: bytes, signature: str) -> bool:
    """Return whether the signature is this key's over this domain and these exact bytes.

    It is not if the key is nobody's: of a point of small order, for which no secret is needed.
    """
    try:
        *rest, last = bytes.fromhex(public)
        if bytes([*rest, last & 0x7F]) in NOBODYS:
            return False
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), _bound(domain, raw))
    except (InvalidSignature, ValueError):
        return False
    return True


def _bound(domain: str, raw: bytes) -> bytes:
    return b"midpoint/v1/" + domain.encode() + b"\n" + raw
