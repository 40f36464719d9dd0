"""What workers do to blocks, without Spark: the steps of the solver in memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from midpoint.analyst.engines.spark import passes
from midpoint.analyst.engines.spark.blocks import Block, Pack, hash_users, unpacked, whole_users
from midpoint.analyst.engines.spark.solver import State, Sums, fit_users
from midpoint.analyst.fit.als import Side
from midpoint.analyst.fit.assembly import Unit
from midpoint.analyst.kernels.ridge import posterior_rows
from midpoint.data import Ratings, Simulation

UNIT = Unit(3.0, 0.5)


class Shared:
    """Stands for a broadcast variable: something with a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


def rows(ratings: Ratings, size: int) -> Iterator[pa.RecordBatch]:
    """Yield ratings by user as the batches of a partition."""
    columns = {
        "user": ratings.user_ids[ratings.user].tolist(),
        "index": ratings.item,
        "rating": ratings.value,
        "category": ratings.feature("gender").codes[ratings.user].astype(np.int32),
    }
    yield from pa.table(columns).to_batches(max_chunksize=size)


def packed(ratings: Ratings, offset: NDArray[np.float64] | None) -> list[pa.RecordBatch]:
    return list(Pack(Shared(offset), 4000)(rows(ratings, 700)))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def state(simulated: Simulation) -> State:
    rng = np.random.default_rng(0)
    d = 4
    items = Side.start(rng.normal(0, 0.5, (simulated.ratings.n_items, d)).astype(np.float32))
    items.variance = rng.uniform(0, 0.1, (len(items.profile), 2)).astype(np.float32)
    items.learn_prior(np.ones(len(items.profile), np.bool_), 0.01 * np.eye(d))
    users = Side(np.zeros((0, d), np.float32), np.zeros((0, 2), np.float32), np.ones(d), np.eye(d))
    return State(UNIT, items, users, noise=0.7, ridge=None, parts=3)


def test_blocks_hold_every_rating_of_whole_users(simulated: Simulation) -> None:
    ratings = simulated.ratings
    offset = np.random.default_rng(0).normal(0, 1, (ratings.n_items, 2))
    batches = packed(ratings, offset)
    blocks = list(unpacked(batches, UNIT))
    assert len(blocks) > 2
    assert len({block.number for block in blocks}) == len(blocks)
    counts = np.concatenate([np.diff(block.offsets) for block in blocks])
    assert np.array_equal(counts, np.diff(ratings.user_offsets)[np.diff(ratings.user_offsets) > 0])
    assert np.array_equal(np.concatenate([block.item for block in blocks]), ratings.item)
    own = offset[ratings.item, ratings.feature("gender").codes[ratings.user]]
    value = np.concatenate([block.value for block in blocks])
    np.testing.assert_allclose(value, (ratings.value - own - 3.0) / 0.5, atol=1e-5)
    assert all(batch["again"].to_pylist() == [0] for batch in batches)


def test_a_pair_that_is_there_twice_is_counted() -> None:
    twice = pa.table(
        {
            "user": ["a", "a", "b", "b"],
            "index": pa.array([1, 1, 1, 2], pa.int32()),
            "rating": pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()),
        }
    )
    (batch,) = Pack(Shared(None), 10)(twice.to_batches())  # type: ignore[arg-type]
    assert batch["again"].to_pylist() == [1]  # the second item 1 is another user's


def test_the_hash_of_users_asks_for_no_order_of_theirs(simulated: Simulation) -> None:
    ratings = simulated.ratings
    table = pa.Table.from_batches(list(rows(ratings, 10**6)))
    starts = ratings.user_offsets[:-1][np.diff(ratings.user_offsets) > 0]
    whole = hash_users(table, starts)
    cut = int(starts[len(starts) // 3])
    parts = [
        hash_users(table.slice(cut), starts[starts >= cut] - cut),
        hash_users(table.slice(0, cut), starts[starts < cut]),
    ]
    assert sum(parts) % 2**256 == whole
    packs = packed(ratings, None)
    sums = [int.from_bytes(batch["hashed"][0].as_py(), "big") for batch in packs]
    assert len(sums) > 2
    assert sum(sums) % 2**256 == whole


@pytest.mark.parametrize("column", ["user", "index", "rating", "category"])
def test_the_hash_of_users_tells_any_change(column: str) -> None:
    table = pa.table(
        {
            "user": ["a", "a", "b"],
            "index": pa.array([1, 2, 1], pa.int32()),
            "rating": pa.array([1.0, 2.0, 3.0], pa.float32()),
            "category": pa.array([0, 0, 1], pa.int32()),
        }
    )
    other = table[column].to_pylist()
    other = [{"a": "c"}.get(x, x) if column == "user" else x + 1 for x in other]
    index = table.column_names.index(column)
    changed = table.set_column(index, column, pa.array(other, table[column].type))
    starts = np.array([0, 2])
    assert hash_users(changed, starts) != hash_users(table, starts)
    assert hash_users(table, starts) == hash_users(table, starts)
    # Whose a rating is matters, too: the same rows, cut elsewhere.
    assert hash_users(table, np.array([0, 1])) != hash_users(table, starts)


def test_one_user_may_fill_many_batches() -> None:
    table = pa.table({"user": [1] * 10 + [2] * 3})
    found = [(len(t), s.tolist()) for t, s in whole_users(table.to_batches(max_chunksize=2), 4)]
    assert found == [(10, [0]), (3, [0])]


def in_memory(block: Block, state: State) -> Any:
    design = state.items.profile.copy()
    design[:, 0] = 1
    return posterior_rows(
        block.offsets, block.item, block.value, design,
        level=state.items.profile[:, 0],
        vector_variance=state.items.variance[:, 1],
        latent=(1, 4),
        prior=(state.users.mean, state.users.covariance),
        noise=state.noise,
    )  # fmt: skip


def test_a_pass_over_blocks_is_a_pass_in_memory(simulated: Simulation, state: State) -> None:
    ratings = simulated.ratings
    whole = Block(
        0, ratings.user_offsets, ratings.item, (ratings.value - np.float32(3)) / np.float32(0.5)
    )
    expected = in_memory(whole, state)
    batches = packed(ratings, None)
    sent = list(passes.SendUsers(Shared(state))(batches))  # type: ignore[arg-type]
    found: list[dict[str, Any]] = []
    for part in (-1, 0, 1, 2):  # as the rows of one part meet on one worker
        mine = [batch for batch in sent if batch["part"].to_pylist() == [part]]
        received = passes.ReceiveUsers(Shared(state))(mine)  # type: ignore[arg-type]
        found += [row for batch in received for row in batch.to_pylist()]
    users = [passes.read_sums(row) for row in found if not row["item"]]
    summed = users[0]
    for more in users[1:]:
        summed += more
    rated = expected.profile[np.diff(ratings.user_offsets) > 0].astype(np.float64)
    assert summed.rows == len(rated)
    np.testing.assert_allclose(summed.mean, rated.sum(axis=0), rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(summed.square, rated.T @ rated, rtol=1e-3, atol=1e-1)
    np.testing.assert_allclose(summed.spread / summed.rows, expected.covariance, rtol=1e-3)

    design = expected.profile.copy()
    design[:, 0] = 1
    order = ratings.by_item.order
    items = posterior_rows(
        ratings.by_item.offsets, ratings.user[order], whole.value[order], design,
        level=expected.profile[:, 0],
        vector_variance=expected.variance[:, 1],
        latent=(1, 4),
        prior=(state.items.mean, state.items.covariance),
        noise=state.noise,
    )  # fmt: skip
    met = [row for row in found if row["item"]]
    index = np.concatenate([np.frombuffer(row["item"], np.int32) for row in met])
    profile = np.concatenate([np.frombuffer(row["profile"], np.float32) for row in met])
    assert sorted(index.tolist()) == np.flatnonzero(np.diff(ratings.by_item.offsets)).tolist()
    np.testing.assert_allclose(profile.reshape(-1, 4), items.profile[index], atol=1e-4)
    assert sum(row["ratings"] for row in met) == len(ratings)


def test_sums_are_those_of_the_users_of_a_block(simulated: Simulation, state: State) -> None:
    block = next(unpacked(packed(simulated.ratings, None), UNIT))
    users, sums = fit_users(block, state)
    (batch, *_) = passes.SumUpUsers(Shared(state))(packed(simulated.ratings, None))  # type: ignore[arg-type]
    read = passes.read_sums(batch.to_pylist()[0])
    assert isinstance(sums, Sums)
    np.testing.assert_array_equal(read.square, sums.square)
    np.testing.assert_allclose(sums.mean, users.profile.sum(axis=0), rtol=1e-3, atol=1e-3)


def test_levels_are_means_pulled_to_zero(simulated: Simulation) -> None:
    batches = packed(simulated.ratings, None)
    size = simulated.ratings.n_items
    (first, *_) = passes.SumUpLevels(UNIT, Shared(np.zeros(size)), 5.0)(batches)  # type: ignore[arg-type]
    block = next(unpacked(batches, UNIT))
    mine = block.value[block.offsets[0] : block.offsets[1]]
    level = mine.sum() / (len(mine) + 5)
    step = passes.TakeOutLevels(UNIT, Shared(np.zeros(size)), 5.0, Shared({block.number: 7}))  # type: ignore[arg-type]
    left = next(step(batches[:1]))
    assert left["user"][0].as_py() == 7
    assert left["residual"][0].as_py() == pytest.approx(mine[0] - level, abs=1e-5)
    assert sum(first["count"].to_pylist()) == len(block.value)
    assert sum(first["total"].to_pylist()) == pytest.approx(
        float(block.value.sum()) - float((np.diff(block.offsets) * own_levels(block)).sum()),
        rel=1e-4,
    )


def own_levels(block: Block) -> NDArray[np.float64]:
    counts = np.diff(block.offsets)
    total = np.add.reduceat(block.value.astype(np.float64), block.offsets[:-1])
    return np.asarray(total / (counts + 5))
