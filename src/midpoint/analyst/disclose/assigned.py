"""Assigned sets: what people were asked to rate, when they did not choose it themselves."""

from pathlib import Path
from typing import Final

import numpy as np

from midpoint.data import Ratings
from midpoint.data.tables.reader import read_table
from midpoint.errors import MidpointError

ALL: Final = "all"
"""Everyone was asked about every item."""
ANSWERED = 0.9
"""Share of what people were asked that they have to have rated: what they leave out is a choice."""


def require_assigned(ratings: Ratings, asked: str | Path) -> None:
    """Refuse ratings that people chose to give, by what they were asked.

    Args:
        ratings: The ratings.
        asked: "all" if everyone was asked about every item; else a table with the columns user and
            item, one row for everything that somebody was asked.
    """
    if str(asked) == ALL:
        share = len(ratings) / max(ratings.n_users * ratings.n_items, 1)
    else:
        pairs = _pairs(Path(asked))
        users, items = ratings.user_ids[ratings.user], ratings.item_ids[ratings.item]
        for user, item in zip(users.tolist(), items.tolist(), strict=True):
            if (str(user), str(item)) not in pairs:
                raise MidpointError(
                    f"person {user} rated item {item}, and {asked} does not say that it was asked;"
                    " complete the table, or leave out --asked: the item was then chosen"
                )
        people = {str(user) for user in np.unique(users).tolist()}
        share = len(ratings) / max(sum(user in people for user, _ in pairs), 1)
    if share < ANSWERED:
        raise MidpointError(
            f"people rated {share:.0%} of what they were asked, so that they chose what to answer;"
            f" sets count as assigned from {ANSWERED:.0%} on: leave out --asked"
        )


def _pairs(path: Path) -> set[tuple[str, str]]:
    """Read who was asked about what."""
    cells = read_table(path).cells
    missing = [name for name in ("user", "item") if name not in cells.columns]
    if missing:
        raise MidpointError(f"{path} has no column {missing[0]!r}; it needs user and item")
    columns = (cells[name].cast(str).to_list() for name in ("user", "item"))
    return set(zip(*columns, strict=True))
