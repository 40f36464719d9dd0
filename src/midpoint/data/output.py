"""Ratings as data frames: what leaves for other libraries."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from midpoint.data.feature import Feature
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    import pandas as pd

RECBOLE = {
    "user": "user_id:token",
    "item": "item_id:token",
    "rating": "rating:float",
    "time": "timestamp:float",
}
"""What RecBole calls the columns."""
LENSKIT = {"user": "user_id", "item": "item_id", "rating": "rating", "time": "timestamp"}
"""What LensKit calls them."""


def ratings_frame(
    users: tuple[NDArray[np.str_], NDArray[np.int32]],
    items: tuple[NDArray[np.str_], NDArray[np.int32]],
    values: NDArray[np.float32],
    time: NDArray[np.int64] | None,
) -> pl.DataFrame:
    """Return the columns user, item, rating and, where known, time: one row a rating.

    Ids that are whole numbers come back as such, so that they join with the table they came from.

    Args:
        users: The ids of all users, and for each rating the index of its user.
        items: The same of the items.
        values: The ratings.
        time: When each was given, in seconds since 1970; None where not known.
    """
    value = pl.Series("rating", np.round(values.astype(np.float64), 6))
    columns = [
        _ids("user", users[0]).gather(users[1]),
        _ids("item", items[0]).gather(items[1]),
        value.cast(pl.Int64) if (value % 1 == 0).all() else value,
    ]
    if time is not None:
        columns.append(pl.Series("time", time))
    return pl.DataFrame(columns)


def people_frame(user_ids: NDArray[np.str_], features: Mapping[str, Feature]) -> pl.DataFrame:
    """Return the column user and one for each feature, null where it is not known."""
    columns = [_ids("user", user_ids)]
    for name, feature in features.items():
        labels = [feature.categories[k] if k >= 0 else None for k in feature.codes.tolist()]
        columns.append(pl.Series(name, labels, dtype=pl.String))
    return pl.DataFrame(columns)


def as_pandas(table: pl.DataFrame) -> "pd.DataFrame":
    """Copy a data frame to pandas."""
    try:
        import pandas as pd  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MidpointError("pandas is not installed; run: pip install pandas") from error
    return pd.DataFrame({column.name: column.to_numpy() for column in table})


def as_lenskit(table: pl.DataFrame) -> Any:
    """Make a data set of LensKit of the columns of `ratings_frame`."""
    try:
        from lenskit.data import from_interactions_df  # noqa: PLC0415 - not ours to install
    except ModuleNotFoundError as error:
        raise MidpointError("LensKit is not installed; run: pip install lenskit") from error
    names = {name: LENSKIT[name] for name in table.columns}
    return from_interactions_df(as_pandas(table.rename(names)))


def _ids(name: str, ids: NDArray[np.str_]) -> pl.Series:
    """Return ids as whole numbers if all are written as such, else as words."""
    words = pl.Series(name, ids.tolist(), dtype=pl.String)
    numbers = words.cast(pl.Int64, strict=False)
    same = not numbers.null_count() and (numbers.cast(pl.String) == words).all()
    return numbers if same else words
