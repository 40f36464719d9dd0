"""Unary data on all engines: lists for new people as good as from memory; bad counts refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from midpoint.analyst import Factorizer, ItemProfiles, estimate_profiles
from midpoint.analyst.engines import Engine, RatingsTables
from midpoint.analyst.engines.training import train_on
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.data import PRESETS, Ratings, hold_out, load, simulate, split_ratings, user_folds
from midpoint.data.tables.columns import Columns
from midpoint.errors import MidpointError

PLAYS = replace(
    PRESETS["simulated-plays"], users=900, items=120, ratings=27_000, selection_taste_sd=1.5
)
COUNTS = Columns(count="plays")
FACTORIZER = Factorizer(dimension=4, iterations=8)


@pytest.fixture(scope="module")
def people() -> tuple[Ratings, Ratings]:
    """Return those who teach, and new ones."""
    ratings = simulate(PLAYS, seed=1).ratings
    return hold_out(ratings, user_folds(ratings.n_users, 4, seed=0), 0)


@pytest.fixture(scope="module")
def tables(people: tuple[Ratings, Ratings], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a table of uses without ratings, some twice, one of counts, and one of people."""
    directory, teach = tmp_path_factory.mktemp("plays"), people[0]
    uses = pl.DataFrame({"user": teach.user_ids[teach.user], "item": teach.item_ids[teach.item]})
    uses = uses.with_columns(pl.col("user").cast(pl.Int64))
    pl.concat([uses, uses.head(500)]).write_parquet(directory / "uses.parquet")
    counted = uses.with_columns(plays=pl.int_range(pl.len()) % 9 + 1)
    never = uses.head(300).with_columns(item=pl.lit(teach.item_ids[0])).unique()
    never = never.join(uses, on=["user", "item"], how="anti").with_columns(plays=pl.lit(0))
    never = never.cast({"plays": pl.Int64})
    pl.concat([counted, never]).write_parquet(directory / "counts.parquet")
    gender = [teach.features["gender"].categories[k] for k in teach.features["gender"].codes]
    who = pl.DataFrame({"user": teach.user_ids.astype(np.int64), "gender": gender})
    who.write_parquet(directory / "people.parquet")
    return directory


def ndcg(scores: Callable[[Ratings], NDArray[np.float64]], new: Ratings) -> float:
    given, hidden = split_ratings(new, seed=0)
    every = scores(given)
    sets, looked_for = (Sets(part.user_offsets, part.item) for part in (given, hidden))
    return float(np.nanmean(rank_people(lambda some: every[some], sets, looked_for, 120).ndcg))


def by(profiles: ItemProfiles) -> Callable[[Ratings], NDArray[np.float64]]:
    """Score by profiles, whose items are those of the new people in the same order."""

    def scores(given: Ratings) -> NDArray[np.float64]:
        assert profiles.item_ids.tolist() == given.item_ids.tolist()
        x = estimate_profiles(profiles, given.user_offsets, given.item, given.value)
        return np.asarray(x @ profiles.vectors.T, np.float64)

    return scores


@pytest.mark.parametrize(("table", "columns"), [("uses", None), ("counts", COUNTS)])
def test_new_people_have_lists_as_good_as_from_memory(
    engine: Engine,
    tables: Path,
    people: tuple[Ratings, Ratings],
    table: str,
    columns: Columns | None,
) -> None:
    """The control recommends what is popular to everybody."""
    source = tables / f"{table}.parquet"
    read = engine.read(
        RatingsTables(source, tables / "people.parquet", columns, features=("gender",))
    )
    assert read.scale.is_unary
    profiles = train_on(read, FACTORIZER, scheme="dmpss")
    memory = FACTORIZER.fit(
        load(source, users=tables / "people.parquet", columns=columns), "gender"
    )
    assert profiles.statistics is not None
    assert memory.statistics is not None
    assert np.array_equal(profiles.statistics.users, memory.statistics.users)
    assert np.array_equal(profiles.statistics.count, memory.statistics.count)
    teach, new = people
    popular = np.bincount(teach.item, minlength=120).astype(np.float64)
    best, control = (
        ndcg(by(memory), new),
        ndcg(lambda given: np.tile(popular, (given.n_users, 1)), new),
    )
    assert best > 1.05 * control
    assert ndcg(by(profiles), new) > best - 0.2 * (best - control)
    assert profiles.offset.shape == memory.offset.shape


def test_a_feature_is_not_needed(engine: Engine, tables: Path) -> None:
    profiles = engine.read(RatingsTables(tables / "uses.parquet", None)).fit(FACTORIZER)
    assert profiles.offset.shape == (120, 0)
    assert profiles.noise_variance == 1 / profiles.provenance.configuration["sets"]["weight"]


@pytest.mark.parametrize(
    ("plays", "columns", "says"),
    [
        ([1, -2, 3], COUNTS, "a count of -2"),
        ([1, 2, 3], None, r"no column looks like the rating.*--count-column"),
        ([1, 2, 3], Columns(count="plays", rating="plays"), "ratings or one of counts, not both"),
    ],
)
def test_bad_counts_are_refused(
    engine: Engine, tmp_path: Path, plays: list[int], columns: Columns | None, says: str
) -> None:
    table = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "plays": plays})
    table.write_parquet(tmp_path / "plays.parquet")
    with pytest.raises(MidpointError, match=says):
        engine.read(RatingsTables(tmp_path / "plays.parquet", None, columns))
