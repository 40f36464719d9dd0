"""Which columns of a table of people are features, and what their categories are."""

import logging
from collections.abc import Sequence
from fnmatch import fnmatchcase

import polars as pl

from midpoint.data.sources.bands import DECADE_STARTS, band, young_or_adult
from midpoint.errors import MidpointError

MOST_NUMBERS = 12
"""More distinct numbers than this are a quantity, not categories."""
MOST_WORDS = 64
"""More distinct words than this are names or addresses, not categories."""

logger = logging.getLogger(__name__)


def features_of(
    table: pl.DataFrame, candidates: Sequence[str], chosen: Sequence[str] | None, where: str
) -> pl.DataFrame:
    """Return the features of a table with a column `user`, as columns of labels.

    An `age` in years becomes `age` (young or adult) and `age_band`. A column with too many values
    to be categories is refused when it was asked for; when it was only a guess it is left out with
    a note, since a table of people often has a postcode or a name that nobody wants protected.
    """
    features = [table["user"]]
    for name in candidates if chosen is None else matching(chosen, table.columns, where):
        column = table[name]
        if is_age(column):
            features += [
                young_or_adult(column).alias(name),
                band(column, DECADE_STARTS).alias(f"{name}_band"),
            ]
            continue
        problem = _too_many(column)
        if problem and chosen is not None:
            raise MidpointError(
                f"{where}: column {name!r} {problem}; put them into a few bins (such as low, middle"
                " and high) in a column of its own, and name that one"
            )
        if problem:
            logger.warning("%s: column %r %s, so it is no feature; bin them", where, name, problem)
        else:
            features.append(_labels(column))
    return pl.DataFrame(features)


def matching(patterns: Sequence[str], columns: Sequence[str], where: str) -> list[str]:
    """Return the columns that bear these names or fit these patterns (`V16*`)."""
    found: dict[str, None] = {}
    for pattern in patterns:
        fits = [c for c in columns if c == pattern] or [
            c for c in columns if fnmatchcase(c, pattern)
        ]
        if not fits:
            raise MidpointError(
                f"{where} has no column {pattern!r}; it has {', '.join(columns[:20])}"
                f"{', ...' if len(columns) > 20 else ''}"
            )
        found |= dict.fromkeys(fits)
    return list(found)


def is_age(column: pl.Series) -> bool:
    """Tell an age in years from bands that somebody has already made."""
    return (
        column.name.lower() == "age"
        and column.dtype.is_numeric()
        and column.n_unique() > MOST_NUMBERS
    )


def _too_many(column: pl.Series) -> str | None:
    count = column.drop_nulls().n_unique()
    if column.dtype.is_numeric() and count > MOST_NUMBERS:
        return f"has {count} distinct numbers, too many to be categories"
    if count > MOST_WORDS:
        return f"has {count} distinct values, too many to be categories"
    return None


def _labels(column: pl.Series) -> pl.Series:
    if column.dtype.is_float() and (column.drop_nulls() % 1 == 0).all():
        column = column.cast(pl.Int64)
    return column.cast(pl.String).str.strip_chars()
