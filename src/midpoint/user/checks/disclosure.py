"""What a device refuses. These checks prove consistency, not truth.

An analyst that lies about its class statistics passes all of them. Only someone with the data can
tell: an auditor, whose signed certificate `verify_certificate` reads.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from midpoint.user.checks.pin import Pin
from midpoint.user.parameters import Parameters, PositionModel
from midpoint.wire import (
    GRAIN,
    ONE,
    Catalogue,
    Certificate,
    Disclosure,
    Entry,
    Refusal,
    RefusedError,
    Signed,
    Witness,
)
from midpoint.wire.limits import LEAST_REVEAL, most_spread, spread, spread_of_means
from midpoint.wire.positions import FARTHEST_POSITION, MOST_LOGIT

LEAST_PRECISION, MOST_PRECISION = 2**-6, 2**14
"""Least precision of places in any direction, and the greatest entry."""
MOST_ACTIVITY = 2**40
"""The least activity of a stratum is at most this, in 1/256."""
QUIETEST = 64
"""The noise of a rating is at least the scale's range by this: else no step could be solved."""
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


def check_numbers(disclosure: Disclosure) -> None:
    """Refuse numbers that no honest analyst sends, whatever its data.

    Offsets lie within the scale's range R, as do their differences (so there are values that all
    categories can report), and are centred: they sum to 0 over the categories, up to rounding (K
    units, or K R / 2^bits when quantized). A level distribution has no negative mass and sums to
    2^16. A reveal probability is in 1 .. 2^16, and the category that rates an item least, which
    always reveals, has 2^16. Averages lie on the scale. Beyond what `wire.limits` allows, one
    answer would tell too much: a reveal probability below 1/64, or means of categories, by offsets
    or by levels, that are further apart than 3/4 of the scale. Of counterparts see
    `_require_places`; what becomes of a rating because of them has the same two limits.
    """
    p, items = Parameters.of(disclosure), disclosure.items
    span = p.high - p.low
    if p.offset is not None:
        wide = (np.abs(p.offset).max(axis=1) > span) | (spread(p.offset) > span)
        _require(~wide, Refusal.OFFSET_TOO_LARGE, "an offset beyond what the scale allows", items)
        slack = p.n_cells * (1 if disclosure.bits is None else max(1, span >> disclosure.bits))
        centred = np.abs(p.offset.sum(axis=1)) <= slack
        _require(centred, Refusal.OFFSET_NOT_CENTRED, "offsets that do not sum to zero", items)
    if p.levels is not None:
        inside = (p.levels >= 0) & (p.levels <= ONE)
        fine = inside.all(axis=(1, 2)) & (p.levels.sum(axis=2) == ONE).all(axis=1)
        _require(fine, Refusal.BAD_DISTRIBUTION, "levels that are no distribution", items)
    if p.reveal is not None:
        fine = ((p.reveal >= 1) & (p.reveal <= ONE)).all(axis=1)
        _require(fine, Refusal.REVEAL_OUT_OF_RANGE, "a reveal probability out of range", items)
        fine = p.reveal.max(axis=1) == ONE
        _require(fine, Refusal.REVEAL_INCONSISTENT, "no category that always reveals", items)
    if p.positions is not None:
        _require_positions(p.positions, p, items)
    if p.average is not None:
        fine = ((p.average >= p.low) & (p.average <= p.high)).all(axis=1)
        _require(fine, Refusal.AVERAGE_OUT_OF_RANGE, "an average off the scale", items)
    _require_untelling(p, items)


def _require_untelling(p: Parameters, items: Sequence[str]) -> None:
    """Refuse categories that are said to be further apart than anybody's data says."""
    most = most_spread(p.high - p.low)
    if p.offset is not None:
        fine = spread(p.offset) <= most
        _require(fine, Refusal.TOO_TELLING, "categories too far apart", items)
    if p.levels is not None and p.points is not None:
        fine = spread_of_means(p.levels, p.points) <= most * ONE
        _require(fine, Refusal.TOO_TELLING, "categories too far apart", items)
    if p.reveal is not None:
        fine = p.reveal.min(axis=1) >= LEAST_REVEAL
        _require(fine, Refusal.TOO_TELLING, "a category that hardly ever reveals it", items)


def _require_positions(places: PositionModel, p: Parameters, items: Sequence[str]) -> None:
    """Refuse a prior of positions that is none, or whose numbers are beyond all measure.

    Strata ascend from an activity of 0 to at most 2^32. A precision is symmetric and positive
    definite, a category's map to itself changes nothing, the noise deviates by at least 1/64 of the
    range. Bases lie on the scale or at most its range beyond; log odds, and what a selection factor
    adds to them, up to 32, a taste up to twice the range; means and maps up to 64. So all sums of a
    device stay exact, and none of its steps fails.
    """
    span = (p.high - p.low) * GRAIN // ONE
    sizes = (
        (places.rate, MOST_LOGIT * GRAIN),
        (
            places.selection,
            max(MOST_LOGIT * GRAIN, 2 * span),
        ),  # taste factors that choose among them
        (places.taste, 2 * span),
        (2 * places.base - (p.low + p.high) * GRAIN // ONE, 3 * span),
    )
    for numbers, most in sizes:
        fine = np.abs(numbers).max(axis=1, initial=0) <= most
        _require(fine, Refusal.BAD_POSITIONS, "numbers of places out of range", items)
    itself = np.diagonal(places.map, axis1=1, axis2=2).transpose(0, 3, 1, 2)
    sound = (
        places.noise * QUIETEST**2 >= ((p.high - p.low) / ONE) ** 2
        and np.abs(places.precision).max() <= MOST_PRECISION
        and np.abs(places.mean).max() <= FARTHEST_POSITION
        and np.abs(places.map).max() <= FARTHEST_POSITION
        and (itself == np.eye(places.mean.shape[2])).all()
        and (places.precision == places.precision.swapaxes(2, 3)).all()
        and all(_is_definite(precision) for prior in places.precision for precision in prior)
        and (places.least[0] == 0).all()
        and (np.diff(places.least, axis=0) >= 0).all()
        and places.least.max() <= MOST_ACTIVITY
    )
    if not sound:
        raise RefusedError(Refusal.BAD_POSITIONS, "the prior of positions is no law")


def _is_definite(precision: NDArray[np.float64]) -> bool:
    """Tell whether a precision is at least the least in all directions."""
    try:
        np.linalg.cholesky(precision - LEAST_PRECISION * np.eye(len(precision)))
    except np.linalg.LinAlgError:
        return False
    return True


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


def _require(
    fine: NDArray[np.bool_] | np.bool_, code: Refusal, what: str, items: Sequence[str]
) -> None:
    if not fine.all():
        raise RefusedError(code, f"item {items[int(np.argmin(fine))]!r} has {what}")
