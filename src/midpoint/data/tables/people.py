"""What is known of people as categories: which columns are features, and ages (Section 7.1)."""

import logging
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from midpoint.data.tables.cells import names_of
from midpoint.data.tables.columns import matching
from midpoint.errors import MidpointError

MOST_NUMBERS = 12
"""More distinct numbers than this are a quantity, not categories."""
MOST_WORDS = 64
"""More distinct words than this are names or addresses, not categories."""
MOVIELENS_STARTS = (18, 25, 35, 45, 50, 56)
"""Where the bands of MovieLens 1M start, after "under 18"."""
DECADE_STARTS = (18, 25, 35, 45, 55, 65)
"""Where our own bands start, after "under 18"."""
YOUNG_ADULT = (18, 35, 65)
"""The paper's split: young is 18 to 34, adult 35 to 64; the others are left out."""

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
        if _is_age(column):
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
            features.append(names_of(column))
    return pl.DataFrame(features)


def band(years: pl.Series, starts: Sequence[int]) -> pl.Series:
    """Name the band of each age, such as "under 18", "18-24" or "56+"; unknown stays so."""
    names = [f"under {starts[0]}", *(f"{a}-{b - 1}" for a, b in pairwise(starts)), f"{starts[-1]}+"]
    age = _known(years)
    number = np.searchsorted(starts, age.fill_null(0).to_numpy(), side="right")
    labels = pl.Series("age_band", [names[k] for k in number], dtype=pl.String)
    return labels.set(age.is_null(), None)


def young_or_adult(years: pl.Series) -> pl.Series:
    """Tell "young" from "adult" as the paper does; anyone younger, older or unknown is null."""
    low, middle, high = YOUNG_ADULT
    age = pl.col("age")
    split = (
        pl.when((age >= low) & (age < middle))
        .then(pl.lit("young"))
        .when((age >= middle) & (age < high))
        .then(pl.lit("adult"))
    )
    return _known(years).to_frame("age").select(age=split)["age"]


def _is_age(column: pl.Series) -> bool:
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


def _known(years: pl.Series) -> pl.Series:
    """Keep what can be an age; forms are full of zeros, 999s and words."""
    number = years.cast(pl.Float64, strict=False)
    return number.set(~number.is_between(1, 120), None).fill_nan(None)
