"""`midpoint train --engine`: from tables on disk."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.analyst import disclose
from midpoint.errors import MidpointError
from tests.support.models.small_model import run
from tests.support.people.position_world import the_positions
from tests.support.tables.small_tables import train_tables


@pytest.mark.slow
def test_streaming_gives_what_memory_gives(
    parquet_tables: tuple[Path, Path], tmp_path: Path
) -> None:
    local = train_tables(parquet_tables, tmp_path / "local")
    stream = train_tables(parquet_tables, tmp_path / "stream", "--engine", "stream")
    np.testing.assert_allclose(stream.vectors, local.vectors, atol=2e-3)
    for chosen in (stream.choice, local.choice):  # which of both is luck: there are few people
        assert chosen is not None
        assert chosen.scheme in {"cmpss:shift=off:keep=0.25", "cmpss:keep=0.25"}
    assert stream.provenance.data_digest == local.provenance.data_digest
    assert stream.provenance.configuration["engine"] == "stream"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["local", "stream"]


def test_counterparts_are_learned_from_disk_too(
    parquet_tables: tuple[Path, Path], tmp_path: Path
) -> None:
    wanted = ("--counterparts", "sets")
    local = train_tables(parquet_tables, tmp_path / "local", *wanted)
    stream = train_tables(parquet_tables, tmp_path / "stream", "--engine", "stream", *wanted)
    assert stream.scheme == local.scheme == "cmpss"
    found, expected = the_positions(stream), the_positions(local)
    np.testing.assert_allclose(found.rate, expected.rate, atol=0.05)
    np.testing.assert_allclose(found.mean, expected.mean, atol=0.05)
    assert disclose(stream).items == disclose(local).items
    assert sorted(path.name for path in tmp_path.iterdir()) == ["local", "stream"]


def test_a_killed_run_goes_on(
    parquet_tables: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(*_given: object, **_more: object) -> None:
        raise MidpointError("killed")

    wanted = ("--engine", "stream", "--counterparts", "sets")
    with monkeypatch.context() as patch:
        patch.setattr("midpoint.analyst.engines.training.prepare", kill)
        with pytest.raises(MidpointError, match="killed"):
            train_tables(parquet_tables, tmp_path / "model", *wanted)
    assert [path.name for path in tmp_path.iterdir()] == ["model.unfinished"]
    # Item profiles are there already, so nothing is fitted again.
    monkeypatch.setattr("midpoint.analyst.engines.streaming.factorizer.alternate", kill)
    found = train_tables(parquet_tables, tmp_path / "model", *wanted)
    assert found.positions is not None
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    # The control: with nothing left of a run, it is fitted.
    with pytest.raises(MidpointError, match="killed"):
        train_tables(parquet_tables, tmp_path / "other", *wanted)


@pytest.mark.parametrize("engine", ["stream", "spark"])
@pytest.mark.parametrize(
    "option",
    [
        ("--tune",),
        ("--at-least", "2"),
        ("--levels", "3"),
        ("--item-columns", "a,b"),
    ],
    ids="".join,
)
def test_options_that_need_memory_are_refused(
    parquet_tables: tuple[Path, Path], tmp_path: Path, engine: str, option: tuple[str, ...]
) -> None:
    with pytest.raises(MidpointError, match=f"{option[0]} needs --engine local"):
        run("train", parquet_tables[0], "--out", tmp_path / "m", "--engine", engine, *option)


@pytest.mark.parametrize(
    ("engine", "option", "remedy"),
    [
        ("local", ("--master", "spark://host:7077"), "add --engine spark"),
        ("stream", ("--master", "spark://host:7077"), "add --engine spark"),
        ("spark", ("--threads", "3"), r"use --master 'local\[3\]'"),
    ],
)
def test_options_of_another_engine_are_refused(
    parquet_tables: tuple[Path, Path],
    tmp_path: Path,
    engine: str,
    option: tuple[str, ...],
    remedy: str,
) -> None:
    with pytest.raises(MidpointError, match=remedy):
        run("train", parquet_tables[0], "--out", tmp_path / "m", "--engine", engine, *option)


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
    parquet_tables: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    running = "pyspark.sql.SparkSession.getActiveSession"  # other tests may have started one
    monkeypatch.setattr(running, lambda: None)
    with pytest.raises(MidpointError, match="install Java 17 or newer"):
        run("train", parquet_tables[0], "--out", tmp_path / "m", "--engine", "spark")
