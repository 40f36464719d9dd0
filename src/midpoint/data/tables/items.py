"""A table with one row an item: its title and year, genre and link."""

import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from midpoint.data.origin import counted
from midpoint.data.ratings import Ratings
from midpoint.data.tables.cells import names_of
from midpoint.data.tables.columns import find
from midpoint.data.tables.frames import Frame
from midpoint.data.tables.reader import Table, missing, read_table
from midpoint.errors import MidpointError

LINK = re.compile(r"https://[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]{1,492}")
"""A link that a page may show: no other scheme, and nothing that needs escaping."""
LONGEST_GENRE = 100
logger = logging.getLogger(__name__)


class ItemDetail(NamedTuple):
    """What a person is shown of an item beside its title."""

    genre: str
    """What kind of thing it is; empty if the table does not say."""
    link: str
    """Where she reads about it; empty if the table does not say."""


def item_details(source: Path | Frame) -> dict[str, ItemDetail]:
    """Read genres and links of a table of items; images are not read (decision 0045)."""
    table, strange = read_table(source, "the table of items"), list[str]()
    rows = zip(
        *(_column(table, "item", "id"), _texts(table, "genre"), _texts(table, "link")),
        strict=True,
    )
    details = dict[str, ItemDetail]()
    for item, genre, link in rows:
        if link and not LINK.fullmatch(link):
            strange.append(link)
        shown = " ".join(genre.replace("|", ", ").split())[:LONGEST_GENRE]
        if item is not None:
            details[item] = ItemDetail(shown, link if LINK.fullmatch(link) else "")
    if strange:
        logger.warning(
            "%s: %s left out, such as %r; a link begins with https://",
            *(table.origin.path, counted(len(strange), "link"), strange[0]),
        )
    return details


def add_titles(ratings: Ratings, source: Path | Frame) -> Ratings:
    """Add the titles of a table with one row an item; a year goes behind the title."""
    table = read_table(source, "the table of items")
    rows = zip(
        *(_column(table, "item", "id"), _column(table, "title"), _texts(table, "year")),
        strict=True,
    )
    called = {
        item: f"{title} ({year})" if year.isdigit() else title
        for item, title, year in rows
        if item is not None and title
    }
    if called.keys().isdisjoint(ratings.item_ids.tolist()):
        raise MidpointError(
            f"{table.origin.path} knows none of the {ratings.n_items} items, such as"
            f" {str(ratings.item_ids[0])!r}; check that items are called the same in both tables"
        )
    ids, names = ratings.item_ids.tolist(), ratings.item_names.tolist()
    titles = [called.get(item, name) for item, name in zip(ids, names, strict=True)]
    return replace(ratings, item_names=np.array(titles, dtype=np.str_))


def _column(table: Table, role: str, *more: str) -> list[str | None]:
    name = find(table.cells, role, *more)
    if name is None:
        raise missing(role, table)
    return names_of(table.cells[name]).to_list()


def _texts(table: Table, role: str) -> list[str]:
    """Return a column that need not be there, empty where it says nothing."""
    if find(table.cells, role) is None:
        return [""] * table.cells.height
    return [text or "" for text in _column(table, role)]
