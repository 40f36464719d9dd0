"""Ratings sorted on disk are those that numpy sorts in memory."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from midpoint.analyst.engines.streaming import sort
from midpoint.analyst.engines.streaming.sort import Triples, sort_on_disk


def drawn(ratings: int, users: int = 40, items: int = 30) -> Triples:
    rng = np.random.default_rng(0)
    pair = rng.choice(users * items, ratings, replace=False)
    user, item = (part.astype(np.int32) for part in np.divmod(pair, items))
    return Triples(user, item, rng.random(ratings, dtype=np.float32))


@pytest.mark.parametrize("key", ["user", "item"])
@pytest.mark.parametrize(("bucket", "most"), [(1, 500), (7, 500), (100, 500), (10**6, 500), (1, 3)])
def test_buckets_of_any_size_give_the_same_order(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: Literal["user", "item"],
    bucket: int,
    most: int,
) -> None:
    monkeypatch.setattr(sort, "MOST_BUCKETS", most)
    whole = drawn(600)
    counts = np.bincount(getattr(whole, key), minlength=40)
    parts = [slice(k, k + 83) for k in range(0, 600, 83)]
    chunks = [Triples(whole.user[p], whole.item[p], whole.value[p]) for p in parts]
    found = sort_on_disk(chunks, key, counts, tmp_path / "sorted", bucket=bucket)
    keys = (whole.item, whole.user) if key == "user" else (whole.user, whole.item)
    order = np.lexsort(keys)
    for column, expected in zip(found, whole, strict=True):
        np.testing.assert_array_equal(column, expected[order])
    # Buckets are gone; the three columns are left.
    assert sorted(path.name for path in (tmp_path / "sorted").iterdir()) == sorted(Triples._fields)


def test_nothing_is_sorted_to_nothing(tmp_path: Path) -> None:
    found = sort_on_disk([], "user", np.zeros(3, np.int64), tmp_path / "sorted")
    assert [len(column) for column in found] == [0, 0, 0]
