"""The ledger: every decision on an item, revealed or withheld, is final.

A directory holds the device's secret and its one ledger, made together and never apart: the same
coins with another ledger would toss decided items again. The ledger's file is a seal (HMAC of the
whole under the secret) and one line per answered round. It is replaced as a whole, so a crash
leaves the old one or the new one, and anything else found in it is tampering. An earlier copy put
back looks like the original: keep one directory. It holds true decisions, so it is for its owner's
eyes only.
"""

import hmac
import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, ClassVar, Self

from midpoint.errors import MidpointError
from midpoint.user.core.private import DeviceSecret, framed
from midpoint.user.device_files import BrokenSealError, StorageError, keep_file
from midpoint.wire import Report
from midpoint.wire.message import Count, Digest, Integer, Message, Name

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

TAG = b"midpoint/v1/ledger"
SECRET, LEDGER, LOCK = "secret", "ledger", "lock"
"""Names of the files in the directory."""


class Round(Message):
    """One answered round, as the ledger keeps it."""

    domain: ClassVar[str] = "round"

    round: Count
    """Its number."""
    solicitation: Digest
    """Digest of what was asked."""
    report: str
    """The exact text of the answer."""
    numbers: tuple[Digest, ...]
    """Per answer, the digest of what was disclosed about its item when it was first given."""
    withheld: tuple[Name, ...]
    """Items withheld for good in this round."""
    open: bool | None = None
    """With counterparts, like all fields below: whether it asked about all items."""
    asked: tuple[Name, ...] | None = None
    """What it asked."""
    given: tuple[tuple[Name, Integer], ...] | None = None
    """What she rated that was decided in it, in fixed point."""
    move: tuple[Integer, ...] | None = None
    """How her taste factors moved, in 1/256; of sets her position."""

    def __repr__(self) -> str:
        """Show nothing: what was withheld does not print, nor a digest to guess it by."""
        return f"<Round {self.round}: hidden>"


@dataclass(frozen=True)
class Decision:
    """What was decided about one item."""

    value: int | None
    """The revealed value in fixed point; None if it is withheld."""
    numbers: str
    """Digest of what was disclosed about a revealed item then; empty if it is withheld."""


class Ledger:
    """Decisions of one device: on disk by `create` and `open`; else in memory, for simulation."""

    def __init__(self, secret: DeviceSecret) -> None:
        self._secret = secret
        self._path: Path | None = None
        self._lock: IO[bytes] | None = None
        self._rounds: dict[int, Round] = {}
        self._decisions: dict[str, Decision] = {}

    @classmethod
    def create(cls, directory: Path, *, after_crash: bool = False) -> Self:
        """Start an empty ledger in a directory, once, with a new secret of its own.

        `after_crash` replaces a secret beside which there is nothing at all, for a directory in
        which something else is always kept before anything is sent.
        """
        path = _real(directory)
        with ExitStack() as failing:
            lock = failing.enter_context(_locked(path))
            if path.exists():
                raise MidpointError(f"{path} exists; open it, decisions are never started over")
            ledger = cls(DeviceSecret.generate())
            ledger._path, ledger._lock = path, lock
            if after_crash:
                _drop_unused_secret(path)
            ledger.secret.save(path.with_name(SECRET))  # it refuses to replace an older one
            ledger._write([])
            failing.pop_all()
        return ledger

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Read a ledger from its directory, refusing one that is missing or was changed."""
        path = _real(directory)
        with ExitStack() as failing:
            lock = failing.enter_context(_locked(path))
            ledger = cls(DeviceSecret.load(path.with_name(SECRET)))
            ledger._path, ledger._lock = path, lock
            for line in _sealed_lines(path, ledger.secret):
                ledger._keep(Round.parse(line))
            failing.pop_all()
        return ledger

    @property
    def secret(self) -> DeviceSecret:
        """What this device's coins and report names are made from."""
        return self._secret

    def close(self) -> None:
        """Let another program open it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def decision(self, item: str) -> Decision | None:
        """Return what was decided about an item; None if it is still open."""
        return self._decisions.get(item)

    def answered(self, number: int) -> Round | None:
        """Return a round that was answered; None if it is still open."""
        return self._rounds.get(number)

    @property
    def decided(self) -> frozenset[str]:
        """All items with a decision, withheld ones included; for this device only."""
        return frozenset(self._decisions)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """All answered rounds, in the order in which they were answered."""
        return tuple(self._rounds.values())

    def move_under(self, disclosure: str) -> tuple[int, ...]:
        """Return how her taste factors moved in the last round under a disclosure; empty if not."""
        for answered in reversed(self._rounds.values()):
            if answered.move and Report.parse(answered.report.encode()).disclosure == disclosure:
                return answered.move
        return ()

    def copy_in_memory(self) -> "Ledger":
        """Return a copy in memory, to show what a round would decide before it is final.

        Nothing is gained by looking twice: the coins are the secret's, and stay.
        """
        copy = Ledger(self._secret)
        copy._rounds, copy._decisions = dict(self._rounds), dict(self._decisions)
        return copy

    def record(self, answered: Round) -> None:
        """Make a round's decisions final: on return they are on disk."""
        if answered.round in self._rounds:
            raise MidpointError(f"round {answered.round} is answered; a decision is final")
        self._write([*self._rounds.values(), answered])
        self._keep(answered)

    def _write(self, rounds: Iterable[Round]) -> None:
        if self._path is None:
            return
        if self._lock is None:
            raise MidpointError(f"{self._path} was closed; open it again")
        body = b"".join(entry.raw + b"\n" for entry in rounds)
        seal = self._secret.prf(framed(TAG, body)).hex().encode()
        keep_file(self._path, seal + b"\n" + body)

    def _keep(self, answered: Round) -> None:
        self._rounds[answered.round] = answered
        answers = Report.parse(answered.report.encode()).answers
        for (item, value), numbers in zip(answers, answered.numbers, strict=True):
            self._decisions.setdefault(item, Decision(value, numbers))
        for item in answered.withheld:
            self._decisions.setdefault(item, Decision(None, ""))


def _sealed_lines(path: Path, secret: DeviceSecret) -> list[bytes]:
    try:
        seal, _, body = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise StorageError(
            f"{path} cannot be read ({error}); restore it, or start again in a new directory"
        ) from error
    if not hmac.compare_digest(seal, secret.prf(framed(TAG, body)).hex().encode()):
        raise BrokenSealError(
            f"{path} was changed, or belongs to another secret; restore it from a copy,"
            " or start again in a new directory"
        )
    return body.splitlines()


def _drop_unused_secret(path: Path) -> None:
    """Take away a secret that was never used: a crash came between it and its first ledger."""
    begun = (f".{SECRET}.", f".{LEDGER}.")  # what is left of files that were never finished
    beside = {p.name for p in path.parent.iterdir() if not p.name.startswith(begun)}
    if beside <= {SECRET, LOCK}:
        path.with_name(SECRET).unlink(missing_ok=True)


def _real(directory: Path) -> Path:
    """Return the real path of the ledger's file, so that no link leads to a second lock."""
    return (directory / LEDGER).resolve()


def _locked(path: Path) -> IO[bytes]:
    """Hold a lock file, so that two programs cannot decide the same item differently."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    stream = open(path.with_name(LOCK), "ab", opener=partial(os.open, mode=0o600))  # noqa: SIM115
    try:
        if sys.platform == "win32":
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        stream.close()
        raise MidpointError(
            f"{path} is in use by another program, or by another object of this one; close that"
            " first"
        ) from error
    return stream
