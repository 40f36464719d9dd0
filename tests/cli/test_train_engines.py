"""`midpoint train --engine` and `midpoint batch`, from tables on disk."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from pyspark.errors import PythonException
from typer.testing import CliRunner

from midpoint.analyst import ItemProfiles, disclose, report_weights
from midpoint.analyst.engines.spark.scores import Plan
from midpoint.analyst.service.state.model import Model
from midpoint.cli.app import app
from midpoint.cli.batch import spark as spark_for_a_command
from midpoint.data import PRESETS, simulate
from midpoint.errors import MidpointError
from midpoint.wire import correction, from_fixed, to_fixed
from tests.support.estimates import estimate


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write ratings and users as Parquet."""
    ratings = simulate(PRESETS["simulated-tiny"], seed=1).ratings
    folder = tmp_path_factory.mktemp("own")
    gender = ratings.feature("gender")
    columns: dict[str, Any] = {"user": ratings.user, "film": ratings.item, "stars": ratings.value}
    pl.DataFrame(columns).write_parquet(folder / "ratings.parquet")
    people = {"user": np.arange(ratings.n_users), "gender": np.array(["F", "M"])[gender.codes]}
    pl.DataFrame(people).write_parquet(folder / "users.parquet")
    return folder / "ratings.parquet", folder / "users.parquet"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(
        app, [str(word) for word in arguments], catch_exceptions=False, env={"COLUMNS": "200"}
    )
    assert result.exit_code == 0, result.output
    return result.output


def train(tables: tuple[Path, Path], out: Path, *more: object) -> ItemProfiles:
    ratings, users = tables
    said = run(
        "train", ratings, "--users", users, "--feature", "gender", "--dimension", 3,
        "--iterations", 4, "--out", out, *more,
    )  # fmt: skip
    assert "60 item profiles of dimension 3" in said
    return ItemProfiles.load(out)


def test_streaming_gives_what_memory_gives(tables: tuple[Path, Path], tmp_path: Path) -> None:
    local = train(tables, tmp_path / "local")
    stream = train(tables, tmp_path / "stream", "--engine", "stream")
    np.testing.assert_allclose(stream.vectors, local.vectors, atol=2e-3)
    assert stream.positions is None  # which takes everyone at once
    assert stream.provenance.data_digest == local.provenance.data_digest
    assert stream.provenance.configuration["engine"] == "stream"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["local", "stream"]


@pytest.mark.parametrize("engine", ["stream", "spark"])
@pytest.mark.parametrize(
    "option",
    [
        ("--tune",),
        ("--at-least", "2"),
        ("--levels", "3"),
        ("--item-columns", "a,b"),
        ("--counterparts", "sets"),
        ("--counterparts", "values"),
    ],
    ids="".join,
)
def test_options_that_need_memory_are_refused(
    tables: tuple[Path, Path], tmp_path: Path, engine: str, option: tuple[str, ...]
) -> None:
    with pytest.raises(MidpointError, match=f"{option[0]} needs --engine local"):
        run("train", tables[0], "--out", tmp_path / "m", "--engine", engine, *option)


@pytest.mark.parametrize(
    ("engine", "option", "remedy"),
    [
        ("local", ("--master", "spark://host:7077"), "add --engine spark"),
        ("stream", ("--master", "spark://host:7077"), "add --engine spark"),
        ("spark", ("--threads", "3"), r"say --master 'local\[3\]'"),
    ],
)
def test_options_of_another_engine_are_refused(
    tables: tuple[Path, Path], tmp_path: Path, engine: str, option: tuple[str, ...], remedy: str
) -> None:
    with pytest.raises(MidpointError, match=remedy):
        run("train", tables[0], "--out", tmp_path / "m", "--engine", engine, *option)


def test_an_address_of_users_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def take(_engine: object, tables: object, *_rest: object) -> None:
        given.append(tables)
        raise MidpointError("enough")

    monkeypatch.setattr("midpoint.cli.train.fit_from_tables", take)
    addresses = "hdfs://cluster:8020/ratings", "hdfs://cluster:8020/users"
    with pytest.raises(MidpointError, match="enough"):
        run("train", addresses[0], "--users", addresses[1], "--engine", "spark", "--out",
            tmp_path / "m")  # fmt: skip
    assert (given[0].source, given[0].users) == addresses


def test_without_java_spark_says_what_to_install(
    tables: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MidpointError, match="install Java 17 or newer"):
        run("train", tables[0], "--out", tmp_path / "m", "--engine", "spark")


def test_a_worker_without_midpoint_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midpoint.analyst.engines.spark.open_session", lambda _master: Any)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: Any)  # none is stopped
    said = "Traceback ...\nModuleNotFoundError: No module named 'midpoint'\n"
    remedy = r"lacks .*No module named 'midpoint'\); install midpoint\[spark\] on every machine"
    with pytest.raises(MidpointError, match=remedy), spark_for_a_command(None):
        raise PythonException(said)
    # Anything else that fails there is not explained away.
    with pytest.raises(PythonException, match="ZeroDivisionError"), spark_for_a_command(None):
        raise PythonException("ZeroDivisionError: division by zero")


@pytest.fixture(scope="module")
def model(tables: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scored") / "model"
    train(tables, out)
    return out


def plan_of(model: Path, monkeypatch: pytest.MonkeyPatch, *more: object) -> Plan:
    """Return what `midpoint batch score` would score by, without Spark."""
    given: list[Plan] = []

    def take(_reports: object, plan: Plan) -> None:
        given.append(plan)
        raise MidpointError("enough")

    monkeypatch.setattr("midpoint.cli.batch.spark", nullcontext)
    monkeypatch.setattr("midpoint.analyst.engines.spark.open_parquet", lambda *_: None)
    monkeypatch.setattr("midpoint.analyst.engines.spark.require_new_address", lambda *_: None)
    monkeypatch.setattr("midpoint.analyst.engines.spark.scores.score_people", take)
    with pytest.raises(MidpointError, match="enough"):
        run("batch", "score", model, "reports", "--out", "nowhere", *more)
    return given[0]


def test_batches_are_scored_by_what_was_disclosed(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = ItemProfiles.load(model)
    told = disclose(profiles)
    plan = plan_of(model, monkeypatch)
    assert plan.scorer.weights is not None
    np.testing.assert_array_equal(plan.scorer.weights, report_weights(profiles, told))
    assert plan.scorer.weights.max() < 1
    rounded = disclose(profiles, "mpr")
    (tmp_path / "told.json").write_bytes(rounded.raw)
    other = plan_of(model, monkeypatch, "--disclosure", tmp_path / "told.json")
    np.testing.assert_array_equal(other.scorer.weights, 1.0)
    offsets = from_fixed(other.scorer.corrections)[profiles.message_index]
    np.testing.assert_array_equal(offsets, from_fixed(correction(rounded))[profiles.message_index])
    assert not np.array_equal(other.scorer.corrections, plan.scorer.corrections)
    half = plan_of(model, monkeypatch, "--alpha", 0.5)
    np.testing.assert_array_equal(half.scorer.weights, report_weights(profiles, told, alpha=0.5))
    assert plan_of(model, monkeypatch, "--estimator", "least-squares").scorer.weights is None


@pytest.mark.slow
@pytest.mark.spark
def test_train_obfuscate_and_score_on_spark(
    spark: Any, tables: tuple[Path, Path], tmp_path: Path
) -> None:
    ratings, users = tables
    model = tmp_path / "model"
    profiles = train(tables, model, "--engine", "spark", "--master", "local[2]")
    assert profiles.provenance.configuration["engine"] == "spark"
    (tmp_path / "told.json").write_bytes(disclose(profiles).raw)
    copy, scores = tmp_path / "copy", tmp_path / "scores"
    said = run(
        "batch", "obfuscate", ratings, "--users", users, "--disclosure", tmp_path / "told.json",
        "--seed", 1, "--out", copy, "--master", "local[2]",
    )  # fmt: skip
    revealed = pl.read_parquet(copy / "*.parquet")
    assert 0 < revealed.height < pl.read_parquet(ratings).height
    assert f"{revealed.height:,} of" in said
    run("batch", "score", model, copy, "--disclosure", tmp_path / "told.json", "--top", 2,
        "--margin", 3, "--out", scores, "--master", "local[2]")  # fmt: skip
    found = pl.read_parquet(scores / "*.parquet")
    assert found.height == revealed["user"].n_unique()
    assert set(found["items"].list.len().unique()) == {2 * (2 + 3)}
    hers = revealed.filter(pl.col("user") == found["user"][0])
    answers = dict(zip(hers["item"], to_fixed(hers["rating"].to_numpy()).tolist(), strict=True))
    belief = estimate(Model(profiles, disclose(profiles)), answers)
    np.testing.assert_allclose(found["profile"][0].to_numpy(), belief.mean, atol=1e-4)
    # What must not be there yet, and what must be there, is named; the session goes on.
    with pytest.raises(MidpointError, match="is there already; name a new folder"):
        run("batch", "score", model, copy, "--out", scores)
    with pytest.raises(MidpointError, match="nowhere cannot be read as Parquet"):
        run("batch", "score", model, tmp_path / "nowhere", "--out", tmp_path / "more")
    with pytest.raises(MidpointError, match="the reports have no column item, rating"):
        run("batch", "score", model, users, "--out", tmp_path / "more")
    assert spark.range(3).count() == 3
