"""Ratings packed into blocks: one row of the cluster's table holds many whole users."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import Broadcast, TaskContext
from pyspark.sql import DataFrame

from midpoint.analyst.fit.assembly import Unit

BLOCK = 2**20
"""Ratings in a block, about; a user is never cut in two."""
SCHEMA = (
    "block long, users int, ratings long, total double, square double, again long, hashed binary,"
    " offsets binary, item binary, value binary"
)
HASH = 32
"""Bytes of a hash."""
IN_A_PARTITION = 2**32
"""Blocks are numbered from here on in each partition."""


class Block(NamedTuple):
    """Some users' ratings; n ratings of u users."""

    number: int
    """Which block it is."""
    offsets: NDArray[np.int64]
    """Where each user's ratings begin. Shape (u + 1,)."""
    item: NDArray[np.int32]
    """Items. Shape (n,)."""
    value: NDArray[np.float32]
    """Ratings without what the users' categories add, standardized. Shape (n,)."""

    @property
    def user(self) -> NDArray[np.int32]:
        """Whose each rating is, counted within the block. Shape (n,)."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))


@dataclass(frozen=True)
class Pack:
    """Makes blocks of rows that come by user and item; runs on the workers."""

    offset: Broadcast[NDArray[np.float64] | None]
    """What each category adds. Shape (M, K)."""
    size: int
    """Ratings in a block, about."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn rows into rows of `SCHEMA`."""
        context = TaskContext.get()
        number = (context.partitionId() if context else 0) * IN_A_PARTITION
        for k, (table, starts) in enumerate(whole_users(batches, self.size)):
            yield self._pack(table, starts, number + k)

    def _pack(self, table: pa.Table, starts: NDArray[np.int64], number: int) -> pa.RecordBatch:
        item, value = table["index"].to_numpy(), table["rating"].to_numpy()
        hashed = hash_users(table, starts).to_bytes(HASH, "big")
        offset = self.offset.value
        if offset is not None:
            category = table["category"].to_numpy()
            added = np.where(category >= 0, offset[item, category], 0.0)
            value = value - added.astype(np.float32)
        offsets = np.append(starts, len(item)).astype(np.int64)
        same = np.flatnonzero(np.diff(item) == 0) + 1
        again = same[~np.isin(same, offsets)]
        wide = value.astype(np.float64)
        row = (
            *(number, len(offsets) - 1, len(item), wide.sum(), (wide**2).sum(), len(again), hashed),
            *(offsets.tobytes(), item.tobytes(), value.tobytes()),
        )
        kinds = ("int64", "int32", "int64", "float64", "float64", "int64", *4 * ("binary",))
        names = [part.split()[0] for part in SCHEMA.split(",")]
        columns = [
            pa.array([x], k) for x, k in zip(row, map(pa.type_for_alias, kinds), strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names)


def pack(
    frame: DataFrame, offset: Broadcast[NDArray[np.float64] | None], partitions: int
) -> DataFrame:
    """Pack a table with the columns user, index, rating and category into blocks."""
    sorted_users = frame.repartition(partitions, "user").sortWithinPartitions("user", "index")
    return sorted_users.mapInArrow(Pack(offset, BLOCK), SCHEMA)


def hash_users(table: pa.Table, starts: NDArray[np.int64]) -> int:
    """Return the sum of the users' hashes, modulo 2^256.

    A user's is SHA-256 of her name and a zero byte, her category (int32), her items' numbers
    (int32) and her ratings (float32), little-endian, in the order of the items.
    """
    size = len(table)
    category = table["category"].to_numpy() if "category" in table.column_names else -np.ones(size)
    parts = [
        (category[starts].astype("<i4").tobytes(), np.arange(len(starts) + 1)),
        (table["index"].to_numpy().astype("<i4").tobytes(), np.append(starts, size)),
        (table["rating"].to_numpy().astype("<f4").tobytes(), np.append(starts, size)),
    ]
    names = table["user"].take(pa.array(starts)).to_pylist()
    total = 0
    for k, name in enumerate(names):
        hashed = hashlib.sha256(f"{name}\0".encode())
        for content, begin in parts:
            hashed.update(memoryview(content)[4 * begin[k] : 4 * begin[k + 1]])
        total += int.from_bytes(hashed.digest(), "big")
    return int(total % 2 ** (8 * HASH))


def unpacked(batches: Iterable[pa.RecordBatch], unit: Unit) -> Iterator[Block]:
    """Read blocks back, standardized."""
    for batch in batches:
        for row in batch.select(["block", "offsets", "item", "value"]).to_pylist():
            value = np.frombuffer(row["value"], np.float32)
            yield Block(
                row["block"],
                np.frombuffer(row["offsets"], np.int64),
                np.frombuffer(row["item"], np.int32),
                (value - np.float32(unit.level)) / np.float32(unit.spread),
            )


def whole_users(
    batches: Iterable[pa.RecordBatch], size: int
) -> Iterator[tuple[pa.Table, NDArray[np.int64]]]:
    """Gather rows that come by user into tables of about `size` rows, no user cut in two.

    Yields each table, and where its users' rows begin.
    """
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += len(batch)
        if rows >= size:
            table = pa.Table.from_batches(waiting)
            starts = _starts(table["user"])
            last = int(starts[-1])  # her rows may go on in the next batch
            waiting, rows = table.slice(last).to_batches(), len(table) - last
            if last:
                yield table.slice(0, last), starts[:-1]
    if rows:
        table = pa.Table.from_batches(waiting)
        yield table, _starts(table["user"])


def _starts(users: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return where each user's rows begin."""
    column = users.combine_chunks()
    changes = pc.not_equal(column.slice(1), column.slice(0, len(column) - 1))
    return np.append(0, np.flatnonzero(changes.to_numpy(zero_copy_only=False)) + 1)
