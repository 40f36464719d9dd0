"""Assigned sets: people did not choose what they rate. That is declared, or proved."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from midpoint.analyst.disclose.scheme_choice import sets_leak
from midpoint.data import Ratings
from midpoint.data.tables.reader import read_table
from midpoint.errors import MidpointError

ALL: Final = "all"
"""Everyone was asked about every item."""
PROVE: Final = "prove"
"""Nobody knows what people were asked: an attack on what they rated has to find nothing."""
MOST_LEAK: Final = 0.53
"""AUC that the best attack on which items people rated may have at most, to prove it."""
ANSWERED = 0.9
"""Share of what people were asked that they have to have rated: what they leave out is a choice."""


def require_assigned(
    ratings: Ratings, asked: str | Path, features: Sequence[str] = ()
) -> float | None:
    """Refuse ratings that people chose to give.

    Args:
        ratings: The ratings.
        asked: "all" if everyone was asked about every item; "prove" if what people rated is to show
            that they did not choose; else a table with the columns user and item, one row for
            everything that somebody was asked.
        features: The private feature, which a proof is about.

    Returns:
        Where it was proved, the AUC that the best attack on what people rated has at most.
    """
    if str(asked) == PROVE:
        return _proof(ratings, features)
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
    return None


def _proof(ratings: Ratings, features: Sequence[str]) -> float:
    """Attack which items people rated, and refuse if that may find anything."""
    if not features or ratings.scale.is_unary:
        raise MidpointError(
            "--asked prove needs a private feature and ratings: which items people have is all that"
            " unary data are; leave out --asked, or name what people were asked"
        )
    bound = sets_leak(ratings, *features)
    if bound > MOST_LEAK:
        raise MidpointError(
            f"what people rated does not show that they did not choose it: an attack on that alone"
            f" may reach an AUC of {bound:.2f} (at most {MOST_LEAK}, by a one-sided test at 95 %);"
            " leave out --asked, name what they were asked, or share the feature of more people"
        )
    return round(bound, 4)


def _pairs(path: Path) -> set[tuple[str, str]]:
    """Read who was asked about what."""
    cells = read_table(path).cells
    missing = [name for name in ("user", "item") if name not in cells.columns]
    if missing:
        raise MidpointError(f"{path} has no column {missing[0]!r}; it needs user and item")
    columns = (cells[name].cast(str).to_list() for name in ("user", "item"))
    return set(zip(*columns, strict=True))
