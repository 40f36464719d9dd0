"""What a device refuses of the analyst's list: its signatures, its links, what a witness saw."""

from collections.abc import Sequence
from itertools import pairwise

from midpoint.user.checks.pin import REMEDY, Pin
from midpoint.wire import Entry, Refusal, RefusedError, Signed, WitnessStatement


def signed_entries(chain: Sequence[Signed], pin: Pin | None) -> list[Entry]:
    """Open the entries, refusing any that the pinned (or else the first) key did not sign.

    A key that an entry names as its successor signs from then on, and the one before does not.
    """
    entries = [signed.open(Entry) for signed in chain]
    if not entries:
        raise RefusedError(Refusal.CHAIN_GAP, "no entry of the analyst's list was shown")
    key = _first_key(entries, pin)
    for signed, entry in zip(chain, entries, strict=True):
        other = pin is not None and entry.sequence == pin.sequence and entry.key != pin.key
        if entry.key != key or other:
            raise RefusedError(
                Refusal.KEY_CHANGED,
                f"entry {entry.sequence} is signed by another key than the one pinned, which did"
                " not vouch for it; ask the service, by another way, whether it changed its key (an"
                " analyst of your own keeps it by Analyst.save or publish, then Analyst.load);"
                f" {REMEDY}",
            )
        if not signed.is_signed_by(key, Entry):
            raise RefusedError(Refusal.BAD_SIGNATURE, f"entry {entry.sequence} is not signed")
        key = entry.next_key
    return entries


def _first_key(entries: Sequence[Entry], pin: Pin | None) -> str:
    """Return the key that has to sign the first entry shown.

    Before the pinned entry there may be older keys: that entry names its past by digest, and is
    compared with the pin. A list in which the pinned key is nowhere is somebody else's.
    """
    if pin is None:
        return entries[0].key
    if entries[0].sequence > pin.sequence:
        return pin.successor or pin.key
    return entries[0].key if any(entry.key == pin.key for entry in entries) else pin.key


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


def read_statement(signed: Signed, key: str | None) -> WitnessStatement:
    """Read a witness's statement; refuse another key than the known one, or a wrong signature."""
    statement = signed.open(WitnessStatement)
    if key is not None and statement.key != key:
        raise RefusedError(
            Refusal.WITNESS_CHANGED,
            f"the witness signs with another key, {statement.key}; ask the people who run it, by"
            " another way, and if the key is theirs, name it (--witness-key)",
        )
    if not signed.is_signed_by(statement.key, WitnessStatement):
        raise RefusedError(Refusal.BAD_SIGNATURE, "the witness's statement is not signed")
    return statement


def require_witness(known: str | None) -> None:
    """Refuse to go on without a witness if this device knows the key of one."""
    if known is not None:
        raise RefusedError(
            Refusal.NOT_WITNESSED,
            f"this device knows a witness of this service, with key {known}, and what it signed is"
            " missing now; name it (--witness), or say that you go on without it"
            " (--without-witness)",
        )


def witnessed_entry(
    entries: Sequence[Entry], pin: Pin | None, witness: WitnessStatement | None, shown_for: int
) -> Entry:
    """Return the entry to answer under: without a witness the newest one.

    With a witness it is the newest entry that the witness has shown as current for `shown_for`
    seconds. An entry appended for one person was never shown to the witness; one that was public
    for a moment was not shown for long. A list is refused if it differs from the one that the
    witness saw, or has no entry that was shown for long enough.
    """
    if witness is None:
        return entries[-1]
    first, last, seen = entries[0].sequence, entries[-1].sequence, len(witness.entries) - 1
    if seen < first - 1:
        raise RefusedError(Refusal.CHAIN_GAP, f"the list does not reach back to {seen}")
    for sequence in range(max(first - 1, 0), seen + 1):
        if sequence > last or _digest_at(entries, sequence) != witness.entries[sequence]:
            raise RefusedError(
                Refusal.WITNESS_DISAGREES, f"an independent witness saw another entry {sequence}"
            )
    chosen = witness.newest_shown_for(shown_for)
    if chosen is None or chosen < max(first, 0 if pin is None else pin.sequence):
        raise RefusedError(
            Refusal.NOT_WITNESSED,
            f"the witness has shown no entry for {shown_for / 3600:g} hours that this device can"
            " answer under; nothing is lost, come back later",
        )
    return entries[chosen - first]


def _digest_at(entries: Sequence[Entry], sequence: int) -> str | None:
    """Return the digest of an entry in the list, or of the one just before it."""
    index = sequence - entries[0].sequence
    return entries[0].previous if index < 0 else entries[index].digest
