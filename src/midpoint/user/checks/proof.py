"""What a device keeps of an analyst's signed list, also of what it refused: proof for others.

Two entries with one number and one key are a proof that the analyst showed people different lists.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Self

from midpoint.user.checks.pin import REMEDY
from midpoint.user.device_files import keep_file, read_kept
from midpoint.wire import Entry, Refusal, RefusedError, Signed, WitnessStatement
from midpoint.wire.listing import MOST_OTHERS, MOST_SHOWN, Inner
from midpoint.wire.message import Message, Name


class Proof(Message):
    """The signed entries that this device was shown, and what a witness signed about them."""

    domain: ClassVar[str] = "proof"

    shown: tuple[Inner, ...] = ()
    """The list as it was first shown, entry by entry; the first `MOST_SHOWN` of them."""
    others: tuple[Inner, ...] = ()
    """Entries that the same service signed and that are not in that list."""
    witness: Inner | None = None
    """The last statement of a witness; its key is held on to."""
    asked: Name | None = None
    """Address of the witness that was asked; None if its statement came as a file."""

    def require_unforked(self, chain: Sequence[Signed]) -> None:
        """Refuse a list of which another version was shown before, accepted or not."""
        known = {entry.sequence: entry.digest for entry in _opened(self.shown)}
        for entry in _opened(chain):
            if known.get(entry.sequence, entry.digest) != entry.digest:
                raise RefusedError(
                    Refusal.CHAIN_FORKED,
                    f"entry {entry.sequence} is not the one that this device was shown before; both"
                    f" are kept, signed, as proof (--export); {REMEDY}",
                )

    def adding(self, chain: Sequence[Signed], key: str) -> Self:
        """Return it with the genuine entries of a list, which may be another one.

        Genuine is what is signed by `key`, by a key of the list as it was shown, or by one that
        such a key vouched for.
        """
        keys = {key} | {k for entry in _opened(self.shown) for k in (entry.key, entry.next_key)}
        genuine = [signed for signed in chain if _is_genuine(signed, keys)]
        known = {signed.open(Entry).digest for signed in self.shown}
        fresh = [signed for signed in genuine if signed.open(Entry).digest not in known]
        if len(self.shown) == MOST_SHOWN:
            return self
        if _is_linked((*self.shown[-1:], *fresh)):
            return self._with(shown=(*self.shown, *fresh)[:MOST_SHOWN])
        return self._with(others=_merged(self.others, fresh))

    def beginning(self, chain: Sequence[Signed]) -> Self:
        """Return it for another list, because she agreed to the change; the old one stays kept."""
        now = {signed.digest for signed in chain}
        left = [signed for signed in self.shown if signed.digest not in now]
        return self._with(shown=tuple(chain)[:MOST_SHOWN], others=_merged(self.others, left))

    def seeing(self, statement: Signed, address: str | None = None) -> Self:
        """Return it with a witness's newest statement, and where it was asked."""
        return self._with(witness=statement, asked=address or self.asked)

    @property
    def signing_keys(self) -> frozenset[str]:
        """All keys that ever signed for the service, in the list as it was shown."""
        return frozenset(entry.key for entry in _opened(self.shown))

    @property
    def witness_key(self) -> str | None:
        """The key of the witness that was asked before; None if none was."""
        return None if self.witness is None else self.witness.open(WitnessStatement).key

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        keep_file(path, self.raw)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote; nothing when no list was shown yet."""
        remedy = "restore it, or move it away: then what the service showed before is not compared"
        return read_kept(cls.parse, path, remedy) or cls()

    def _with(self, **changes: object) -> Self:
        same = all(getattr(self, name) == value for name, value in changes.items())
        return self if same else self.model_copy(update=changes)


def _opened(chain: Iterable[Signed]) -> list[Entry]:
    return [signed.open(Entry) for signed in chain]


def _is_linked(chain: Sequence[Signed]) -> bool:
    """Tell whether each entry follows the one before."""
    return all(after.previous == before.digest for before, after in pairwise(_opened(chain)))


def _is_genuine(signed: Signed, keys: set[str]) -> bool:
    """Tell whether one of these keys signed an entry; the successor that it names is added."""
    try:
        entry = signed.open(Entry)
    except RefusedError:
        return False
    if entry.key not in keys or not signed.is_signed_by(entry.key, Entry):
        return False
    keys.add(entry.next_key)
    return True


def _merged(kept: Sequence[Signed], more: Iterable[Signed]) -> tuple[Signed, ...]:
    whole = {signed.digest: signed for signed in (*kept, *more)}
    return tuple(whole.values())[:MOST_OTHERS]
