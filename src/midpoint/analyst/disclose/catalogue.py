"""The titles of the items: published and signed with the disclosure."""

from collections.abc import Iterable, Mapping

import numpy as np

from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data.tables.items import ItemDetail
from midpoint.wire import Catalogue, Disclosure, Wording
from midpoint.wire.listing import LONGEST_TITLE
from midpoint.wire.message import MARKS, is_one_line

NONE = ItemDetail("", "")


def catalogue_of(
    profiles: ItemProfiles,
    disclosure: Disclosure,
    wording: Wording | None = None,
    details: Mapping[str, ItemDetail] | None = None,
) -> Catalogue:
    """Return all items by title, with how often each was rated in training."""
    of_items = [(details or {}).get(item, NONE) for item in disclosure.items]
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
        genres=_unless_empty(detail.genre for detail in of_items),
        links=_unless_empty(detail.link for detail in of_items),
    )


def details_of(catalogue: Catalogue) -> dict[str, ItemDetail]:
    """Return what a catalogue says of its items beside their titles."""
    empty = ("",) * len(catalogue.items)
    rows = zip(catalogue.items, catalogue.genres or empty, catalogue.links or empty, strict=True)
    return {item: ItemDetail(genre, link) for item, genre, link in rows}


def _unless_empty(texts: Iterable[str]) -> tuple[str, ...] | None:
    column = tuple(texts)
    return column if any(column) else None


def _title(name: str, item: str) -> str:
    """Return a title that prints as one line: the item's identifier if there is none."""
    unmarked = "".join(c for c in name if c not in MARKS)
    fine = is_one_line(unmarked)
    line = unmarked if fine else "".join(c if c.isprintable() else " " for c in unmarked)
    return line[:LONGEST_TITLE].strip() or item
