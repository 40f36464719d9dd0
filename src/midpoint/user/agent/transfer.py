"""Moving to another device, or a backup: all that a device keeps about a service, in one file.

The file is a first line that says what it is, 16 bytes of salt, 12 of nonce, and a message that
ChaCha20-Poly1305 encrypts under scrypt(passphrase, salt); the first line is authenticated as well.

Two devices must not decide apart: the same coins with different ledgers would toss decided items
again. So an export marks what it leaves behind as moved, which then answers nothing. A backup
leaves the device in use; what is restored from one asks the service, before all else, whether
anything was answered since.
"""

import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from midpoint.errors import MidpointError
from midpoint.files import replace_directory
from midpoint.user.agent.home import (
    DEMANDS,
    FORGETTING,
    MOVED,
    NOTES,
    PIN,
    PROOF,
    PUBLISHED,
    RESTORED,
    Home,
    require_only_one,
)
from midpoint.user.core.ledger import LEDGER, SECRET, Ledger
from midpoint.user.device_files import StorageError, keep_file
from midpoint.wire.message import Message, Name

FIRST_LINE = b"midpoint device v1\n"
SALT, NONCE = 16, 12
COST, BLOCK = 2**17, 8
"""scrypt: 128 MiB of memory and about half a second for each guess at a passphrase."""
SHORTEST = 12
"""Characters of a passphrase, at least."""
FILES = (SECRET, LEDGER, PIN, NOTES, PROOF, DEMANDS, PUBLISHED)
"""What goes into the file."""
SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,119}")


class Transfer(Message):
    """All that a device keeps about one service."""

    domain: ClassVar[str] = "transfer"

    name: Name
    """Name of the directory, which stands for the service's address."""
    files: tuple[tuple[Name, str], ...]
    """Name and text of each file."""
    backup: bool
    """Whether the device that wrote it stays in use."""

    def __repr__(self) -> str:
        """Show nothing: it holds the secret."""
        return "<Transfer: hidden>"


def export_home(directory: Path, passphrase: str, *, backup: bool = False) -> bytes:
    """Return the encrypted file; unless it is a backup, this device answers nothing from now on.

    The mark comes first: if a crash follows, nothing is lost, and exporting again gives the file.
    """
    key = _checked(passphrase)
    with _opened(directory):
        if (directory / FORGETTING).exists():
            raise MidpointError("you asked to be forgotten and it is not finished; forget again")
        if backup and (directory / MOVED).exists():
            raise MidpointError(f"{directory} was moved already; export it again without --backup")
        if (directory / RESTORED).exists():
            raise MidpointError(
                "this was imported from a file and the service was not asked yet whether it is"
                " the newest state; run `midpoint answer` once, then export"
            )
        files = tuple((name, _text(path)) for name in FILES if (path := directory / name).exists())
        whole = Transfer(name=directory.name, files=files, backup=backup)
        if not backup:
            keep_file(directory / MOVED, b"")
        return _sealed(whole.raw, key)


def import_home(raw: bytes, passphrase: str, root: Path) -> Path:
    """Put what `export_home` returned into a person's directory; return where it is now.

    What is there already is replaced only if it was moved away and the file continues it. Anything
    else is refused, and nothing changes.
    """
    transfer = _unsealed(raw, _checked(passphrase))
    if not SAFE.fullmatch(transfer.name) or not {name for name, _ in transfer.files} <= {*FILES}:
        raise MidpointError("the file holds names that no device writes; nothing was imported")
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    directory = root / transfer.name
    with _standing_aside(directory, transfer), replace_directory(directory) as fresh:
        fresh.chmod(0o700)
        for name, text in transfer.files:
            keep_file(fresh / name, text.encode())
        home = Home(Ledger.open(fresh), fresh)  # it checks seal, pin, notes, proof and demands
        try:
            if home.pin is not None:
                require_only_one(root, {home.pin.key, *home.proof.signing_keys}, directory)
        finally:
            home.close()
        keep_file(fresh / RESTORED, b"")  # it may have been imported elsewhere, and have answered
    return directory


@contextmanager
def _standing_aside(directory: Path, transfer: Transfer) -> Iterator[None]:
    """Hold what is there already, and refuse unless it was moved away and the file continues it."""
    if not directory.exists():
        yield
        return
    if not (directory / MOVED).exists():
        raise MidpointError(
            f"{directory} is in use and would be lost; if it is somebody else's, choose another"
            " --home, or forget it first"
        )
    files = dict(transfer.files)
    with _opened(directory) as ledger:
        known = _text(directory / LEDGER).partition("\n")[2]
        if files.get(SECRET) != _text(directory / SECRET):
            raise MidpointError(f"{directory} belongs to another secret; nothing was imported")
        if transfer.backup or not files.get(LEDGER, "").partition("\n")[2].startswith(known):
            raise MidpointError(
                f"the file is older than {directory}, in which {len(ledger.rounds)} rounds are"
                " answered; export again on the device that you used last"
            )
        yield


@contextmanager
def _opened(directory: Path) -> Iterator[Ledger]:
    """Hold a directory, moved or not, so that no other program decides meanwhile."""
    if not (directory / LEDGER).exists():
        raise MidpointError(f"{directory} holds no ledger; check the address and --home")
    with Ledger.open(directory) as ledger:
        yield ledger


def _checked(passphrase: str) -> bytes:
    """Return a passphrase as bytes, in one spelling of its letters."""
    if len(passphrase) < SHORTEST:
        raise MidpointError(f"a passphrase has at least {SHORTEST} characters; five words are good")
    return unicodedata.normalize("NFC", passphrase).encode()


def _cipher(passphrase: bytes, salt: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(Scrypt(salt, 32, COST, BLOCK, 1).derive(passphrase))


def _sealed(raw: bytes, passphrase: bytes) -> bytes:
    salt, nonce = os.urandom(SALT), os.urandom(NONCE)
    return FIRST_LINE + salt + nonce + _cipher(passphrase, salt).encrypt(nonce, raw, FIRST_LINE)


def _unsealed(raw: bytes, passphrase: bytes) -> Transfer:
    if not raw.startswith(FIRST_LINE):
        raise MidpointError("this is no file of `midpoint device export`; nothing was imported")
    rest = raw[len(FIRST_LINE) :]
    salt, nonce, body = rest[:SALT], rest[SALT : SALT + NONCE], rest[SALT + NONCE :]
    try:
        plain = _cipher(passphrase, salt).decrypt(nonce, body, FIRST_LINE)
    except (InvalidTag, ValueError):
        raise MidpointError(
            "the passphrase is wrong, or the file was damaged; nothing was imported"
        ) from None
    return Transfer.parse(plain)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"{path} cannot be read ({type(error).__name__}); restore it") from None
