"""The analyst's append-only list of disclosures, which holds it to what it published."""

from itertools import pairwise

from midpoint.errors import MidpointError
from midpoint.wire import Catalogue, Chain, Disclosure, Entry, Signed, SigningKey
from midpoint.wire.numbers import check_numbers


def publish(
    disclosure: Disclosure,
    key: SigningKey,
    previous: Entry | None = None,
    *,
    time: int,
    catalogue: Catalogue | None = None,
    current: Disclosure | None = None,
    change_scheme: bool = False,
) -> Signed:
    """Sign the next entry of the list: from then on this disclosure is the current one.

    What devices would refuse is refused here (`require_publishable`).

    Args:
        disclosure: What becomes current.
        key: The analyst's key, the same for the whole list: devices pin it.
        previous: The newest entry so far; None starts a list.
        time: Now, in whole seconds since 1970 in UTC.
        catalogue: The titles that go with it; agents refuse a list that names none.
        current: The disclosure that the previous entry names, if there is one.
        change_scheme: Publish another scheme than the current one; devices then refuse it until
            their owners accept the change.
    """
    if previous is not None and (current is None or current.digest != previous.disclosure):
        raise MidpointError(
            f"give the disclosure of entry {previous.sequence} as `current`: devices hold the list"
            " to its features, scale and scheme"
        )
    require_publishable(disclosure, current, change_scheme=change_scheme)
    return sign_entry(disclosure, key, previous, time=time, catalogue=catalogue)


def sign_entry(
    disclosure: Disclosure,
    key: SigningKey,
    previous: Entry | None = None,
    *,
    time: int,
    catalogue: Catalogue | None = None,
) -> Signed:
    """Sign the next entry of the list without a look at the disclosure; see `publish`."""
    if previous is not None and previous.next_key != key.public:
        raise MidpointError(
            f"entry {previous.sequence} is signed by another key; devices would refuse this one,"
            " so sign with the list's own key, or let that one vouch for another (`Site.succeed`)"
        )
    entry = Entry(
        sequence=0 if previous is None else previous.sequence + 1,
        disclosure=disclosure.digest,
        catalogue=None if catalogue is None else catalogue.digest,
        previous=None if previous is None else previous.digest,
        time=time,
        key=key.public,
    )
    return Signed.seal(entry, key)


def sign_succession(newest: Entry, key: SigningKey, successor: str, *, time: int) -> Signed:
    """Sign an entry that changes nothing but the key: `successor` signs what follows it."""
    if newest.next_key != key.public:
        raise MidpointError("only the key that signs the list now can vouch for another")
    entry = Entry(
        sequence=newest.sequence + 1,
        disclosure=newest.disclosure,
        catalogue=newest.catalogue,
        previous=newest.digest,
        time=time,
        key=key.public,
        successor=successor,
    )
    return Signed.seal(entry, key)


def require_publishable(
    disclosure: Disclosure, current: Disclosure | None, *, change_scheme: bool = False
) -> None:
    """Refuse a disclosure that devices would refuse.

    That is one with impossible numbers (`check_numbers`), of a scheme that leaves the category
    readable, or that changes what devices pinned: features, categories and scale for good, the
    scheme unless `change_scheme`.
    """
    check_numbers(disclosure)
    if not disclosure.obfuscation.protects(discrete=disclosure.scale.levels is not None):
        raise MidpointError(
            f"scheme {disclosure.scheme!r} leaves the category readable on this scale, so devices"
            " refuse it; publish another scheme"
        )
    if current is None:
        return
    for name, old, new in (
        ("features", current.features, disclosure.features),
        ("scale", current.scale, disclosure.scale),
    ):
        if old != new:
            raise MidpointError(
                f"the {name} are not those published before, which devices hold on to; publish to"
                " a new site, where people begin again"
            )
    if disclosure.scheme != current.scheme and not change_scheme:
        raise MidpointError(
            f"scheme {disclosure.scheme!r} is not {current.scheme!r}, which is published now;"
            " devices refuse another one until their owners accept the change: disclose with the"
            " same scheme, or allow the change by name"
        )


def verified_entries(chain: Chain) -> list[Entry]:
    """Open the entries, refusing a list that is not linked, or not signed by its own key.

    That is the first entry's key, or the successor that its newest holder named.
    """
    entries = [signed.open(Entry) for signed in chain.entries]
    key = entries[0].key
    for signed, entry in zip(chain.entries, entries, strict=True):
        if entry.key != key or not signed.is_signed_by(key, Entry):
            raise MidpointError(f"entry {entry.sequence} is not signed by the key of the list")
        key = entry.next_key
    linked = all(after.previous == before.digest for before, after in pairwise(entries))
    if not linked or [entry.sequence for entry in entries] != list(range(len(entries))):
        raise MidpointError("the entries of the list are not linked from the first to the last")
    return entries
