"""Factorization on Spark: MLlib finds the factors, our own solver weighs what is uncertain.

MLlib's alternating least squares knows no levels, no priors and no uncertainty. So levels of users
and items are taken out before it, and after it a few passes of the solver in memory (`als`) run on
the cluster, from MLlib's factors: they learn the priors, and an item few rated weighs little.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.storagelevel import StorageLevel

from midpoint.analyst.categories.estimates import Estimation, mean_effects
from midpoint.analyst.engines.spark import passes
from midpoint.analyst.engines.spark.blocks import BLOCK, HASH, pack
from midpoint.analyst.engines.spark.progress import followed
from midpoint.analyst.engines.spark.reader import RatingsFrame
from midpoint.analyst.engines.spark.sample import sampled, sampled_sets
from midpoint.analyst.engines.spark.solver import State, Sums
from midpoint.analyst.engines.spark.statistics import tally_frame
from midpoint.analyst.engines.tables import require_supported
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.als import SMALLEST, WARM_UP_RIDGE, Factors, Side
from midpoint.analyst.fit.assembly import Catalogue, Unit, freeze, provenance
from midpoint.analyst.fit.factorizer import Factorizer, Progress
from midpoint.analyst.fit.priors.item_prior import sampled_predictors
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.fit.sets.factorization import Setting
from midpoint.analyst.fit.sets.training import freeze_sets
from midpoint.analyst.fit.sets.tuning import choose_setting
from midpoint.analyst.learn.admission import noted
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from pyspark.ml.recommendation import ALS

MLLIB_RIDGE: Final = 0.1
"""Regularization of MLlib where it is to be learned: the passes after it learn the rest."""
REFINEMENTS: Final = 3
"""Iterations, of all, that are ours if regularization is learned."""
SAMPLE: Final = 10_000
"""People in memory, at most, whose sets show which items are alike and on whom settings of sets
are tried."""
LEVEL_ROUNDS: Final = 3
"""How often levels of users and items are fitted to each other."""
LEVEL_WEIGHT: Final = 5.0
"""Ratings at the mean that every user and item has beside its own."""
PART: Final = 2**22
"""Ratings in a part of the items, about: a user's profile is sent to each part she rated in, so
there should be few; one has to fit into a worker's memory, at 104 bytes a rating at most if d = 20.
"""
MOST_USERS: Final = 2**31 - 1
"""MLlib numbers users by 32 bits."""

Float = NDArray[np.float64]


def fit_on_spark(
    factorizer: Factorizer,
    ratings: RatingsFrame,
    progress: Callable[[Progress], None] | None = None,
    unfinished: Unfinished | None = None,
) -> ItemProfiles:
    """Learn item profiles on a cluster, as `Factorizer.fit` does from ratings in memory.

    Workers hold the ratings; every worker and this machine hold the items' profiles. Those that
    `unfinished` has kept of the same ratings and settings are not learned again.
    """
    require_supported(factorizer, "spark")
    session = ratings.frame.sparkSession
    statistics = offset = None
    if ratings.feature is not None:
        statistics = tally_frame(ratings)
        biases: Estimation = "plain" if factorizer.biases == "plain" else "shrunken"
        offset = mean_effects(statistics, biases).effect
    blocks = _Blocks.of(session, ratings, offset)
    made = provenance(
        factorizer, ratings.name, digest_of(ratings, blocks.hashed), factorizer.iterations,
        engine="spark", more=("pyspark",),
    )  # fmt: skip
    if ratings.admission is not None:
        made = noted(made, ratings.admission)
    try:
        before = (unfinished or Unfinished()).profiles(made)
        if before is not None:
            return before
        rated = np.ones(len(ratings.item_ids), np.bool_)
        catalogue = Catalogue(ratings.item_ids, ratings.item_names, rated, ratings.scale)
        if ratings.scale.is_unary:
            chosen = _chosen(factorizer, ratings)
            fit = _Fit(factorizer, blocks, len(rated), progress)
            items, ridge = fit.of_sets(chosen[0])
            known = ratings.feature, statistics, made
            return freeze_sets(factorizer, items, chosen, ridge, catalogue, *known)
        some = sampled_sets(ratings, SAMPLE, factorizer.seed) if factorizer.sets else None
        predictors = None if some is None else sampled_predictors(some)
        factors = _Fit(factorizer, blocks, len(rated), progress).run(predictors)
    finally:
        blocks.table.unpersist()
    return freeze(made, catalogue, ratings.feature, statistics, offset, blocks.unit, factors)


def _chosen(factorizer: Factorizer, ratings: RatingsFrame) -> tuple[Setting, float]:
    """Choose how sets are factorized, on a sample of people in memory."""
    some, names = sampled(ratings, SAMPLE, factorizer.seed), ratings.feature
    parts = [name for name, _ in names.parts] if names else []
    return choose_setting(factorizer, some, some.feature(*parts) if parts else None)


def digest_of(ratings: RatingsFrame, hashed: int) -> str:
    """Return a digest of the ratings, whatever their order and partitions.

    Every user is hashed (`blocks.hash_users`) and the hashes are added, modulo 2^256. It is not the
    digest that `Ratings` has in memory, which needs all rows in order.
    """
    total = hashlib.sha256(hashed.to_bytes(HASH, "big"))
    total.update("\0".join([ratings.scale.digested, *ratings.item_ids.tolist()]).encode())
    total.update(repr(ratings.feature.parts if ratings.feature else ()).encode())
    return total.hexdigest()


class _Blocks:
    """The packed ratings on the cluster, and what they sum up to."""

    def __init__(self, table: DataFrame, parts: int) -> None:
        self.table = table.persist(StorageLevel.MEMORY_AND_DISK)
        self.parts = parts
        names = ("block", "users", "ratings", "total", "square", "again", "hashed")
        blocks = pl.DataFrame(self.table.select(*names).toArrow()).sort("block")
        if blocks["again"].sum():
            raise MidpointError(
                f"{blocks['again'].sum()} ratings are of a pair of user and item that is rated"
                " already; keep one rating for each pair"
            )
        self.hashed = sum(int.from_bytes(digest, "big") for digest in blocks["hashed"]) % 2 ** (
            8 * HASH
        )
        self.ratings, self.users = int(blocks["ratings"].sum()), int(blocks["users"].sum())
        if self.users > MOST_USERS:
            raise MidpointError(f"MLlib takes {MOST_USERS} users at most, not {self.users}")
        first = blocks["users"].cum_sum() - blocks["users"]
        self.first: dict[int, int] = dict(zip(blocks["block"], first, strict=True))
        level = float(blocks["total"].sum()) / self.ratings
        variance = float(blocks["square"].sum()) / self.ratings - level**2
        self.unit = Unit(level, max(max(variance, 0.0) ** 0.5, 1e-6))

    @classmethod
    def of(cls, session: SparkSession, ratings: RatingsFrame, offset: Float | None) -> "_Blocks":
        cores = session.sparkContext.defaultParallelism
        partitions, parts = (max(cores, ceil(ratings.ratings / size)) for size in (BLOCK, PART))
        shared = session.sparkContext.broadcast(offset)
        return cls(pack(ratings.frame, shared, partitions), parts)


class _Fit:
    """One fit on the cluster."""

    def __init__(
        self,
        factorizer: Factorizer,
        blocks: _Blocks,
        items: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.factorizer, self.blocks, self.n_items = factorizer, blocks, items
        self.progress, self.done = progress, 0
        self.context = blocks.table.sparkSession.sparkContext
        self.learned = factorizer.regularization == "learned"
        refinements = REFINEMENTS if self.learned else 0
        self.by_mllib = max(1, factorizer.iterations - refinements)

    def run(self, predictors: Float | None) -> Factors:
        """Levels, MLlib, the users' prior, and passes of our own; `predictors` are the items'."""
        level = self._levels()
        start = np.column_stack([level, self._by_mllib(level)]).astype(np.float32)
        items = Side.start(start, predictors)
        everything = np.ones(self.n_items, np.bool_)
        items.learn_prior(everything, 0.0)
        ridge = WARM_UP_RIDGE if self.learned else float(self.factorizer.regularization)
        users = Side.start(np.zeros((0, items.profile.shape[1]), np.float32))
        state = State(self.blocks.unit, items, users, 1.0, ridge, self.blocks.parts)
        state = self._with_users(state)
        self._tell(self.by_mllib, state.noise)
        if self.learned:
            for k in range(self.by_mllib, self.factorizer.iterations):
                state = self._refined(state)
                self._tell(k + 1, state.noise)
            state = self._with_users(replace(state, ridge=None))
        return Factors(state.users, state.items, state.noise)

    def of_sets(self, setting: Setting) -> tuple[NDArray[np.float32], float]:
        """Factorize sets by MLlib; return the items' vectors and the ridge of people.

        MLlib's ridge is a number r for each entry, on both sides. Vectors of people and items may
        be scaled against each other, so only the product of the two ridges matters: r^2 is that of
        `fit.sets.factorization` for a person and an item with as many entries as the average one.
        """
        each = self.blocks.ratings / self.blocks.users
        of_items = setting.popular + setting.ridge * self.n_items / self.blocks.users
        penalty = (setting.ridge * of_items) ** 0.5
        self.by_mllib = self.factorizer.iterations
        nothing = self.context.broadcast(np.zeros(self.n_items))
        step = passes.TakeOutLevels(
            Unit(0.0, 1.0), nothing, float("inf"), self.context.broadcast(self.blocks.first)
        )
        vectors = self._factorized(
            step,
            rank=setting.dimension,
            regParam=penalty,
            implicitPrefs=True,
            alpha=setting.weight,
        )
        self._tell(self.factorizer.iterations, 1.0)
        return vectors, penalty * each

    def _levels(self) -> Float:
        """Fit the items' levels to those of their users, and the other way round. Shape (M,)."""
        level = np.zeros(self.n_items)
        for _ in range(LEVEL_ROUNDS):
            step = passes.SumUpLevels(self.blocks.unit, self.context.broadcast(level), LEVEL_WEIGHT)
            sums = self.blocks.table.mapInArrow(step, passes.LEVELS).groupBy("item")
            summed = sums.agg(
                sql.sum("total").alias("total"), sql.sum("count").alias("count")
            ).toArrow()
            level = np.zeros(self.n_items)
            count = summed["count"].to_numpy()
            level[summed["item"].to_numpy()] = summed["total"].to_numpy() / (count + LEVEL_WEIGHT)
        return level

    def _by_mllib(self, level: Float) -> NDArray[np.float32]:
        """Factorize what levels leave over. Shape (M, d)."""
        step = passes.TakeOutLevels(
            self.blocks.unit,
            self.context.broadcast(level),
            LEVEL_WEIGHT,
            self.context.broadcast(self.blocks.first),
        )
        return self._factorized(
            step,
            rank=self.factorizer.dimension,
            regParam=MLLIB_RIDGE if self.learned else float(self.factorizer.regularization),
        )

    def _factorized(self, step: passes.TakeOutLevels, **how: Any) -> NDArray[np.float32]:
        """Have MLlib factorize what a step makes of the ratings. Shape (M, d)."""
        left = self.blocks.table.mapInArrow(step, passes.RESIDUALS)
        # MLlib looks at one row first. Kept, that look is the first part of the work; otherwise
        # it throws a Python worker away, and the part is computed twice.
        left.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            # The job of all iterations has two stages for each; those around it are short.
            with followed(self.context, self._tell_share, least=2 * self.by_mllib):
                model = self._als(**how).fit(left)
        finally:
            left.unpersist()
        factors = model.itemFactors.toArrow()
        vectors = np.zeros((self.n_items, how["rank"]), np.float32)
        flat = factors["features"].combine_chunks().flatten().to_numpy()
        vectors[factors["id"].to_numpy()] = flat.reshape(-1, how["rank"])
        return vectors

    def _als(self, **how: Any) -> "ALS":
        from pyspark.ml.recommendation import ALS  # noqa: PLC0415 - workers do without, in half the time

        return ALS(
            maxIter=self.by_mllib,
            numUserBlocks=self.blocks.parts,
            numItemBlocks=self.blocks.parts,
            userCol="user",
            itemCol="item",
            ratingCol="residual",
            checkpointInterval=-1,
            intermediateStorageLevel="MEMORY_AND_DISK",
            finalStorageLevel="MEMORY_AND_DISK",
            seed=self.factorizer.seed,
            **how,
        )

    def _tell_share(self, share: float) -> None:
        """Tell how far MLlib is; until it is done the error is that of the mean."""
        done = int(share * self.by_mllib)
        if done > self.done:
            self.done = done
            self._tell(done, 1.0)

    def _with_users(self, state: State) -> State:
        """Learn the users' prior and the noise, given the items."""
        step = passes.SumUpUsers(self.context.broadcast(state))
        rows = self.blocks.table.mapInArrow(step, passes.FOUND).toArrow().to_pylist()
        total = self._total(rows)
        return replace(state, users=_prior(total), noise=_noise(total), ridge=None)

    def _refined(self, state: State) -> State:
        """Fit users given items, and items given users, with priors and uncertainty."""
        shared = self.context.broadcast(state)
        sent = self.blocks.table.mapInArrow(passes.SendUsers(shared), passes.SENT)
        by_part = sent.repartition(self.blocks.parts, "part")
        rows = by_part.mapInArrow(passes.ReceiveUsers(shared), passes.FOUND).toArrow().to_pylist()
        users = self._total([row for row in rows if not row["item"]])
        fitted = [row for row in rows if row["item"]]
        total = self._total(fitted)
        items = Side.start(np.zeros_like(state.items.profile), state.items.predictors)
        for row in fitted:
            index = np.frombuffer(row["item"], np.int32)
            items.profile[index] = np.frombuffer(row["profile"], np.float32).reshape(len(index), -1)
            items.variance[index] = np.frombuffer(row["variance"], np.float32).reshape(-1, 2)
        items.learn_prior(np.ones(self.n_items, np.bool_), total.spread / total.rows)
        return replace(state, items=items, users=_prior(users), noise=_noise(total))

    def _total(self, rows: list[dict[str, Any]]) -> Sums:
        return reduce(Sums.__add__, [passes.read_sums(row) for row in rows])

    def _tell(self, iteration: int, noise: float) -> None:
        if self.progress:
            error = self.blocks.unit.spread * noise**0.5
            self.progress(Progress(iteration, self.factorizer.iterations, error))


def _prior(sums: Sums) -> Side:
    """Return a side that knows its prior only: mean, and covariance with what is uncertain."""
    d = len(sums.mean)
    mean = sums.mean / sums.rows
    covariance = sums.square / sums.rows - np.outer(mean, mean) + sums.spread / sums.rows
    covariance += SMALLEST * max(np.trace(covariance), SMALLEST) * np.eye(d)
    empty = np.zeros((0, d), np.float32)
    return Side(empty, np.zeros((0, 2), np.float32), mean, covariance)


def _noise(sums: Sums) -> float:
    return max(sums.error / sums.ratings, SMALLEST)
