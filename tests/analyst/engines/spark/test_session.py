"""What is said on a machine that Spark cannot run on."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from midpoint.analyst.engines.spark import open_session, require_new_address
from midpoint.analyst.engines.spark.session import require_java
from midpoint.errors import MidpointError


def fake_java(directory: Path, says: str) -> None:
    (directory / "bin").mkdir()
    java = directory / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)


def test_without_java_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MidpointError, match="none on this machine; install Java 17 or newer"):
        require_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MidpointError, match="none in JAVA_HOME"):
        require_java()


@pytest.mark.parametrize("says", ['openjdk version "11.0.2"', 'java version "1.8.0_292"', "what?"])
def test_a_java_too_old_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str
) -> None:
    fake_java(tmp_path, says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MidpointError, match="too old for Spark; install Java 17"):
        require_java()


def test_java_17_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path, 'openjdk version "17.0.15" 2025-04-15')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    require_java()


def test_a_master_that_spark_does_not_know_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_builder: object) -> None:
        raise PySparkRuntimeError("Java exited\nand a stack", messageParameters={})

    monkeypatch.setattr("midpoint.analyst.engines.spark.session.require_java", lambda: None)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", refuse)
    with pytest.raises(MidpointError, match=r"on nonsense \(Java exited\); name a master") as said:
        open_session("nonsense")
    assert "stack" not in str(said.value)


@pytest.mark.slow
@pytest.mark.spark
def test_a_directory_to_write_is_looked_at_first(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="is there already; name a new directory"):
        require_new_address(spark, str(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(MidpointError, match="cannot be written"):
        require_new_address(spark, str(tmp_path / "file" / "copy"))
    with pytest.raises(MidpointError, match=r"cannot be written .*nofs"):
        require_new_address(spark, "nofs://somewhere/copy")
    require_new_address(spark, (tmp_path / "copy of all").as_uri())
    require_new_address(spark, str(tmp_path / "new" / "copy"))
    assert not (tmp_path / "copy of all").exists()
    assert not (tmp_path / "new" / "copy").exists()
