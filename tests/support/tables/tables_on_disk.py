"""Ratings written as tables for the engines that read from disk."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from midpoint.data import Ratings, load

FROM_DISK = ["stream", pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.spark])]
"""The engines that read from disk, by name: parameters of the fixture `engine`."""


class Tables(NamedTuple):
    """The same ratings on disk and in memory."""

    directory: Path
    """Parquet in several files, in no order."""
    users: Path
    """One row a person."""
    beside: Path
    """One file in which the feature stands beside every rating."""
    ratings: Ratings
    """What the loader in memory makes of them."""


def write(ratings: Ratings, directory: Path, word: str = "film ") -> Tables:
    """Write whole-number users and wordy items, shuffled."""
    order = np.random.default_rng(0).permutation(len(ratings))
    names = np.char.add(word, ratings.item_ids)
    table = pl.DataFrame(
        {
            "user": ratings.user_ids[ratings.user[order]].astype(np.int64),
            "item": names[ratings.item[order]].tolist(),
            "title": np.char.upper(names)[ratings.item[order]].tolist(),
            "rating": ratings.value[order],
        }
    )
    (directory / "ratings").mkdir()
    for k, part in enumerate(table.iter_slices(5000)):
        part.write_parquet(directory / "ratings" / f"{k}.parquet")
    table.write_parquet(directory / "ratings.parquet")
    people = pl.DataFrame({"user": ratings.user_ids.astype(np.int64)})
    for name, feature in ratings.features.items():
        labels = [feature.categories[k] if k >= 0 else None for k in feature.codes]
        people = people.with_columns(pl.Series(name, labels, dtype=pl.String))
    users = directory / "users.parquet"
    people.write_parquet(users)
    beside = directory / "beside.parquet"
    table.join(people, on="user").write_parquet(beside)
    return Tables(
        directory / "ratings", users, beside, load(directory / "ratings.parquet", users=users)
    )
