"""Reports beside a panel on disk: their people come after the panel's, and are counted."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from midpoint.analyst.engines.streaming.beside import Beside
from midpoint.analyst.engines.streaming.scan import scan
from midpoint.errors import MidpointError
from tests.support.tables.two_kinds import two_kinds, write_panel


def test_ratings_and_answers_are_counted_and_numbered_together(tmp_path: Path) -> None:
    world = two_kinds()
    table, users = (Path(name) for name in write_panel(world.panel, tmp_path)[::2])
    words = {"user": pl.String, "item": pl.String}
    pl.read_csv(table, schema_overrides=words).write_parquet(tmp_path / "p.parquet")
    panel = scan(tmp_path / "p.parquet", users=users, scale=world.panel.scale)
    gender = panel.feature(("gender",))
    alone = Beside.of(panel, gender, None, seed=0)
    assert alone.noise() is None
    assert alone.people == 0
    both = Beside.of(panel, gender, world.reports(), seed=0)
    chunks = list(both.coded())
    columns = [np.concatenate(column) for column in zip(*chunks, strict=True)]
    assert np.array_equal(np.bincount(columns[0]), both.by_user)
    assert np.array_equal(np.bincount(columns[1], minlength=len(both.by_item)), both.by_item)
    assert both.people == world.rest.n_users
    noise = both.noise()
    assert noise is not None
    assert (noise.kind[: panel.ratings] == 0).all()
    assert (noise.kind[panel.ratings :] > 0).any()
    with pytest.raises(MidpointError, match="name it to learn from them"):
        Beside.of(panel, None, world.reports(), seed=0)
