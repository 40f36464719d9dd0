"""The analyst's append-only list of disclosures, which holds it to what it said."""

from midpoint.errors import MidpointError
from midpoint.wire import Catalogue, Disclosure, Entry, Signed, SigningKey


def publish(
    disclosure: Disclosure,
    key: SigningKey,
    previous: Entry | None = None,
    *,
    time: int,
    catalogue: Catalogue | None = None,
) -> Signed:
    """Sign the next entry of the list: from then on this disclosure is the current one.

    Args:
        disclosure: What becomes current.
        key: The analyst's key, the same for the whole list: devices pin it.
        previous: The newest entry so far; None starts a list.
        time: Now, in whole seconds since 1970 in UTC.
        catalogue: The titles that go with it; agents refuse a list that names none.
    """
    if previous is not None and previous.key != key.public:
        raise MidpointError(
            f"entry {previous.sequence} is signed by another key; devices would refuse this one,"
            " so sign with the key that the list began with"
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
