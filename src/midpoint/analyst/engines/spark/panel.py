"""The people whom positions are learned from, on a cluster.

A sample of them comes to this machine. Where there are more, workers find the positions of everyone
and send sums: some partitions at a time, so that a killed run goes on after those that are done.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import Broadcast
from pyspark.sql import Row

from midpoint.analyst.counterparts.checkpoint import Checkpoint
from midpoint.analyst.counterparts.everyone import Expectation
from midpoint.analyst.counterparts.panel import PART, Group, Totals, is_taken, keys_of
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.engines.spark.blocks import BLOCK, whole_users
from midpoint.analyst.engines.spark.reader import RatingsFrame
from midpoint.analyst.fit.positions import Float

SUMS = "sums binary"
IN_A_GROUP = 2**18
"""Ratings that a worker looks at together, about."""


@dataclass(frozen=True, eq=False)
class SparkPanel:
    """People of known category whose ratings are on a cluster."""

    ratings: RatingsFrame
    """Their ratings, and everyone else's."""
    seed: int = 0
    """Part of the keys."""

    def take(self, shares: Float) -> People:
        """Bring a share of each category to this machine."""
        known = self.ratings.frame.where("category >= 0")
        if (shares < 1).any():
            known = known.mapInArrow(_Take(shares, self.seed), known.schema)
        rows = pl.DataFrame(known.toArrow()).sort("category", "user", "index")
        first = rows["user"].ne_missing(rows["user"].shift()).to_numpy()
        starts = np.flatnonzero(first)
        return People.gather(
            np.append(starts, rows.height).astype(np.int64),
            rows["index"].to_numpy(),
            rows["rating"].to_numpy(),
            rows["category"].to_numpy()[starts],
            len(shares),
        )

    def add_up(
        self,
        work: Callable[[Group], Totals],
        checkpoint: Checkpoint,
        progress: Callable[[float], None],
    ) -> Totals:
        """Let workers do it; a checkpoint is kept whenever some partitions are done."""
        context = self.ratings.frame.sparkSession.sparkContext
        cores = context.defaultParallelism
        partitions = max(cores, ceil(self.ratings.ratings / BLOCK))
        apart = self.ratings.frame.where("category >= 0").repartition(partitions, "user")
        alone = replace(work, threads=1) if isinstance(work, Expectation) else work
        step = _AddUp(context.broadcast(alone), self.seed)
        sums = apart.sortWithinPartitions("user", "index").mapInArrow(step, SUMS).rdd
        before = checkpoint.load(PART)
        done = 0
        parts: list[Totals] = []
        if before is not None and int(before.pop("partitions")) == partitions:
            done = int(before.pop("done"))
            parts = [Totals(**before)]
        while done < partitions:
            some = range(done, min(done + _at_once(cores), partitions))
            parts += [_read(row) for row in context.runJob(sums, _rows, list(some))]
            parts = [reduce(Totals.plus, parts)] if parts else []
            done = some.stop
            if parts:
                facts = {"done": np.array(done), "partitions": np.array(partitions)}
                checkpoint.save(PART, **facts, **parts[0]._asdict())
            progress(done / partitions)
        if not parts:
            raise ValueError("there are no people to add up")
        return parts[0]


@dataclass(frozen=True)
class _Take:
    """Keeps the rows of those who are in a sample."""

    shares: Float
    seed: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            user = batch.column("user").dictionary_encode()
            key = keys_of(user.dictionary.to_pylist(), self.seed)[user.indices.to_numpy()]
            category = batch.column("category").to_numpy()
            yield batch.filter(pa.array(is_taken(key, category, self.shares)))


@dataclass(frozen=True)
class _AddUp:
    """Does work on everyone whose rows come by user, and sends the sums."""

    work: Broadcast[Callable[[Group], Totals]]
    seed: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total: Totals | None = None
        for table, starts in whole_users(batches, IN_A_GROUP):
            result = self.work.value(_group(table, starts, self.seed))
            total = result if total is None else total.plus(result)
        if total is not None:
            content = io.BytesIO()
            np.savez(content, **total._asdict())
            yield pa.RecordBatch.from_arrays(
                [pa.array([content.getvalue()], pa.binary())], ["sums"]
            )


def _group(table: pa.Table, starts: NDArray[np.int64], seed: int) -> Group:
    names = table["user"].take(pa.array(starts)).to_pylist()
    return Group(
        keys_of(names, seed),
        table["category"].to_numpy()[starts].astype(np.int64),
        np.append(starts, len(table)).astype(np.int64),
        table["index"].to_numpy(),
        table["rating"].to_numpy(),
    )


def _at_once(cores: int) -> int:
    """Return how many partitions are done between two checkpoints."""
    return 4 * cores


def _rows(rows: Iterable[Row]) -> list[Row]:
    return list(rows)


def _read(row: Any) -> Totals:
    with np.load(io.BytesIO(row["sums"])) as file:
        return Totals(**{name: file[name] for name in Totals._fields})
