"""One's own wide table: which of its columns are items, and which are features of the person."""

import logging
from collections.abc import Sequence

import polars as pl

from midpoint.data.ratings import Ratings
from midpoint.data.scale import Scale
from midpoint.data.tables.builder import ratings_of_wide, row_numbers, with_people
from midpoint.data.tables.cells import as_numbers
from midpoint.data.tables.columns import PERSONAL, Columns, find, matching, plain_name
from midpoint.data.tables.people import features_of
from midpoint.data.tables.reader import Table
from midpoint.errors import MidpointError

LEAST_GAP = 10
"""Columns of a few people may be this far apart by chance, on scales up to ten."""

TICKED = 3
"""So many answers, all of them 1 beside blanks, are ticks: they say that somebody used the item."""

logger = logging.getLogger(__name__)


def load_wide(
    table: Table, columns: Columns, scale: Scale | None, name: str, *, has_users_table: bool
) -> Ratings:
    """Read a table of one row a person, in which a blank is no rating.

    With a users table `columns.features` are that table's, and here all features are guessed.
    """
    cells, origin = table
    user = columns.user or find(cells, "user", "id")
    if user is not None:
        matching([user], cells.columns, origin.path)
    rest = [column for column in cells.columns if column != user]
    chosen = None if has_users_table else columns.features
    if columns.items is not None:
        items = [c for c in matching(columns.items, cells.columns, origin.path) if c in rest]
    else:
        named = matching(chosen or (), cells.columns, origin.path)
        items = _guess_items(cells.select(c for c in rest if c not in named), table)
    if scale is None:
        _require_one_kind(cells.select(items), origin.path)
    people = cells.with_columns(user=row_numbers(cells) if user is None else cells[user])
    ratings = ratings_of_wide(people, items, name=name, origin=origin, scale=scale)
    others = [c for c in rest if c not in items and cells[c].count()]
    features = features_of(people, others, chosen, origin.path)
    logger.info(
        "%s has one row a person; its items are %s; its features are %s",
        *(origin.path, _listed(items), _listed(features.columns[1:])),
    )
    if features.width == 1:
        return ratings
    return with_people(ratings, features, origin, level=logging.WARNING)


def _guess_items(candidates: pl.DataFrame, table: Table) -> list[str]:
    """Take the columns of numbers, unless their names tell of a person."""
    items = [column.name for column in candidates if _may_be_item(column)]
    if len(items) < 2:
        raise MidpointError(
            f"{table.origin.path}: no columns look like user, item and rating, and fewer than"
            f" two like items; it has {', '.join(table.cells.columns[:20])}. If it has one row a"
            " rating, name them by --user-column, --item-column and --rating-column; if it has one"
            " row a person, by --item-columns; or check the delimiter"
        )
    _require_one_range(candidates.select(items), table.origin.path)
    return items


def _may_be_item(column: pl.Series) -> bool:
    """Tell numbers, and numbers with a stray word among them: that is a cell to correct.

    Text that is numbers throughout is one with leading zeros, hence a code.
    """
    if plain_name(column.name) in PERSONAL:
        return False
    if column.dtype != pl.String:
        return column.dtype.is_numeric() or column.dtype in {pl.Boolean, pl.Null}
    filled = len(column) - column.null_count()
    words = filled - as_numbers(column).count()
    return 0 < 2 * words <= filled


def _require_one_range(items: pl.DataFrame, where: str) -> None:
    """Refuse a column far from the usual range, such as heights in centimetres among stars."""
    numbers = [as_numbers(column).fill_nan(None).drop_nulls() for column in items]
    ranges = {n.name: (float(n.min()), float(n.max())) for n in numbers if len(n)}  # type: ignore[arg-type]
    if not ranges:
        return
    middle = (len(ranges) - 1) // 2
    low, high = (sorted(ends)[middle] for ends in zip(*ranges.values(), strict=True))
    for name, (least, most) in ranges.items():
        if max(least - high, low - most) > max(high - low, LEAST_GAP):
            raise MidpointError(
                f"{where}: column {name!r} ({least:g} to {most:g}) is far from the others"
                f" ({low:g} to {high:g}), so it is hardly an item; name the items by"
                " --item-columns"
            )


def _require_one_kind(items: pl.DataFrame, where: str) -> None:
    """Refuse columns of ticks among columns of grades, where a tick would pass for the worst."""
    numbers = [as_numbers(column).fill_nan(None) for column in items]
    ticked = [n.name for n in numbers if _is_ticked(n)]
    graded = [n.name for n in numbers if n.drop_nulls().n_unique() > 1]
    if ticked and graded:
        raise MidpointError(
            f"{where}: columns of ticks, with 1 or nothing ({_listed(ticked, 3)}), stand beside"
            f" columns of grades ({_listed(graded, 3)}); name those of one kind by --item-columns,"
            " or say by --scale which grades there are if 1 is one of them"
        )


def _is_ticked(column: pl.Series) -> bool:
    answers = column.drop_nulls()
    return len(answers) >= TICKED and len(answers) < len(column) and bool((answers == 1).all())


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "none") + more
