"""What the device keeps about one service: secret and ledger, pin, and the person's own notes.

On disk it is one directory (0700, files 0600) for each address, in the user's data directory; or
all of it is in memory and ends with the program. Nothing here leaves the
device but through `Report`.
"""

import secrets
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import ClassVar, Self

from platformdirs import user_data_path

from midpoint.errors import MidpointError
from midpoint.user.agent.address import directory_name
from midpoint.user.agent.demands import Demands
from midpoint.user.checks.pin import Pin
from midpoint.user.checks.proof import Proof
from midpoint.user.core.ledger import LEDGER, Ledger
from midpoint.user.core.private import DeviceSecret, PrivateCategory, framed
from midpoint.user.device_files import BrokenSealError, StorageError, keep_file, read_kept
from midpoint.wire import Published
from midpoint.wire.message import Count, Integer, Message, Name

PIN, NOTES, FORGETTING, PUBLISHED, PROOF = "pin", "notes", "forgetting", "published", "proof"
DEMANDS = "demands"
"""Names of the files beside those of the ledger."""
MOVED, RESTORED = "moved", "restored"
"""Marks: it answers on another device now; it is from a backup, and may not be the newest."""
GONE = ".forgotten-"
TOKEN, MEMBER = b"midpoint/v1/token", b"midpoint/v1/panel"


class Notes(Message):
    """What a person entered on her own device."""

    domain: ClassVar[str] = "notes"

    ratings: tuple[tuple[Name, Integer], ...] = ()
    """Item and rating in fixed point, in the order in which she gave them."""
    category: tuple[tuple[Name, Name], ...] | None = None
    """Feature and category, only if she asked the device to remember them."""
    settled: tuple[Count, ...] = ()
    """Rounds whose report the service acknowledged, or refused for good."""

    def __repr__(self) -> str:
        """Show nothing: even a digest tells one category from another."""
        return "<Notes: hidden>"


class Home:
    """What this device keeps about one service."""

    def __init__(self, ledger: Ledger, directory: Path | None = None) -> None:
        self._ledger: Ledger | None = ledger
        self.directory = directory
        """Where it is; None in memory."""
        self.beside = None if directory is None else directory.parent
        """Where nothing else may be held to the same analyst; None for a simulation."""
        self.pin = None if directory is None else Pin.load(directory / PIN)
        """What the analyst is held to; None before first use."""
        self.proof = Proof() if directory is None else Proof.load(directory / PROOF)
        """The signed entries that were shown here, refused ones too."""
        self.notes = Notes() if directory is None else _read_notes(directory / NOTES)
        """What she entered on the device."""
        self.demands = Demands() if directory is None else Demands.load(directory / DEMANDS)
        """What she demands of the service, until she changes it."""
        self._require_whole(ledger)
        self._former: Pin | None = None
        self._forgetting = directory is not None and (directory / FORGETTING).exists()

    @classmethod
    def in_memory(cls, secret: DeviceSecret | None = None) -> Self:
        """Keep all of it in memory only."""
        return cls(Ledger(secret or DeviceSecret.generate()))

    @classmethod
    def at(cls, address: str, root: Path | None = None) -> Self:
        """Open the directory for an address, or make it."""
        return cls.inside(
            root or user_data_path("midpoint", appauthor=False), directory_name(address)
        )

    @classmethod
    def inside(cls, root: Path, name: str) -> Self:
        """Open the directory of this name in a person's directory, or make both."""
        root.mkdir(parents=True, exist_ok=True, mode=0o700)  # names of services are hers as well
        directory = root / name
        for rest in root.glob(f"{GONE}*"):  # a crash came between erasing and its end
            shutil.rmtree(rest, ignore_errors=True)
        known = (directory / LEDGER).exists()
        # A pin is kept before anything is sent: a secret alone was never used, and starts over.
        ledger = Ledger.open(directory) if known else Ledger.create(directory, after_crash=True)
        try:
            directory.chmod(0o700)
            for path in directory.iterdir():
                path.chmod(0o600)  # a copy put back may have come with other modes
            _require_here(directory)
            return cls(ledger, directory)
        except BaseException:
            ledger.close()
            raise

    @property
    def ledger(self) -> Ledger:
        """Decisions and the secret behind them."""
        if self._ledger is None:
            raise MidpointError("this person was forgotten; start again, as somebody new")
        return self._ledger

    @property
    def token(self) -> str:
        """The pseudonym: HMAC(secret, tag), so it goes with these coins and this ledger only."""
        return self.ledger.secret.prf(framed(TOKEN)).hex()

    @property
    def member_token(self) -> str:
        """The pseudonym in the panel; without the secret nothing ties it to the other one."""
        return self.ledger.secret.prf(framed(MEMBER)).hex()

    @property
    def ratings(self) -> dict[str, int]:
        """Her ratings in fixed point."""
        return dict(self.notes.ratings)

    @property
    def category(self) -> PrivateCategory | None:
        """What she asked to be remembered of her category."""
        kept = self.notes.category
        return None if kept is None else PrivateCategory(dict(kept))

    @property
    def published(self) -> Published | None:
        """What was kept of what the analyst published; it is to be checked again."""
        if self.directory is None:
            return None
        return read_kept(Published.parse, self.directory / PUBLISHED, "protect again")

    @property
    def unsent(self) -> tuple[str, ...]:
        """The exact reports that are decided and not acknowledged, oldest first."""
        rounds = self.ledger.rounds
        return tuple(r.report for r in rounds if r.round not in self.notes.settled)

    def repin(self) -> None:
        """Take the analyst's next disclosure as on first use, because she agrees to a change.

        Secret and ledger stay, so nothing is decided again. The old pin stands on disk until a
        disclosure is accepted.
        """
        self._former, self.pin = self.pin or self._former, None

    def restore_pin(self) -> None:
        """Hold the analyst to what it was held to before `repin`: what it showed was refused."""
        self.pin, self._former = self.pin or self._former, None

    def keep_pin(self, pin: Pin, keys: Collection[str] = ()) -> None:
        """Hold the analyst to this from now on; drop what does not fit what it is about now.

        `keys` are all that ever signed for it: no other directory may be held to one of them.
        """
        former = self.pin or self._former
        if self.beside is not None and pin != self.pin:
            require_only_one(self.beside, {pin.key, *keys}, self.directory)
        if self.directory is not None and pin != self.pin:
            pin.save(self.directory / PIN)
        if former is not None and former.features != pin.features:
            self.keep_category(None)
        if former is not None and former.scale != pin.scale:
            self.keep_ratings({})
        self.pin, self._former = pin, None

    def keep_proof(self, proof: Proof) -> None:
        """Keep what the analyst and a witness signed."""
        if proof is self.proof:
            return
        if self.directory is not None:
            proof.save(self.directory / PROOF)
        self.proof = proof

    def demand(self, *, without: Collection[str] = (), **given: object) -> None:
        """Demand this from now on; what is None stays as it was (`Demands.changed`)."""
        demands = self.demands.changed(without=without, **given)
        if self.directory is not None and demands != self.demands:
            demands.save(self.directory / DEMANDS)
        self.demands = demands

    def keep_published(self, published: Published) -> None:
        """Keep what was accepted, to rank scores by it when nobody shows it again."""
        if self.directory is not None:
            keep_file(self.directory / PUBLISHED, published.raw)

    def keep_ratings(self, ratings: Mapping[str, int]) -> None:
        """Keep her ratings instead of those kept before."""
        self._note(ratings=tuple(ratings.items()))

    def keep_category(self, names: Mapping[str, str] | None) -> None:
        """Remember her category, because she said so; None takes it out again."""
        self._note(category=None if names is None else tuple(sorted(names.items())))

    def settle(self, number: int) -> None:
        """Note that a round needs no more sending."""
        self._note(settled=tuple(sorted({*self.notes.settled, number})))

    def start_forgetting(self) -> None:
        """Note that she asked to be forgotten; from now on nothing else is done.

        The service may have erased its half although its answer was lost. It would then number
        rounds from 0 again, and the ledger would hold answers to other questions.
        """
        self._forgetting = True
        if self.directory is not None:
            keep_file(self.directory / FORGETTING, b"")

    def require_remembered(self) -> None:
        """Refuse to go on as somebody who asked to be forgotten."""
        if self._forgetting:
            raise MidpointError("you asked to be forgotten and it is not finished; forget again")
        if self.is_restored:
            raise MidpointError(
                "this was imported from a file, and only the service can say whether anything was"
                " answered since; connect to it first (`midpoint answer`)"
            )

    @property
    def is_restored(self) -> bool:
        """Whether it is from a backup, and the service was not asked since."""
        return self.directory is not None and (self.directory / RESTORED).exists()

    def require_newest(self, answered: Iterable[int]) -> None:
        """Refuse to go on from a backup if the service holds answers that it does not know."""
        unknown = [number for number in answered if self.ledger.answered(number) is None]
        if unknown:
            raise MidpointError(
                f"round {unknown[0]} was answered after this file was made, and would be decided"
                " again; use the device that answered it, a newer backup, or --forget and start"
                " again"
            )
        if self.directory is not None:
            (self.directory / RESTORED).unlink(missing_ok=True)

    def erase(self) -> None:
        """Take all of it away, at once: the directory is renamed first."""
        self.close()
        if self.directory is not None:
            gone = self.directory.with_name(f"{GONE}{secrets.token_hex(6)}")
            self.directory.rename(gone)
            shutil.rmtree(gone)
        self.pin, self.notes, self._ledger, self._forgetting = None, Notes(), None, False
        self.proof, self.demands = Proof(), Demands()

    def close(self) -> None:
        """Let another program use it."""
        if self._ledger is not None:
            self._ledger.close()

    def _note(self, **changes: object) -> None:
        notes = self.notes.model_copy(update=changes)
        if self.directory is not None:
            keep_file(self.directory / NOTES, notes.raw)
        self.notes = notes

    def _require_whole(self, ledger: Ledger) -> None:
        """Refuse a ledger older than the notes: what it lost would be decided again."""
        lost = [number for number in self.notes.settled if ledger.answered(number) is None]
        if lost:
            raise BrokenSealError(
                f"round {lost[0]} was sent, and the ledger does not know it: an older copy was put"
                " back; restore the newest one, or forget and start again in a new directory"
            )


def _require_here(directory: Path) -> None:
    """Refuse to go on where another device has gone on."""
    if (directory / MOVED).exists():
        raise MidpointError(
            f"{directory} was moved to another device (`midpoint device export`); answer there, or"
            " export there and import here: two devices must not decide apart"
        )


def require_only_one(root: Path, keys: Collection[str], but: Path | None = None) -> None:
    """Refuse a second secret for one analyst: it would see two tosses for one rating.

    Both sides are compared by all keys that ever signed: one of them may not know the newest. `but`
    is the directory that is to be held to these keys; None if nothing is to be kept.
    """
    for path in root.glob(f"*/{PIN}"):
        hidden = path.parent.name.startswith(".")  # not whole yet, or not there any more
        if path.parent == but or hidden or _known_keys(path).isdisjoint(keys):
            continue
        if but is None:
            raise MidpointError(
                f"{path.parent} belongs to this service: answer with it, or what it decided would"
                " be decided again; if it is somebody else's, name another --home"
            )
        raise MidpointError(
            f"{path.parent} belongs to the same service, under another address or by files;"
            f" use that, or, if the service moved, move that directory to {but}"
        )


def _known_keys(path: Path) -> frozenset[str]:
    """Return the key of a pin, and all in the proof beside it."""
    keys: frozenset[str] = frozenset()
    try:  # another service's trouble is reported when that one is used
        if (pin := Pin.load(path)) is not None:
            keys |= {pin.key}
        keys |= Proof.load(path.with_name(PROOF)).signing_keys
    except MidpointError:
        pass
    return keys


def _read_notes(path: Path) -> Notes:
    try:
        return Notes.parse(path.read_bytes())
    except FileNotFoundError:
        return Notes()
    except OSError as error:
        raise StorageError(f"{path} cannot be read ({error}); see who may read it") from error
    except MidpointError as error:
        raise MidpointError(f"{path} is damaged ({type(error).__name__}); restore it") from None
