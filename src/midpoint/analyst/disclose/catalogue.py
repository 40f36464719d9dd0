"""What people call the items: part of what is published, and signed with it."""

import numpy as np

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.wire import Catalogue, Disclosure, Wording
from midpoint.wire.listing import LONGEST_TITLE
from midpoint.wire.message import is_one_line


def catalogue_of(
    profiles: ItemProfiles, disclosure: Disclosure, wording: Wording | None = None
) -> Catalogue:
    """Return all items by title, with how often each was rated in training."""
    order, counted = profiles.order, profiles.statistics
    names = profiles.item_names[order].tolist()
    rated = np.zeros(len(names)) if counted is None else counted.count.sum(axis=1)[order]
    return Catalogue(
        items=disclosure.items,
        titles=tuple(map(_title, names, disclosure.items)),
        ratings=tuple(int(count) for count in rated),
        features=disclosure.features,
        scale=disclosure.scale,
        scheme=disclosure.scheme,
        wording=wording,
    )


def _title(name: str, item: str) -> str:
    """Return a title that prints as one line: the item's identifier if there is none."""
    line = name if is_one_line(name) else "".join(c if c.isprintable() else " " for c in name)
    return line[:LONGEST_TITLE].strip() or item
