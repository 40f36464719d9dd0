"""A cluster of several processes gives what this machine gives."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyspark
import pytest

from midpoint.analyst import Factorizer, ItemProfiles, disclose, tally
from midpoint.analyst.engines.spark import RatingsFrame
from midpoint.analyst.fit.tuning import new_user_errors
from midpoint.data import Simulation, hold_out, user_folds
from midpoint.protocol.batch import Plan, obfuscate_table
from tests.support.tables import on_a_cluster
from tests.support.tables.tables_on_disk import write

JAVA_IN_BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Compiling thoroughly would take longer than the test."""


def spark_home(directory: Path) -> Path:
    """Make a Spark home that can be written, as a cluster of local processes needs one."""
    directory.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (directory / entry.name).symlink_to(entry)
    return directory


@pytest.mark.slow
@pytest.mark.spark
def test_two_processes_find_what_one_does(stars: Simulation, tmp_path: Path) -> None:
    training, held_out = hold_out(stars.ratings, user_folds(stars.ratings.n_users, 5, seed=0), 0)
    tables = write(training, tmp_path)
    ratings = tables.ratings
    factorizer = Factorizer(dimension=3, iterations=5)
    expected = factorizer.fit(ratings, "gender")
    disclosure = disclose(expected, "dmpss")
    (tmp_path / "disclosure.json").write_bytes(disclosure.raw)
    home = spark_home(tmp_path / "spark")
    program = Path(on_a_cluster.__file__)
    arguments = (tables.directory, tables.users, tmp_path / "disclosure.json", tmp_path)
    done = subprocess.run(
        [sys.executable, str(program), *map(str, arguments)],
        env={**os.environ, "SPARK_HOME": str(home), "SPARK_SUBMIT_OPTS": JAVA_IN_BRIEF},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert facts["master"] == "local-cluster[2,1,1024]"
    assert facts["processes"] == 2

    found = ItemProfiles.load(tmp_path / "model")
    assert found.statistics is not None
    counted = tally(ratings, ratings.feature("gender"))
    assert np.array_equal(found.statistics.count, counted.count)
    np.testing.assert_allclose(found.statistics.total, counted.total, rtol=1e-9)

    def rmse(profiles: ItemProfiles) -> float:
        return float(np.sqrt((new_user_errors(profiles, held_out, seed=0) ** 2).mean()))

    assert abs(rmse(found) / rmse(expected) - 1) < 0.01

    gender = ratings.feature("gender")
    known = RatingsFrame(
        None, ratings.name, len(ratings), ratings.item_ids, ratings.item_names,  # type: ignore[arg-type]
        ratings.scale, gender, gender.counts,
    )  # fmt: skip
    rows = pa.table(
        {
            "user": ratings.user_ids[ratings.user].astype(np.int64),
            "index": ratings.item,
            "rating": ratings.value,
            "category": gender.codes[ratings.user].astype(np.int32),
        }
    )
    begin = ratings.user_offsets[:-1][np.diff(ratings.user_offsets) > 0]
    whole = obfuscate_table(rows, begin, Plan.of(known, disclosure, seed=5)).to_pylist()
    assert facts["copy"] == sorted(list(row.values()) for row in whole)
