"""Run by a test in a process of its own: counts, fits and obfuscates on a cluster of processes.

Arguments: directory of the ratings, table of users, disclosure, and where to write what was found.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from midpoint.analyst import Factorizer
from midpoint.analyst.engines.spark import fit_on_spark, open_session, read_ratings
from midpoint.analyst.engines.spark.session import STACK
from midpoint.protocol.batch import Plan, obfuscate_people
from midpoint.wire import Disclosure

MASTER = "local-cluster[2,1,1024]"


def executor(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Tell whose child each worker is: the processes of the cluster."""
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"parent": [os.getppid()]})


def main(source: str, users: str, disclosure: str, out: str) -> None:
    """Do it and write what was found as JSON."""
    brief = os.environ["SPARK_SUBMIT_OPTS"]  # executors as the driver
    session = open_session(
        MASTER,
        driver_memory="1g",
        sql_shuffle_partitions="4",
        executor_extraJavaOptions=f"{STACK} {brief}",
    )
    ratings = read_ratings(session, source, users=users, features=["gender"])
    published = Disclosure.parse(Path(disclosure).read_bytes())
    plan = Plan.of(ratings, published, seed=5)
    copy = obfuscate_people(ratings, published, plan).toArrow()
    found = fit_on_spark(Factorizer(dimension=3, iterations=5), ratings)
    found.save(Path(out) / "model")
    parents = session.range(64).repartition(4).mapInArrow(executor, "parent long").distinct()
    facts = {
        "master": session.sparkContext.master,
        "processes": parents.count(),
        "copy": sorted(list(row.values()) for row in copy.to_pylist()),
    }
    session.stop()
    (Path(out) / "facts.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
