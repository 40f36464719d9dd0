"""One contract for all engines: the results of `Factorizer.fit` from ratings in memory."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from midpoint.analyst import (
    CategoryEstimates,
    CategoryStatistics,
    CollectedReports,
    Factorizer,
    ItemProfiles,
    Progress,
    disclose,
    tally,
)
from midpoint.analyst.engines import (
    Engine,
    RatingsTables,
    ReadRatings,
)
from midpoint.analyst.engines.streaming import fit_from_disk, scan
from midpoint.analyst.fit.tuning import new_user_errors
from midpoint.data import (
    Ratings,
    Scale,
    SimulationConfig,
    hold_out,
    load,
    simulate,
    user_folds,
    with_known,
)
from midpoint.data.simulation import SimulatedFeature
from midpoint.data.tables.columns import Columns
from midpoint.errors import MidpointError
from tests.support.tables.tables_on_disk import FROM_DISK, Tables, write
from tests.support.tables.two_kinds import QUICK, two_kinds, write_panel

PEOPLE = SimulationConfig(
    name="people",
    users=1200,
    items=150,
    ratings=48_000,
    features=(
        SimulatedFeature("gender", ("F", "M"), (0.3, 0.7), bias_sd=0.2, selection_sd=0.3),
        SimulatedFeature("party", ("D", "I", "R"), bias_sd=0.2, selection_sd=0.2, missing=0.1),
    ),
    dimension=4,
    scale=Scale.stars(1, 5),
    user_mean_sd=0.3,
    popularity_sd=1.2,
    activity_sd=0.7,
)
BOTH = ("gender", "party")
LACKS = "1 rows lack a user|there is no (user|item)"


def read(
    engine: Engine, source: Path, users: Path | None, features: tuple[str, ...] = (), **how: Any
) -> ReadRatings:
    return engine.read(RatingsTables(source, users, features=features, **how))


@cache
def drawn(*, continuous: bool) -> Ratings:
    config = replace(PEOPLE, scale=None) if continuous else PEOPLE
    return simulate(config, seed=3).ratings


@pytest.fixture(scope="module")
def stars(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return write(drawn(continuous=False), tmp_path_factory.mktemp("stars"))


@pytest.fixture(scope="module")
def smooth(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return write(drawn(continuous=True), tmp_path_factory.mktemp("smooth"))


def require_equal(found: CategoryStatistics, expected: CategoryStatistics) -> None:
    assert np.array_equal(found.users, expected.users)
    assert np.array_equal(found.count, expected.count)
    np.testing.assert_allclose(found.total, expected.total, rtol=1e-9)
    np.testing.assert_allclose(found.square, expected.square, rtol=1e-9)
    assert found.crossed == expected.crossed
    if expected.level_count is None:
        assert found.level_count is None
    else:
        assert np.array_equal(found.level_count, expected.level_count)  # type: ignore[arg-type]


@pytest.mark.parametrize("feature", [("gender",), BOTH])
def test_statistics_are_those_of_memory(
    engine: Engine, stars: Tables, feature: tuple[str, ...]
) -> None:
    found = read(engine, stars.directory, stars.users, feature).tally()
    expected = tally(stars.ratings, stars.ratings.feature(*feature))
    require_equal(found, expected)
    one, other = CategoryEstimates(found), CategoryEstimates(expected)
    for name in ("centre", "offset", "probability", "levels"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)


def test_statistics_of_a_continuous_scale_are_those_of_memory(
    engine: Engine, smooth: Tables
) -> None:
    scale = drawn(continuous=True).scale
    found = read(engine, smooth.directory, smooth.users, ("gender",), scale=scale).tally()
    whole = load(smooth.beside.with_name("ratings.parquet"), users=smooth.users, scale=scale)
    require_equal(found, tally(whole, whole.feature("gender")))
    assert found.level_count is None


def test_ratings_in_no_levels_are_rounded_as_in_memory(engine: Engine, smooth: Tables) -> None:
    found = read(engine, smooth.directory, smooth.users, ("gender",))
    assert found.scale == smooth.ratings.scale
    assert found.scale.is_discrete
    require_equal(found.tally(), tally(smooth.ratings, smooth.ratings.feature("gender")))


def test_a_sample_holds_all_ratings_of_some_people(engine: Engine, stars: Tables) -> None:
    found = read(engine, stars.directory, stars.users, BOTH)
    some = found.sample(300, seed=1)
    assert 200 < some.n_users < 400
    everyone = with_known(stars.ratings, *BOTH)
    theirs = everyone.select_users(np.isin(everyone.user_ids, some.user_ids))
    assert (theirs.n_users, len(theirs)) == (some.n_users, len(some))
    assert theirs.value.sum() == some.value.sum()
    assert some.scale == theirs.scale
    counts = [ratings.feature(*BOTH).counts.tolist() for ratings in (some, theirs)]
    assert counts[0] == counts[1]
    assert found.sample(300, seed=2).user_ids.tolist() != some.user_ids.tolist()


def test_a_feature_may_stand_beside_every_rating(engine: Engine, stars: Tables) -> None:
    found = read(engine, stars.beside, None, BOTH).tally()
    require_equal(found, tally(stars.ratings, stars.ratings.feature(*BOTH)))


def test_blanks_around_names_make_nobody_new(engine: Engine, tmp_path: Path) -> None:
    rows = {
        "user": ["ann", "ann ", "bob", "\tbob"],
        "item": ["a", "b", "a ", "b"],
        "rating": [1, 2, 2, 1],
        "gender": ["F", "F", "M", "M"],
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    found = read(engine, tmp_path / "rows.parquet", None, ("gender",)).tally()
    assert found.users.tolist() == [1, 1]
    assert found.count.tolist() == [[1, 1], [1, 1]]


def test_a_nan_is_no_category(engine: Engine, tmp_path: Path) -> None:
    nan = float("nan")
    rows = {
        "user": ["ann", "ann", "bob", "bob", "cid", "cid"],
        "item": ["a", "b", "a", "b", "a", "b"],
        "rating": [1, 2, 2, 1, 1, 1],
        "class": [1.0, nan, 2.0, 2.0, nan, nan],
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    people = {"user": ["ann", "bob", "cid"], "class": [1.0, 2.0, nan]}
    pl.DataFrame(people).write_parquet(tmp_path / "people.parquet")
    for users in (None, tmp_path / "people.parquet"):
        counted = read(engine, tmp_path / "rows.parquet", users, ("class",)).tally()
        assert counted.users.tolist() == [1, 1]
        assert counted.count.tolist() == [[1, 1], [1, 1]]


def test_new_users_are_predicted_as_well_as_from_memory(
    engine: Engine, stars: Tables, tmp_path: Path
) -> None:
    ratings = stars.ratings
    training, held_out = hold_out(ratings, user_folds(ratings.n_users, 5, seed=0), 0)
    # Both get the training users only; all items are kept, so that the profiles compare.
    tables = write(
        replace(training, item_ids=np.char.replace(training.item_ids, "film ", "")), tmp_path
    )
    factorizer = Factorizer(dimension=4)
    found = read(engine, tables.directory, tables.users, ("gender",)).fit(factorizer)
    expected = factorizer.fit(training, "gender")

    def rmse(profiles: ItemProfiles) -> float:
        return float(np.sqrt((new_user_errors(profiles, held_out, seed=0) ** 2).mean()))

    assert abs(rmse(found) / rmse(expected) - 1) < 0.01
    # The control: without taste, the same prior and levels miss by more than the bound.
    blind = replace(expected, vectors=expected.vectors * (np.arange(5) == 0).astype(np.float32))
    assert rmse(blind) / rmse(expected) - 1 > 0.02
    assert found.noise_variance == pytest.approx(expected.noise_variance, rel=0.03)
    # Effects are shrunken along the tastes found, so they follow the vectors, and closely.
    np.testing.assert_allclose(found.offset, expected.offset, atol=1e-3)
    np.testing.assert_allclose(found.centre, expected.centre, atol=0.2)
    assert found.item_ids.tolist() == expected.item_ids.tolist()
    assert found.item_names[0] == found.item_ids[0].upper()
    assert (found.scale, found.features) == (expected.scale, expected.features)
    found.save(tmp_path / "model")
    loaded = ItemProfiles.load(tmp_path / "model")
    assert disclose(loaded, "dmpss").items == disclose(expected, "dmpss").items


def test_reports_teach_items_beside_a_panel(engine: Engine, tmp_path: Path) -> None:
    world = two_kinds()
    words = {"user": pl.String, "item": pl.String}
    for name in write_panel(world.panel, tmp_path)[::2]:
        cells = pl.read_csv(name, schema_overrides=words)
        cells.write_parquet(Path(name).with_suffix(".parquet"))
    table, users = tmp_path / "panel.parquet", tmp_path / "people.parquet"

    def fit(**how: Any) -> ItemProfiles:
        known = {"scale": world.panel.scale, **how}
        return read(engine, table, users, ("gender",), **known).fit(QUICK)

    alone, both = fit(), fit(reports=world.reports())
    assert both.item_ids.tolist() == world.panel.item_ids.tolist()
    assert both.statistics is not None
    assert int(both.statistics.users.sum()) == world.panel.n_users  # reports teach no category
    assert both.provenance.configuration["reports"]["people"] > 100
    in_memory = world.error(world.both())
    assert world.error(both) == pytest.approx(in_memory, rel=0.01)
    # The control: the panel alone misses by more than the bound.
    assert world.error(alone) > 1.02 * in_memory
    with pytest.raises(MidpointError, match="no report of reports can be used"):
        fit(reports=CollectedReports(world.answers, {}))


@pytest.mark.slow
@pytest.mark.real_data
def test_new_users_of_a_real_data_set_are_predicted_as_well(
    engine: Engine, real: Callable[[str], Path], tmp_path: Path
) -> None:
    ratings = load(real("ml-100k.zip"))
    ratings = replace(ratings, item_ids=np.char.zfill(ratings.item_ids, 4))  # words in their order
    training, held_out = hold_out(ratings, user_folds(ratings.n_users, 5, seed=0), 0)
    tables = write(training, tmp_path, word="")
    factorizer = Factorizer(dimension=10)
    found = read(engine, tables.directory, tables.users, ("gender",)).fit(factorizer)
    expected = factorizer.fit(tables.ratings, "gender")
    # Items that no training user rated are in neither model.
    kept = held_out.select_items(np.isin(held_out.item_ids, found.item_ids))
    assert kept.item_ids.tolist() == found.item_ids.tolist() == expected.item_ids.tolist()
    errors = [np.sqrt((new_user_errors(p, kept, seed=0) ** 2).mean()) for p in (found, expected)]
    assert errors[0] / errors[1] - 1 < 0.01


def test_a_given_regularization_is_taken_for_many_iterations(
    engine: Engine, smooth: Tables
) -> None:
    factorizer = Factorizer(dimension=3, regularization=0.05, iterations=20, biases="plain")
    reported: list[Progress] = []
    found = read(engine, smooth.directory, smooth.users).fit(factorizer, reported.append)
    done = [progress.iteration for progress in reported]
    assert done == sorted(done)
    assert reported[-1][:2] == (20, 20)
    assert reported[-1].rmse == pytest.approx(found.noise_variance**0.5, rel=0.02)
    assert found.offset.shape == (150, 0)
    assert found.statistics is None
    expected = factorizer.fit(smooth.ratings)
    assert found.noise_variance == pytest.approx(expected.noise_variance, rel=0.05)


@pytest.mark.parametrize(
    ("settings", "how", "message"),
    [
        ({"method": "sgd"}, {}, "--method sgd needs --engine local"),
        ({"validation": 0.1}, {}, "--validation 0.1 needs --engine local"),
        ({"biases": "joint"}, {}, "--biases joint needs --engine local"),
        ({}, {"columns": Columns(time="when")}, "--time-column has no effect"),
    ],
)
@pytest.mark.parametrize("engine", FROM_DISK, indirect=True)
def test_what_only_memory_can_do_is_refused(
    engine: Engine, stars: Tables, settings: dict[str, Any], how: dict[str, Any], message: str
) -> None:
    with pytest.raises(MidpointError, match=message):
        read(engine, stars.directory, stars.users, **how).fit(Factorizer(dimension=2, **settings))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"scale": Scale.stars(1, 4)}, "rating 5 is not on the scale"),
        ({"columns": Columns(item="film")}, "no column 'film'"),
    ],
)
def test_what_the_tables_lack_is_refused(
    engine: Engine, stars: Tables, how: dict[str, Any], message: str
) -> None:
    with pytest.raises(MidpointError, match=message):
        read(engine, stars.directory, stars.users, **how)


@pytest.mark.parametrize("engine", FROM_DISK, indirect=True)
def test_names_with_a_decimal_point_are_refused(engine: Engine, tmp_path: Path) -> None:
    rows = {"user": [1.5, 2], "item": ["a", "b"], "rating": [1, 2]}
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(MidpointError, match="whole numbers or words"):
        read(engine, tmp_path / "rows.parquet", None)


def test_counting_needs_a_feature(engine: Engine, stars: Tables) -> None:
    with pytest.raises(MidpointError, match="was read without a feature; name one"):
        read(engine, stars.directory, stars.users).tally()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"user": [1, 2, 1], "item": ["a", "b", "a"], "rating": [1, 2, 3]}, "one rating for each"),
        ({"user": [1, None], "item": ["a", "b"], "rating": [1, 2]}, LACKS),
        ({"user": [1, 2], "item": ["a", " "], "rating": [1, 2]}, LACKS),
        ({"user": [1, 2], "item": ["a", "\t"], "rating": [1, 2]}, LACKS),
        (
            {"user": [1, 2], "item": ["a", "b"], "rating": [1.0, float("nan")]},
            "finite|there is no rating",
        ),
        (
            {"user": [1, 2], "item": ["a", "b"], "rating": ["1", "x"]},
            "finite rating|'x' .*is not a number",
        ),
        ({"who": [1, 2], "item": ["a", "b"], "rating": [1, 2]}, "looks like the user"),
    ],
)
def test_bad_rows_are_refused(
    engine: Engine, tmp_path: Path, rows: dict[str, list[Any]], message: str
) -> None:
    path = tmp_path / "rows.parquet"
    pl.DataFrame(rows, strict=False).write_parquet(path)
    with pytest.raises(MidpointError, match=message):
        read(engine, path, None).fit(Factorizer(dimension=1))


@pytest.mark.parametrize(
    ("people", "message"),
    [
        ({"user": [1, 1], "gender": ["F", "M"]}, "user 1 appears"),
        ({"user": [7, 8], "gender": ["F", "M"]}, "knows none of the"),
        ({"user": [1, 2], "gender": ["F", "F"]}, "1 category only"),
        ({"user": [1, 2], "sex": ["F", "M"]}, "no user feature 'gender'"),
    ],
)
def test_bad_people_are_refused(
    engine: Engine, tmp_path: Path, people: dict[str, list[Any]], message: str
) -> None:
    rows = {"user": [1, 2], "item": ["a", "b"], "rating": [1, 2]}
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    pl.DataFrame(people).write_parquet(tmp_path / "people.parquet")
    where = (tmp_path / "rows.parquet", tmp_path / "people.parquet")
    with pytest.raises(MidpointError, match=message):
        read(engine, *where, ("gender",)).fit(Factorizer(dimension=1))


def test_a_disk_that_is_too_small_is_named_before_it_is_full(
    stars: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = scan(stars.directory)

    def left(_directory: object) -> Any:
        return SimpleNamespace(free=36 * looked.ratings - 1)

    monkeypatch.setattr("midpoint.analyst.engines.streaming.factorizer.shutil.disk_usage", left)
    with pytest.raises(MidpointError, match=rf"{tmp_path} has 0.0 GB left.*; make room"):
        fit_from_disk(Factorizer(dimension=1), looked, workspace=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_source_that_is_not_there_is_named(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="nowhere"):
        read(engine, tmp_path / "nowhere", None)
