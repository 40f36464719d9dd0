"""What a device refuses of the analyst's list: its signatures, its links, what others saw of it."""

from collections.abc import Sequence
from itertools import pairwise

from midpoint.user.checks.pin import REMEDY, Pin
from midpoint.wire import Entry, Refusal, RefusedError, Signed, Witness


def signed_entries(chain: Sequence[Signed], pin: Pin | None) -> list[Entry]:
    """Open the entries, refusing any that the pinned (or else the first) key did not sign."""
    entries = [signed.open(Entry) for signed in chain]
    if not entries:
        raise RefusedError(Refusal.CHAIN_GAP, "no entry of the analyst's list was shown")
    key = entries[0].key if pin is None else pin.key
    for signed, entry in zip(chain, entries, strict=True):
        if entry.key != key:
            raise RefusedError(
                Refusal.KEY_CHANGED,
                f"entry {entry.sequence} is signed by another key than the one pinned; ask the"
                " service, by another way, whether it changed its key (an analyst of your own keeps"
                f" it by Analyst.save or publish, then Analyst.load); {REMEDY}",
            )
        if not signed.is_signed_by(key, Entry):
            raise RefusedError(Refusal.BAD_SIGNATURE, f"entry {entry.sequence} is not signed")
    return entries


def require_links(entries: Sequence[Entry]) -> None:
    """Refuse a list with a gap or a fork."""
    for before, after in pairwise(entries):
        if after.sequence != before.sequence + 1:
            raise RefusedError(Refusal.CHAIN_GAP, f"no entry follows entry {before.sequence}")
        if after.previous != before.digest:
            raise RefusedError(Refusal.CHAIN_FORKED, f"entry {after.sequence} follows another past")


def require_continuation(entries: Sequence[Entry], pin: Pin | None) -> None:
    """Refuse a list that does not continue the pinned one."""
    first, last = entries[0], entries[-1]
    if pin is None:
        if first.sequence != 0:
            raise RefusedError(Refusal.CHAIN_GAP, "on first use the list is needed from entry 0")
    elif last.sequence < pin.sequence:
        raise RefusedError(
            Refusal.ROLLED_BACK, f"entry {pin.sequence} was accepted before; this list is older"
        )
    elif first.sequence > pin.sequence + 1:
        raise RefusedError(Refusal.CHAIN_GAP, f"the list does not reach back to {pin.sequence}")
    elif _digest_at(entries, pin.sequence) != pin.head:
        raise RefusedError(Refusal.CHAIN_FORKED, f"entry {pin.sequence} is not the accepted one")


def require_witnessed(entries: Sequence[Entry], witness: Witness | None) -> None:
    """Refuse a list other than the one that an independent witness saw."""
    if witness is None:
        return
    if witness.sequence < entries[0].sequence - 1:
        raise RefusedError(Refusal.CHAIN_GAP, f"the list does not reach back to {witness.sequence}")
    if (
        witness.sequence > entries[-1].sequence
        or _digest_at(entries, witness.sequence) != witness.head
    ):
        raise RefusedError(
            Refusal.WITNESS_DISAGREES,
            f"an independent witness saw another entry {witness.sequence}",
        )


def _digest_at(entries: Sequence[Entry], sequence: int) -> str | None:
    """Return the digest of an entry in the list, or of the one just before it."""
    index = sequence - entries[0].sequence
    return entries[0].previous if index < 0 else entries[index].digest
