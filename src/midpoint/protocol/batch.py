"""A whole population's ratings obfuscated as one Spark job, by the code of a single device.

Everyone has coins of her own, as on a device: her secret is HMAC-SHA-256 of the seed and her name,
and an item's coins follow from it and the item's name. So the result does not depend on how people
are spread over machines, nor on who else is there.
"""

import hashlib
import hmac
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from midpoint.analyst.engines.spark.blocks import whole_users
from midpoint.analyst.engines.spark.reader import RatingsFrame
from midpoint.errors import MidpointError
from midpoint.protocol.obfuscation import obfuscate_population
from midpoint.protocol.population import cells_of
from midpoint.user import PURPOSES, DeviceSecret, Parameters, check_numbers, toss
from midpoint.user.core.private import framed
from midpoint.wire import ONE, Disclosure, from_fixed, to_fixed

TAG = b"midpoint/v1/batch"
AT_ONCE = 2**16
"""Ratings whose people are handled together."""
REPORTED = "item string, rating float"


@dataclass(frozen=True, eq=False)
class Plan:
    """What everyone's device would know; M items in the table, K cells of its feature."""

    parameters: Parameters
    """The disclosure, as arrays."""
    item_ids: NDArray[np.str_]
    """The items of the table. Shape (M,)."""
    index: NDArray[np.intp]
    """The disclosure's index of each of them, -1 if it has none. Shape (M,)."""
    cell: NDArray[np.intp]
    """The disclosure's cell of each of the table's, -1 where it has none. Shape (K + 1,)."""
    key: bytes
    """What secrets are derived from."""
    alpha: float = 1.0
    """Share of ratings that are obfuscated."""

    @classmethod
    def of(
        cls, ratings: RatingsFrame, disclosure: Disclosure, *, seed: int | None, alpha: float = 1.0
    ) -> "Plan":
        """Match the names of a table with those of a disclosure."""
        check_numbers(disclosure)
        index = [disclosure.index.get(item, -1) for item in ratings.item_ids.tolist()]
        return cls(
            parameters=Parameters.of(disclosure),
            item_ids=ratings.item_ids,
            index=np.array(index, np.intp),
            cell=_cell_by_code(ratings, disclosure),
            key=os.urandom(32)
            if seed is None
            else hashlib.sha256(TAG + str(seed).encode()).digest(),
            alpha=alpha,
        )


def obfuscate_people(ratings: RatingsFrame, disclosure: Disclosure, plan: Plan) -> DataFrame:
    """Return what everyone's device would reveal: columns `user`, `item` and `rating`.

    People whose category is unknown and items that the disclosure does not know are left out, as
    they cannot be protected.
    """
    _require_legal(ratings, disclosure)
    if not (plan.index >= 0).any() or not (plan.cell >= 0).any():
        raise MidpointError(
            f"no item or no category of {ratings.name} is in the disclosure (items such as"
            f" {disclosure.items[0]!r}); check that they are called the same"
        )
    shared = ratings.frame.sparkSession.sparkContext.broadcast(plan)
    kind = dict(ratings.frame.dtypes)["user"]
    by_user = ratings.frame.repartition("user").sortWithinPartitions("user", "index")
    return by_user.mapInArrow(Obfuscate(shared), f"user {kind}, {REPORTED}")


@dataclass(frozen=True)
class Obfuscate:
    """Obfuscates whole people; runs on the workers."""

    plan: Broadcast[Plan]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn rows of a `RatingsFrame` that come by user into what is revealed."""
        for table, starts in whole_users(batches, AT_ONCE):
            yield obfuscate_table(table, starts, self.plan.value)


def obfuscate_table(table: pa.Table, starts: NDArray[np.int64], plan: Plan) -> pa.RecordBatch:
    """Obfuscate a table whose rows come by user; `starts` is where each person begins."""
    where = table["index"].to_numpy()
    item, cell = plan.index[where], plan.cell[table["category"].to_numpy()]
    fit = (item >= 0) & (cell >= 0)
    uniform = np.zeros((len(fit), len(PURPOSES)))
    names = plan.item_ids[where]
    users = table["user"].take(pa.array(starts)).to_pylist()
    for user, (start, end) in zip(users, pairwise([*starts.tolist(), len(fit)]), strict=True):
        rows = start + np.flatnonzero(fit[start:end])
        uniform[rows] = toss(secret_of(plan.key, str(user)), names[rows].tolist())
    ends = np.append(0, np.cumsum(fit))[np.append(starts, len(fit))]
    done = obfuscate_population(
        ends,
        item[fit],
        to_fixed(table["rating"].to_numpy()[fit]),
        cell[starts],
        plan.parameters,
        uniform[fit],
        plan.alpha,
    )
    kept = np.flatnonzero(fit)[done.keep]
    return pa.RecordBatch.from_arrays(
        [
            table["user"].combine_chunks().take(pa.array(kept)),
            pa.array(names[kept].tolist(), pa.string()),
            pa.array(from_fixed(done.value[done.keep]).astype(np.float32)),
        ],
        ["user", "item", "rating"],
    )


def secret_of(key: bytes, user: str) -> DeviceSecret:
    """Derive what a person's device would hold: HMAC-SHA-256(key, tag, name)."""
    return DeviceSecret(hmac.digest(key, framed(TAG, user.encode()), "sha256"))


def _cell_by_code(ratings: RatingsFrame, disclosure: Disclosure) -> NDArray[np.intp]:
    """Find the disclosure's cell of each of the table's; the last entry is for the unknown."""
    if not disclosure.features:
        return np.zeros(1 + len(ratings.users), np.intp)
    feature = ratings.feature
    parts = [] if feature is None else [name for name, _ in feature.parts]
    if feature is None or set(parts) != {part.name for part in disclosure.features}:
        names = ", ".join(part.name for part in disclosure.features)
        raise MidpointError(
            f"the disclosure protects {names}; read the ratings with these features"
        )
    people = (
        dict(zip(parts, _labels(ratings, k), strict=True)) for k in range(len(feature.categories))
    )
    return np.append(cells_of(disclosure, people), -1)


def _labels(ratings: RatingsFrame, cell: int) -> list[str]:
    feature = ratings.feature
    if feature is None:
        return []
    parts = zip(feature.parts, feature.crossed, strict=True)
    return [categories[codes[cell]] for (_, categories), codes in parts]


def _require_legal(ratings: RatingsFrame, disclosure: Disclosure) -> None:
    """Refuse ratings off the disclosure's scale, before any is sent."""
    fixed = sql.rint(sql.col("rating").cast("double") * ONE)
    scale = disclosure.scale
    fine = fixed.isin([float(level) for level in scale.levels]) if scale.levels else (
        fixed.between(float(scale.low), float(scale.high))
    )  # fmt: skip
    for row in ratings.frame.where(~fine).select("user", "rating").head(1):
        raise MidpointError(
            f"user {row['user']} gives {row['rating']:g}, which is not on the disclosure's scale;"
            " correct it, or disclose for this scale"
        )
