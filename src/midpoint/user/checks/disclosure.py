"""What a device refuses. These checks prove consistency, not truth.

An analyst that lies about its class statistics passes all of them. Only someone with the data can
tell: an auditor, whose signed certificate `verify_certificate` reads.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from midpoint.user.checks.pin import Pin
from midpoint.wire import (
    Catalogue,
    Certificate,
    Disclosure,
    Entry,
    Refusal,
    RefusedError,
    Signed,
    Witness,
)
from midpoint.wire.numbers import check_numbers

REMEDY = (
    "if you know why and agree, accept the change (midpoint answer --accept-changes, or in Python"
    " accept_changes=True)"
)


@dataclass(frozen=True)
class Accepted:
    """A disclosure that passed."""

    disclosure: Disclosure
    """The disclosure, with its exact bytes."""
    entry: Entry
    """The entry of the analyst's list that names it."""
    pin: Pin
    """What to hold the analyst to from now on; save it."""


def check_disclosure(
    raw: bytes,
    chain: Sequence[Signed],
    pin: Pin | None,
    witness: Witness | None = None,
    *,
    ratings_in_levels: bool = True,
    allow_unsafe: bool = False,
) -> Accepted:
    """Accept a disclosure or refuse it with a code; nothing is sent or changed either way.

    `chain` holds the analyst's entries in order, from the pinned one or the one after it (from
    the very first on first use) to the newest, which must name this disclosure. It must be about
    the pinned features, categories and scale: if those could change, whether a device can answer
    would depend on the user's own category or ratings, and tell. Nor may the scheme change, to one
    that protects less. With `ratings_in_levels` she
    enters ratings in steps, such as stars, and a continuous scale is refused: whole stars less an
    offset show the offset. Only an app that takes truly continuous ratings passes False; one with
    steps offers all levels of the scale and no other. A scheme that leaves the category readable
    is refused unless `allow_unsafe`: for experiments only.
    """
    disclosure = Disclosure.parse(raw)
    entries = _read(chain, pin)
    _require_links(entries)
    _require_continuation(entries, pin)
    _require_witnessed(entries, witness)
    head = entries[-1]
    if head.disclosure != disclosure.digest:
        older = any(entry.disclosure == disclosure.digest for entry in entries)
        code = Refusal.ROLLED_BACK if older else Refusal.WRONG_DIGEST
        raise RefusedError(code, "the newest entry of the list names another disclosure")
    _require_same(disclosure, pin)
    _require_safe(disclosure, ratings_in_levels=ratings_in_levels, allow_unsafe=allow_unsafe)
    _require_scheme(disclosure, pin)
    check_numbers(disclosure)
    pinned = Pin(
        key=head.key,
        sequence=head.sequence,
        head=head.digest,
        features=disclosure.features,
        scale=disclosure.scale,
        scheme=disclosure.scheme,
    )
    return Accepted(disclosure, head, pinned)


def check_titles(raw: bytes, entry: Entry) -> Catalogue:
    """Accept the titles that an accepted entry of the list names, or refuse them with a code.

    A title decides what she answers about. Were titles not part of the list, one person could be
    shown others, and would answer about one thing with the numbers of another.
    """
    if entry.catalogue is None:
        raise RefusedError(
            Refusal.TITLES_UNSIGNED,
            "the service's list names no titles, so anyone could be shown others; it has to"
            " publish anew",
        )
    catalogue = Catalogue.parse(raw)
    if catalogue.digest != entry.catalogue:
        raise RefusedError(
            Refusal.WRONG_TITLES, "the titles are not those that the signed list names"
        )
    return catalogue


def verify_certificate(
    signed: Signed | None, disclosure: str, trusted: Collection[str], *, required: bool = False
) -> Certificate | None:
    """Return what a trusted auditor certified of the disclosure with this digest.

    None means that nobody she trusts certified it, and is to be shown as such; with `required` it
    is a refusal. A certificate that is forged or about another disclosure is always refused.
    """
    if signed is not None:
        certificate = signed.open(Certificate)
        if not signed.is_signed_by(certificate.key, Certificate):
            raise RefusedError(Refusal.BAD_CERTIFICATE, "the certificate's signature is wrong")
        if certificate.disclosure != disclosure:
            raise RefusedError(Refusal.BAD_CERTIFICATE, "it certifies another disclosure")
        if certificate.key in trusted:
            return certificate
    if required:
        raise RefusedError(Refusal.NOT_CERTIFIED, "no auditor you trust certified this disclosure")
    return None


def _read(chain: Sequence[Signed], pin: Pin | None) -> list[Entry]:
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
                f" service, by another way, whether it changed its key; {REMEDY}",
            )
        if not signed.is_signed_by(key, Entry):
            raise RefusedError(Refusal.BAD_SIGNATURE, f"entry {entry.sequence} is not signed")
    return entries


def _require_same(disclosure: Disclosure, pin: Pin | None) -> None:
    """Refuse a change for everyone, before anyone's category or rating is looked at."""
    if pin is not None and disclosure.features != pin.features:
        raise RefusedError(
            Refusal.FEATURES_CHANGED,
            f"the private features or their categories are not those pinned; {REMEDY}",
        )
    if pin is not None and disclosure.scale != pin.scale:
        raise RefusedError(
            Refusal.SCALE_CHANGED, f"the rating scale is not the one pinned; {REMEDY}"
        )


def _require_scheme(disclosure: Disclosure, pin: Pin | None) -> None:
    """Refuse another scheme, for everyone; after the unsafe ones, which nobody should accept."""
    if pin is not None and disclosure.scheme != pin.scheme:
        raise RefusedError(
            Refusal.SCHEME_CHANGED,
            f"scheme {disclosure.scheme!r} takes the place of {pin.scheme!r}; {REMEDY}",
        )


def _require_safe(disclosure: Disclosure, *, ratings_in_levels: bool, allow_unsafe: bool) -> None:
    discrete = disclosure.scale.levels is not None
    if ratings_in_levels and not discrete:
        raise RefusedError(
            Refusal.SCALE_CONTINUOUS, "ratings are given in levels, and the scale has none"
        )
    if not (allow_unsafe or disclosure.obfuscation.protects(discrete=discrete)):
        raise RefusedError(
            Refusal.SCHEME_UNSAFE, f"scheme {disclosure.scheme!r} leaves the category readable"
        )


def _require_links(entries: Sequence[Entry]) -> None:
    for before, after in pairwise(entries):
        if after.sequence != before.sequence + 1:
            raise RefusedError(Refusal.CHAIN_GAP, f"no entry follows entry {before.sequence}")
        if after.previous != before.digest:
            raise RefusedError(Refusal.CHAIN_FORKED, f"entry {after.sequence} follows another past")


def _require_continuation(entries: Sequence[Entry], pin: Pin | None) -> None:
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


def _require_witnessed(entries: Sequence[Entry], witness: Witness | None) -> None:
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
    place = sequence - entries[0].sequence
    return entries[0].previous if place < 0 else entries[place].digest
