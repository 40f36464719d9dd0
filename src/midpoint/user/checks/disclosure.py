"""Whether a device accepts a disclosure. These checks prove consistency, not truth.

An analyst that lies about its class statistics passes all of them. Only someone with the data can
see that: an auditor, whose signed certificate `checks.certificate` reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from midpoint.user.checks.links import (
    require_continuation,
    require_links,
    signed_entries,
    witnessed_entry,
)
from midpoint.user.checks.pin import REMEDY, Pin
from midpoint.wire import (
    ONE,
    Catalogue,
    Disclosure,
    Entry,
    Refusal,
    RefusedError,
    Signed,
    WitnessStatement,
)
from midpoint.wire.numbers import check_numbers
from midpoint.wire.record import SHOWN_FOR


@dataclass(frozen=True)
class Accepted:
    """A disclosure that passed all checks."""

    disclosure: Disclosure
    """The disclosure, with its exact bytes."""
    entry: Entry
    """The entry of the analyst's list that names it."""
    pin: Pin
    """What to hold the analyst to from now on; save it."""
    superseded: bool = False
    """Whether there is a newer disclosure that the witness has not shown for long enough."""
    succeeded: str | None = None
    """The pinned key, if a successor that it vouched for signs now."""


def check_disclosure(
    raw: bytes,
    chain: Sequence[Signed],
    pin: Pin | None,
    witness: WitnessStatement | None = None,
    *,
    shown_for: int = SHOWN_FOR,
    ratings_in_levels: bool = True,
    allow_unsafe: bool = False,
    show_rated: bool = True,
) -> Accepted:
    """Accept a disclosure or refuse it with a code; nothing is sent or changed either way.

    Features, categories and scale must be the pinned ones. If they could change, whether a device
    can answer would depend on its user's category or ratings, and leak. The scheme must be the
    pinned one too: another might protect less.

    Args:
        raw: The exact bytes of the disclosure.
        chain: The analyst's entries in order: from the pinned one or the one after it (on first
            use from entry 0) to the newest, which must name this disclosure.
        pin: What was accepted before; None on first use.
        witness: What a witness saw. The disclosure must then be the one of the newest entry that
            the witness has shown for long enough.
        shown_for: Seconds that are long enough.
        ratings_in_levels: Whether she enters ratings in steps, such as stars. A continuous scale is
            then refused, since whole stars less an offset show the offset. An app passes False only
            if its ratings are truly continuous; one with steps offers all levels of the scale.
        allow_unsafe: Whether to accept a scheme that leaves the category readable: for experiments.
        show_rated: Whether to accept, on first use, a scheme that does not hide which items were
            rated. Where people choose what they rate, that alone gives most of them away.
    """
    disclosure = Disclosure.parse(raw)
    entries = signed_entries(chain, pin)
    require_links(entries)
    require_continuation(entries, pin)
    head = witnessed_entry(entries, pin, witness, shown_for)
    _require_named(disclosure, head, entries)
    _require_same(disclosure, pin)
    _require_safe(disclosure, ratings_in_levels=ratings_in_levels, allow_unsafe=allow_unsafe)
    _require_scheme(disclosure, pin)
    if pin is None and not show_rated and not hides_rated(disclosure):
        raise RefusedError(
            Refusal.RATED_SHOWN,
            f"scheme {disclosure.scheme!r} does not hide which titles you rate, and that can give"
            " away what you protect; if you agree all the same, say so (--agree-to-show-rated, or"
            " in Python agree_to_show_rated=True)",
        )
    check_numbers(disclosure)
    pinned = Pin(
        key=head.key,
        sequence=head.sequence,
        head=head.digest,
        features=disclosure.features,
        scale=disclosure.scale,
        scheme=disclosure.scheme,
        sets=disclosure.sets,
        successor=head.successor,
    )
    former = None if pin is None or pin.key == head.key else pin.key
    return Accepted(disclosure, head, pinned, head != entries[-1], former)


def hides_rated(disclosure: Disclosure) -> bool:
    """Tell whether the scheme hides, item by item, which items were rated."""
    return disclosure.obfuscation.sub_samples


def check_titles(raw: bytes, entry: Entry, disclosure: Disclosure | None = None) -> Catalogue:
    """Accept the titles that an accepted entry of the list names, or refuse them with a code.

    A title decides what she answers about. Were titles not part of the list, one person could be
    shown others, and would answer about one thing with the numbers of another. Features, scale and
    scheme that are shown with them are those of the disclosure.
    """
    if entry.catalogue is None:
        raise RefusedError(
            Refusal.TITLES_UNSIGNED,
            "the service's list names no titles, so anyone could be shown others; it has to"
            " publish again",
        )
    catalogue = Catalogue.parse(raw)
    if catalogue.digest != entry.catalogue:
        raise RefusedError(
            Refusal.WRONG_TITLES, "the titles are not those that the signed list names"
        )
    for name in ("features", "scale", "scheme"):
        shown = getattr(catalogue, name)
        if shown is not None and disclosure and shown != getattr(disclosure, name):
            raise RefusedError(
                Refusal.WRONG_TITLES, f"the titles go with another {name} than the disclosure"
            )
    return catalogue


def _require_named(disclosure: Disclosure, head: Entry, entries: Sequence[Entry]) -> None:
    """Refuse another disclosure than the one that the entry names."""
    if head.disclosure == disclosure.digest:
        return
    named = [entry.sequence for entry in entries if entry.disclosure == disclosure.digest]
    if named and named[-1] > head.sequence:
        raise RefusedError(
            Refusal.NOT_WITNESSED,
            f"the witness has not shown entry {named[-1]} for long enough; answer under entry"
            f" {head.sequence}, or come back later",
        )
    raise RefusedError(
        Refusal.ROLLED_BACK if named else Refusal.WRONG_DIGEST,
        f"entry {head.sequence} of the list names another disclosure",
    )


def require_leak(disclosure: Disclosure, most: float | None) -> None:
    """Refuse a disclosure that is said to leak more than she accepts, or does not say how much."""
    leak = disclosure.leak
    if most is None or (leak is not None and leak <= round(most * ONE)):
        return
    says = "does not say how much" if leak is None else f"says {leak / ONE:.3f}"
    raise RefusedError(
        Refusal.LEAK_TOO_LARGE,
        f"you accept that errors of what is disclosed leak up to an AUC of {most}, and the service"
        f" {says}",
    )


def _require_same(disclosure: Disclosure, pin: Pin | None) -> None:
    """Refuse other features or another scale, whatever her category and ratings are."""
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
    """Refuse another scheme than the pinned one. Unsafe schemes were refused before this."""
    if pin is not None and disclosure.scheme != pin.scheme:
        raise RefusedError(
            Refusal.SCHEME_CHANGED,
            f"scheme {disclosure.scheme!r} is disclosed instead of {pin.scheme!r}; {REMEDY}",
        )
    if pin is not None and disclosure.sets != pin.sets:
        now = "chosen by people" if disclosure.sets is None else "assigned"
        raise RefusedError(Refusal.SCHEME_CHANGED, f"items are now {now}, which is new; {REMEDY}")


def _require_safe(disclosure: Disclosure, *, ratings_in_levels: bool, allow_unsafe: bool) -> None:
    discrete = disclosure.scale.levels is not None
    if ratings_in_levels and not discrete:
        raise RefusedError(
            Refusal.SCALE_CONTINUOUS, "ratings are given in levels, and the scale has none"
        )
    if not (allow_unsafe or disclosure.protects):
        raise RefusedError(
            Refusal.SCHEME_UNSAFE, f"scheme {disclosure.scheme!r} leaves the category readable"
        )
