"""What must not leave the device: the private category and the secret behind the coins."""

import hmac
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn, Self, SupportsIndex, final

from midpoint.errors import MidpointError
from midpoint.user.device_files import StorageError, keep_file
from midpoint.wire import Disclosure

SECRET_BYTES = 32


class Hidden:
    """Something that does not print, format, pickle, copy or serialize, and is not compared.

    Python cannot stop code that digs for it; this stops what happens by mistake: a log line, an
    error message, a cache. Equality is identity, so no comparison can be timed.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: hidden>"

    __str__ = __repr__

    def __format__(self, specification: str, /) -> str:
        return repr(self)

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is not pickled, copied or serialized")

    def __getstate__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is not pickled, copied or serialized")


@final
class PrivateCategory(Hidden):
    """The user's category of each private feature, by name."""

    __slots__ = ("_names", "in_the_clear")

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = dict(names)
        self.in_the_clear = False
        """Whether her ratings leave as they are: only as `unprotected` made it."""

    @classmethod
    def unprotected(cls) -> Self:
        """Make one for somebody who says no category and agrees that nothing is protected.

        It is in no cell, so whatever would protect by it fails. A category drawn at random would
        look like protection and be none.
        """
        category = cls({})
        category.in_the_clear = True
        return category

    @classmethod
    def of(cls, disclosure: Disclosure, names: Mapping[str, str]) -> Self:
        """Make it from names such as gender: F, refusing those the disclosure does not know."""
        category = cls(names)
        category.cell_in(disclosure)
        return category

    def cell_in(self, disclosure: Disclosure) -> int:
        """Return her joint cell, refusing names that the disclosure does not know.

        Names, not numbers, are kept: another service may order its features differently. An
        unknown name stops her when she enters it, once: features are pinned.
        """
        unprotected = self._names.keys() - {feature.name for feature in disclosure.features}
        if unprotected:
            raise MidpointError(f"the disclosure does not protect {', '.join(sorted(unprotected))}")
        cell = disclosure.cell(self._names)
        if cell is None:  # the message must not name what she is
            wrong = next(
                feature
                for feature in disclosure.features
                if self._names.get(feature.name) not in feature.categories
            )
            raise MidpointError(
                f"feature {wrong.name!r} needs one of {', '.join(wrong.categories)}"
            )
        return cell


@final
class DeviceSecret(Hidden):
    """32 random bytes from which a device derives its coins; other uses have other tags."""

    __slots__ = ("_key", "_keyed")

    def __init__(self, key: bytes) -> None:
        if len(key) != SECRET_BYTES:
            raise MidpointError(f"a device secret has {SECRET_BYTES} bytes, not {len(key)}")
        self._key = bytes(key)
        self._keyed = hmac.new(self._key, digestmod="sha256")

    @classmethod
    def generate(cls) -> Self:
        """Make a new one from the system's randomness."""
        return cls(os.urandom(SECRET_BYTES))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote, refusing a file that others on the machine could have read."""
        try:
            loose = os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077
            secret = cls(bytes.fromhex(path.read_text(encoding="ascii").strip()))
        except OSError as error:
            raise StorageError(
                f"{path} cannot be read ({error.strerror}); restore it together with its ledger"
            ) from None
        except ValueError as error:
            # `from None`: a chained message could show what the file holds.
            raise MidpointError(
                f"{path} is not a readable device secret ({type(error).__name__});"
                " restore it together with its ledger"
            ) from None
        if loose:
            raise MidpointError(f"{path} can be read by others; run: chmod 600 {path}")
        return secret

    def save(self, path: Path) -> None:
        """Write it for its owner's eyes only; an existing one is not overwritten."""
        if path.exists():
            raise MidpointError(f"{path} exists; a device keeps its secret, and coins, for good")
        keep_file(path, f"{self._key.hex()}\n".encode())

    def prf(self, message: bytes) -> bytes:
        """Return HMAC-SHA-256 of a message, which is to be made by `framed`."""
        keyed = self._keyed.copy()  # starting from the key each time takes three times as long
        keyed.update(message)
        return keyed.digest()


def framed(*parts: bytes) -> bytes:
    """Join parts, each after its length in four bytes, big-endian: no two lists look the same."""
    return b"".join([len(part).to_bytes(4, "big") + part for part in parts])
