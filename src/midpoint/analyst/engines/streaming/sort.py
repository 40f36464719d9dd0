"""Sort ratings that memory does not hold: into buckets on disk, then bucket by bucket."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

BUCKET = 2**22
"""Ratings that are sorted in memory at a time, unless one user or item has more."""
MOST_BUCKETS = 500
"""Files open at a time; with more ratings the buckets grow instead."""
Number = TypeVar("Number", np.int32, np.float32)
RECORD = np.dtype([("user", np.int32), ("item", np.int32), ("value", np.float32)])


class Triples(NamedTuple):
    """Ratings as columns, in memory or mapped from disk; n ratings."""

    user: NDArray[np.int32]
    """Codes of the users. Shape (n,)."""
    item: NDArray[np.int32]
    """Codes of the items. Shape (n,)."""
    value: NDArray[np.float32]
    """What is to be kept of each rating. Shape (n,)."""


def sort_on_disk(
    chunks: Iterable[Triples],
    key: Literal["user", "item"],
    counts: NDArray[np.integer],
    directory: Path,
    *,
    bucket: int = BUCKET,
) -> Triples:
    """Sort ratings by user and item, or by item and user, into columns that are read from disk.

    Every rating is written twice, both times front to back; memory holds a chunk, a bucket and a
    number for each key.

    Args:
        chunks: The ratings, in any order.
        key: What to sort by first.
        counts: How many ratings each user, or each item, has.
        directory: An empty directory for buckets and columns.
        bucket: Ratings sorted in memory at a time.
    """
    directory.mkdir(parents=True)
    number = _bucket_of(counts, bucket)
    paths = [directory / f"bucket-{k}" for k in range(int(number.max(initial=0)) + 1)]
    _distribute(chunks, key, number, paths)
    columns = tuple(directory / name for name in Triples._fields)
    streams = [path.open("wb") for path in columns]
    try:
        for path in paths:
            _append_sorted(path, key, streams)
    finally:
        for stream in streams:
            stream.close()
    total = int(counts.sum())
    user, item, value = columns
    return Triples(
        mapped(user, np.int32, total),
        mapped(item, np.int32, total),
        mapped(value, np.float32, total),
    )


def mapped(path: Path, kind: type[Number], length: int) -> NDArray[Number]:
    """Map a file of numbers, as a plain array: compiled code does not know the other kind."""
    if length == 0:
        return np.empty(0, kind)
    return np.asarray(np.memmap(path, kind, mode="r", shape=(length,)))


def _bucket_of(counts: NDArray[np.integer], bucket: int) -> NDArray[np.int32]:
    """Number the bucket of each key: neighbours share one. Shape of `counts`."""
    size = max(bucket, int(counts.sum()) // MOST_BUCKETS)
    before = np.cumsum(counts) - counts
    numbers = before // size
    return np.unique(numbers, return_inverse=True)[1].astype(np.int32).reshape(-1)


def _distribute(
    chunks: Iterable[Triples], key: str, number: NDArray[np.int32], paths: list[Path]
) -> None:
    streams = [path.open("wb") for path in paths]
    try:
        for chunk in chunks:
            target = number[getattr(chunk, key)]
            order = np.argsort(target, kind="stable")
            records = np.empty(len(order), RECORD)
            for name in Triples._fields:
                records[name] = getattr(chunk, name)[order]
            ends = np.cumsum(np.bincount(target, minlength=len(paths)))
            for stream, start, end in zip(streams, np.append(0, ends), ends, strict=False):
                stream.write(records[start:end].tobytes())
    finally:
        for stream in streams:
            stream.close()


def _append_sorted(path: Path, key: str, streams: Sequence[BinaryIO]) -> None:
    records = np.fromfile(path, RECORD)
    path.unlink()
    first, second = ("user", "item") if key == "user" else ("item", "user")
    order = np.lexsort((records[second], records[first]))
    for name, stream in zip(Triples._fields, streams, strict=True):
        stream.write(np.ascontiguousarray(records[name][order]).tobytes())
