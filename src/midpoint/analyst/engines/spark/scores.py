"""Profiles and shortlists of a whole population at once, as one Spark job."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import Broadcast
from pyspark.sql import DataFrame

from midpoint.analyst.engines.spark.blocks import whole_users
from midpoint.analyst.fit.fold_in import Method
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.score.scorer import Scorer
from midpoint.errors import MidpointError
from midpoint.wire import Disclosure, from_fixed

AT_ONCE = 2**16
"""Ratings whose users are scored together."""
SCORED = "profile array<double>, items array<string>, scores array<double>"

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Plan:
    """What everyone is scored by."""

    scorer: Scorer
    """From reports to profiles and scores."""
    top: int
    """How many items a person is shown."""
    margin: int
    """How many of the list she may have rated, at most."""

    @classmethod
    def of(
        cls,
        profiles: ItemProfiles,
        disclosure: Disclosure,
        *,
        top: int,
        margin: int,
        method: Method = "map",
        alpha: float = 1.0,
    ) -> "Plan":
        """Score as the service does: by what the reports were made under.

        Args:
            profiles: The items.
            disclosure: What the reporting devices went by.
            top: How many items a person is shown.
            margin: How many of the list she may have rated, at most.
            method: How profiles are estimated.
            alpha: Share of ratings that were obfuscated at all.
        """
        return cls(Scorer(profiles, disclosure, estimator=method, alpha=alpha), top, margin)


def score_people(reports: DataFrame, plan: Plan) -> DataFrame:
    """Estimate everyone's profile and list the items that hold every category's best.

    As the service does for one person: scores are midway between the categories, not clipped, and
    whole multiples of what messages are written in; her device adds its own part. Items that are
    not among the profiles are passed over.

    Args:
        reports: What people reported: columns `user`, `item` (its name) and `rating`.
        plan: What to score by.

    Returns:
        Columns `user`, `profile` (D numbers), `items` (names, ascending as in a disclosure) and
        `scores`.
    """
    _require_columns(reports)
    shared = reports.sparkSession.sparkContext.broadcast(plan)
    kind = dict(reports.dtypes)["user"]
    rows = reports.select("user", reports["item"].cast("string"), reports["rating"].cast("double"))
    by_user = rows.repartition("user").sortWithinPartitions("user", "item")
    return by_user.mapInArrow(Score(shared), f"user {kind}, {SCORED}")


def _require_columns(reports: DataFrame) -> None:
    missing = [name for name in ("user", "item", "rating") if name not in reports.columns]
    if missing:
        raise MidpointError(
            f"the reports have no column {', '.join(missing)}; they have"
            f" {', '.join(reports.columns[:20])}; rename theirs to user, item and rating"
        )


@dataclass(frozen=True)
class Score:
    """Scores whole users; runs on the workers."""

    plan: Broadcast[Plan]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn rows that come by user into one row a user."""
        for table, starts in whole_users(batches, AT_ONCE):
            yield score_table(table, starts, self.plan.value)


def score_table(table: pa.Table, starts: NDArray[np.int64], plan: Plan) -> pa.RecordBatch:
    """Score the users of a table whose rows come by user; `starts` is where each begins."""
    profiles = plan.scorer.items
    names = pa.array(profiles.item_ids.tolist())
    index = pc.index_in(table["item"], names).to_numpy()
    known = ~np.isnan(index.astype(np.float64))
    before = np.append(0, np.cumsum(known))
    offsets = before[np.append(starts, len(known))].astype(np.int64)
    value = table["rating"].to_numpy()[known]
    x = plan.scorer.profiles(offsets, index[known].astype(np.int32), value, threads=1)
    lists = [_listed(row, plan) for row in x]
    return pa.RecordBatch.from_arrays(
        [
            table["user"].combine_chunks().take(pa.array(starts)),
            pa.array(list(x), pa.list_(pa.float64())),
            pa.array([names.take(pa.array(items)).to_pylist() for items, _ in lists]),
            pa.array([scores for _, scores in lists], pa.list_(pa.float64())),
        ],
        ["user", "profile", "items", "scores"],
    )


def _listed(x: Float, plan: Plan) -> tuple[NDArray[np.intp], Float]:
    """Return the items to send, by index among the profiles, and their scores."""
    listed, scores = plan.scorer.shortlist(x, top=plan.top, margin=plan.margin)
    return plan.scorer.items.order[listed], from_fixed(scores)
