"""Small tables on disk that the commands on engines share."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from midpoint.analyst import ItemProfiles
from midpoint.data import PRESETS, simulate
from tests.support.models.small_model import run


def write_tables(directory: Path) -> tuple[Path, Path]:
    """Write ratings and users as Parquet."""
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    gender = ratings.feature("gender")
    columns: dict[str, Any] = {"user": ratings.user, "film": ratings.item, "stars": ratings.value}
    pl.DataFrame(columns).write_parquet(directory / "ratings.parquet")
    people = {"user": np.arange(ratings.n_users), "gender": np.array(["F", "M"])[gender.codes]}
    pl.DataFrame(people).write_parquet(directory / "users.parquet")
    return directory / "ratings.parquet", directory / "users.parquet"


def train_tables(tables: tuple[Path, Path], out: Path, *more: object) -> ItemProfiles:
    """Train a small model from such tables by `midpoint train`."""
    ratings, users = tables
    shown = run(
        "train", ratings, "--users", users, "--feature", "gender", "--dimension", 3,
        "--iterations", 4, "--out", out, *more,
    )  # fmt: skip
    assert "60 item profiles of dimension 3" in shown
    return ItemProfiles.load(out)
