"""Tables in memory: data frames of pandas and polars, and what other libraries make of ratings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from midpoint.data.feature import word
from midpoint.data.origin import Origin
from midpoint.errors import MidpointError

ROLES = ("user", "item", "rating", "time")
"""The columns of triples, as Cornac writes them, and of quadruples with a time."""


Frame = Any
"""A table in memory, of whatever library: `frame_cells` says which."""


def is_in_memory(source: object) -> bool:
    """Tell whether a source is a table or a library's data set rather than a name or a path."""
    if isinstance(source, pl.LazyFrame | list | tuple):
        return True
    return any(hasattr(source, name) for name in ("columns", "interaction_table", "uir_tuple"))


def frame_cells(source: object, what: str) -> tuple[pl.DataFrame, Origin]:
    """Return the cells of a table in memory, and where they came from, for messages.

    Args:
        source: A data frame of pandas or polars, a LensKit or Cornac data set, or a list of
            (user, item, rating) or (user, item, rating, time).
        what: What to call it in messages, such as "the table of users".
    """
    origin = Origin(what, unit="row")
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        cells = source
    elif hasattr(source, "interaction_table"):  # LensKit
        cells = _of_pandas(source.interaction_table(format="pandas", original_ids=True))
    elif hasattr(source, "uir_tuple"):
        cells = _of_cornac(source)
    elif hasattr(source, "columns") and hasattr(source, "iloc"):
        cells = _of_pandas(source)
    elif isinstance(source, list | tuple):
        cells = _of_rows(source, what)
    else:
        raise MidpointError(
            f"{what} is a {type(source).__name__}, which cannot be read; give a data frame of"
            " pandas or polars, or the path of a file"
        )
    if not cells.height:
        raise MidpointError(f"{what} has no rows")
    floats = (pl.Float32, pl.Float64)
    return cells.with_columns(pl.col(floats).fill_nan(None)), origin


def _of_pandas(frame: Any) -> pl.DataFrame:
    """Copy a data frame of pandas; an index that has a name is a column."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise MidpointError(f"column {twice[0]!r} of the data frame appears twice; rename one")
    return pl.DataFrame([_series(name, frame.iloc[:, number]) for number, name in enumerate(names)])


def _series(name: str, column: Any) -> pl.Series:
    """Copy a column: numbers and dates as they are, others with every library's NaN as null."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufbM":
        return pl.Series(name, column.to_numpy())
    if str(column.dtype).startswith("datetime64"):  # with a time zone
        return pl.Series(name, column.to_numpy(dtype="datetime64[ns]"))
    return _values(name, column.tolist())


def _values(name: str, values: Sequence[object]) -> pl.Series:
    """Make a column of anything: whole numbers, numbers, or words, null where there is none."""
    filled = [None if word(value) == "" else value for value in values]
    kinds = {type(value) for value in filled if value is not None}
    if kinds and all(issubclass(kind, int | np.integer) for kind in kinds):
        whole = [None if value is None else int(str(value)) for value in map(_plain, filled)]
        if all(number is None or abs(number) < 2**63 for number in whole):
            return pl.Series(name, whole, dtype=pl.Int64)
        return pl.Series(name, [None if n is None else str(n) for n in whole], dtype=pl.String)
    if kinds and all(issubclass(kind, int | float | np.number) for kind in kinds):
        numbers = [None if value is None else float(str(value)) for value in map(_plain, filled)]
        return pl.Series(name, numbers, dtype=pl.Float64)
    words = [None if value is None else word(value) for value in filled]
    return pl.Series(name, words, dtype=pl.String)


def _plain(value: object) -> object:
    """Write true and false as 1 and 0, as a column of both would."""
    return int(value) if isinstance(value, bool | np.bool_) else value


def _of_cornac(data: Any) -> pl.DataFrame:
    """Copy a Cornac data set under its original names."""
    users, items, values = data.uir_tuple
    user_names, item_names = (
        {index: name for name, index in names.items()} for names in (data.uid_map, data.iid_map)
    )
    columns = [
        _values("user", [user_names[u] for u in np.asarray(users).tolist()]),
        _values("item", [item_names[i] for i in np.asarray(items).tolist()]),
        pl.Series("rating", np.asarray(values)),
    ]
    if getattr(data, "timestamps", None) is not None:
        columns.append(pl.Series("time", np.asarray(data.timestamps)))
    return pl.DataFrame(columns)


def _of_rows(rows: Sequence[Any], what: str) -> pl.DataFrame:
    """Copy (user, item, rating) or (user, item, rating, time), one a rating."""
    width = len(rows[0]) if rows and isinstance(rows[0], list | tuple) else 0
    for number, row in enumerate(rows, start=1):
        if width not in {3, 4} or not isinstance(row, list | tuple) or len(row) != width:
            raise MidpointError(
                f"{what}, row {number}: {row!r} is not (user, item, rating) or (user, item, rating,"
                " time)"
            )
    columns = zip(ROLES, zip(*rows, strict=True), strict=False)
    return pl.DataFrame([_values(name, values) for name, values in columns])
