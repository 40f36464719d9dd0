"""What workers do to blocks: the steps of the solver in memory, users here and items there.

A pass goes over all users, each with the items as they stand, and sends the users' profiles to
the workers that have their items; those fit the items again. One row of a table carries what goes
from one block to one part of the items, so that Spark moves few, large rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import Broadcast

from midpoint.analyst.engines.spark.blocks import Block, unpacked
from midpoint.analyst.engines.spark.solver import State, Sums, fit_items, fit_users, user_levels
from midpoint.analyst.fit.als import Side
from midpoint.analyst.fit.assembly import Unit

Float = NDArray[np.float64]

SUMS = -1
"""The part that a block's sums go to, instead of items."""
SENT = "part int, user binary, item binary, value binary, profile binary, variance binary"
FOUND = "rows long, mean binary, square binary, spread binary, error double, ratings long, \
item binary, profile binary, variance binary"
LEVELS = "item int, total double, count long"
RESIDUALS = "user int, item int, residual float"


@dataclass(frozen=True)
class SumUpUsers:
    """Fits users and keeps their sums only."""

    state: Broadcast[State]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn blocks into rows of `FOUND`."""
        state = self.state.value
        for block in unpacked(batches, state.unit):
            _, sums = fit_users(block, state)
            yield _found(sums, np.empty(0, np.int32), None)


@dataclass(frozen=True)
class SendUsers:
    """Fits users and sends them to where their items are."""

    state: Broadcast[State]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn blocks into rows of `SENT`."""
        state = self.state.value
        for block in unpacked(batches, state.unit):
            users, sums = fit_users(block, state)
            yield _batch(SENT, (SUMS, *4 * (b"",), _ipc(_found(sums, np.empty(0, np.int32), None))))
            yield from _by_part(block, users, state.parts)


@dataclass(frozen=True)
class ReceiveUsers:
    """Fits items to the users that were sent here."""

    state: Broadcast[State]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn rows of `SENT` into rows of `FOUND`."""
        state = self.state.value
        d = state.items.profile.shape[1]
        user, item, value, profile, variance = [], [], [], [], []
        received = 0
        for batch in batches:
            for row in batch.to_pylist():
                if row["part"] == SUMS:
                    yield from pa.ipc.open_stream(row["variance"])
                    continue
                user.append(np.frombuffer(row["user"], np.int32) + np.int32(received))
                item.append(np.frombuffer(row["item"], np.int32))
                value.append(np.frombuffer(row["value"], np.float32))
                profile.append(np.frombuffer(row["profile"], np.float32).reshape(-1, d))
                variance.append(np.frombuffer(row["variance"], np.float32).reshape(-1, 2))
                received += len(profile[-1])
        if not received:
            return
        users = Side(np.concatenate(profile), np.concatenate(variance), np.zeros(d), np.eye(d))
        indices, items, sums = fit_items(
            state, np.concatenate(user), np.concatenate(item), np.concatenate(value), users
        )
        yield _found(sums, indices, items)


@dataclass(frozen=True)
class SumUpLevels:
    """Sums what each item's ratings are above their users' levels."""

    unit: Unit
    level: Broadcast[Float]
    """The items' levels so far. Shape (M,)."""
    weight: float
    """Ratings of zero that everyone has beside her own."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn blocks into rows of `LEVELS`."""
        size = len(self.level.value)
        for block in unpacked(batches, self.unit):
            user_level = user_levels(block, self.level.value, self.weight)
            total = np.bincount(block.item, block.value - user_level[block.user], size)
            count = np.bincount(block.item, minlength=size)
            rated = np.flatnonzero(count).astype(np.int32)
            columns = [pa.array(x) for x in (rated, total[rated], count[rated])]
            yield pa.RecordBatch.from_arrays(columns, ["item", "total", "count"])


@dataclass(frozen=True)
class TakeOutLevels:
    """Takes the levels of users and items out of the ratings, for MLlib."""

    unit: Unit
    level: Broadcast[Float]
    weight: float
    first: Broadcast[dict[int, int]]
    """Number of the first user of each block."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn blocks into rows of `RESIDUALS`."""
        for block in unpacked(batches, self.unit):
            user_level = user_levels(block, self.level.value, self.weight)
            left = block.value - user_level[block.user] - self.level.value[block.item]
            user = block.user + np.int32(self.first.value[block.number])
            columns = [pa.array(x) for x in (user, block.item, left.astype(np.float32))]
            yield pa.RecordBatch.from_arrays(columns, ["user", "item", "residual"])


def _by_part(block: Block, users: Side, parts: int) -> Iterator[pa.RecordBatch]:
    """Yield rows of `SENT`: to each part its ratings of this block, and their users once."""
    part = block.item % parts
    order = np.argsort(part, kind="stable")  # users stay ascending within a part
    bounds = np.searchsorted(part[order], np.arange(parts + 1))
    user = block.user
    for k, (start, end) in enumerate(pairwise(bounds.tolist())):
        chosen = order[start:end]
        if len(chosen):
            raters = user[chosen]
            new = np.append(True, raters[1:] != raters[:-1])
            who, index = raters[new], (np.cumsum(new) - 1).astype(np.int32)
            row = (index, block.item[chosen], block.value[chosen])
            parts_of = (*row, users.profile[who], users.variance[who])
            yield _batch(SENT, (k, *(x.tobytes() for x in parts_of)))


def read_sums(row: dict[str, Any]) -> Sums:
    """Read the sums of a row of `FOUND`."""
    mean, square, spread = (
        np.frombuffer(row[name], np.float64) for name in ("mean", "square", "spread")
    )
    shape = (len(mean), len(mean))
    sums = (mean, square.reshape(shape), spread.reshape(shape))
    return Sums(row["rows"], *sums, row["error"], row["ratings"])


def _found(sums: Sums, indices: NDArray[np.int32], items: Side | None) -> pa.RecordBatch:
    profile, variance = (b"", b"") if items is None else (
        items.profile.tobytes(), items.variance.tobytes()
    )  # fmt: skip
    matrices = (sums.mean.tobytes(), sums.square.tobytes(), sums.spread.tobytes())
    row = (sums.rows, *matrices, sums.error, sums.ratings, indices.tobytes(), profile, variance)
    return _batch(FOUND, row)


def _batch(schema: str, row: tuple[object, ...]) -> pa.RecordBatch:
    kinds = {"int": pa.int32(), "long": pa.int64(), "double": pa.float64(), "binary": pa.binary()}
    fields_of = [part.split() for part in schema.split(",")]
    columns = [pa.array([x], kinds[kind]) for x, (_, kind) in zip(row, fields_of, strict=True)]
    return pa.RecordBatch.from_arrays(columns, [name for name, _ in fields_of])


def _ipc(batch: pa.RecordBatch) -> bytes:
    """Write a batch as bytes, to be carried in a cell."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content
