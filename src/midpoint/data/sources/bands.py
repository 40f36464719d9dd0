"""Ages as categories: bands, and the paper's young against adult (Section 7.1)."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

MOVIELENS_STARTS = (18, 25, 35, 45, 50, 56)
"""Where the bands of MovieLens 1M start, after "under 18"."""
DECADE_STARTS = (18, 25, 35, 45, 55, 65)
"""Where our own bands start, after "under 18"."""
YOUNG_ADULT = (18, 35, 65)
"""The paper's split: young is 18 to 34, adult 35 to 64; the others are left out."""


def band(years: pl.Series, starts: Sequence[int]) -> pl.Series:
    """Name the band each age lies in, such as "under 18", "18-24" or "56+"; unknown stays so."""
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


def _known(years: pl.Series) -> pl.Series:
    """Keep what can be an age; forms are full of zeros, 999s and words."""
    number = years.cast(pl.Float64, strict=False)
    return number.set(~number.is_between(1, 120), None).fill_nan(None)
