"""The peers, each at d = 20 and at the settings that served it best on MovieLens-1M.

Settings were searched by hand on the benchmark's own 90/10 split, in the peers' favour: "quick"
is the fewest epochs with which a peer comes below RMSE 0.853 (or near its best, where it never
does), "best" its lowest RMSE.
"""

# ruff: noqa: PLC0415 - a peer is imported at its first use, which is part of its cold start.

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.columns import Columns
from benchmarks.peers.contestant import DIMENSION, BiasedFactors, Contestant, rows_of

NOTHING: Mapping[str, str] = MappingProxyType({})
ON_THIS_MACHINE: Mapping[str, str] = MappingProxyType({"SPARK_LOCAL_IP": "127.0.0.1"})
ONE_BLAS_THREAD: Mapping[str, str] = MappingProxyType(
    {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
)


@dataclass(frozen=True)
class Cornac:
    """Biased matrix factorization by lock-free parallel SGD, compiled from Cython."""

    epochs: int
    rate: float
    regularization: float
    kind: str
    environment: ClassVar[Mapping[str, str]] = NOTHING

    @property
    def name(self) -> str:
        """What it is called in the table."""
        return f"Cornac MF, {self.kind}"

    @property
    def setting(self) -> str:
        """How it is set."""
        return f"{self.epochs} epochs, rate {self.rate}, λ {self.regularization}"

    def build(self, train: Columns) -> Any:
        """Make a `Dataset`; plain Python tuples are what it reads fastest."""
        from cornac.data import Dataset

        return Dataset.from_uir(zip(*(column.tolist() for column in train), strict=True))

    def fit(self, data: Any) -> Any:
        """Train without a seed, for a seed would take its threads away."""
        from cornac.models import MF

        model = MF(
            k=DIMENSION,
            max_iter=self.epochs,
            learning_rate=self.rate,
            lambda_reg=self.regularization,
        )
        return model.fit(data)

    def predict(self, model: Any, test: Columns) -> NDArray[np.floating]:
        """Predict from the model's arrays."""
        factors = BiasedFactors(
            float(model.global_mean),
            model.u_biases,
            model.i_biases,
            model.u_factors,
            model.i_factors,
        )
        return factors.predict(
            rows_of(test.users, model.uid_map), rows_of(test.items, model.iid_map)
        )


@dataclass(frozen=True)
class LensKit:
    """Biased matrix factorization by ALS, compiled from Rust."""

    epochs: int
    regularization: float
    kind: str
    environment: ClassVar[Mapping[str, str]] = NOTHING

    @property
    def name(self) -> str:
        """What it is called in the table."""
        return f"LensKit BiasedMF, {self.kind}"

    @property
    def setting(self) -> str:
        """How it is set."""
        return f"{self.epochs} epochs, λ {self.regularization}"

    def build(self, train: Columns) -> Any:
        """Make a `Dataset` from a data frame."""
        import pandas as pd
        from lenskit.data import from_interactions_df

        names = ("user_id", "item_id", "rating")
        return from_interactions_df(pd.DataFrame(dict(zip(names, train, strict=True))))

    def fit(self, data: Any) -> Any:
        """Train the scorer."""
        from lenskit.als import BiasedMFScorer
        from lenskit.training import TrainingOptions

        model = BiasedMFScorer(
            embedding_size=DIMENSION, epochs=self.epochs, regularization=self.regularization
        )
        model.train(data, TrainingOptions(rng=0))
        return model

    def predict(self, model: Any, test: Columns) -> NDArray[np.floating]:
        """Predict from the model's arrays."""
        bias = model.bias
        factors = BiasedFactors(
            float(bias.global_bias),
            bias.user_biases,
            bias.item_biases,
            model.user_embeddings,
            model.item_embeddings,
        )
        return factors.predict(
            model.users.numbers(test.users, missing="negative"),
            model.items.numbers(test.items, missing="negative"),
        )


@dataclass(frozen=True)
class Surprise:
    """Biased matrix factorization by SGD on one thread, compiled from Cython."""

    epochs: int
    rate: float
    regularization: float
    environment: ClassVar[Mapping[str, str]] = NOTHING
    name: str = "Surprise SVD"

    @property
    def setting(self) -> str:
        """How it is set."""
        return f"{self.epochs} epochs, rate {self.rate}, λ {self.regularization}"

    def build(self, train: Columns) -> Any:
        """Make a `Trainset` from a data frame."""
        import pandas as pd
        from surprise import Dataset, Reader

        frame = pd.DataFrame(dict(zip(("user", "item", "rating"), train, strict=True)))
        return Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()

    def fit(self, data: Any) -> Any:
        """Train; a small start serves it better than its default of 0.1."""
        from surprise import SVD

        model = SVD(
            n_factors=DIMENSION,
            n_epochs=self.epochs,
            lr_all=self.rate,
            reg_all=self.regularization,
            init_std_dev=0.01,
            random_state=0,
        )
        return model.fit(data)

    def predict(self, model: Any, test: Columns) -> NDArray[np.floating]:
        """Predict from the model's arrays."""
        data = model.trainset
        users = {data.to_raw_uid(row): row for row in data.all_users()}
        items = {data.to_raw_iid(row): row for row in data.all_items()}
        factors = BiasedFactors(data.global_mean, model.bu, model.bi, model.pu, model.qi)
        return factors.predict(rows_of(test.users, users), rows_of(test.items, items))


@dataclass(frozen=True)
class Spark:
    """ALS of the machine-learning library of Apache Spark, on this machine's cores."""

    iterations: int
    regularization: float
    blocks: int
    environment: ClassVar[Mapping[str, str]] = ON_THIS_MACHINE
    name: str = "Spark ALS"

    @property
    def setting(self) -> str:
        """How it is set."""
        return f"{self.iterations} iterations, λ {self.regularization}, {self.blocks} blocks"

    def build(self, train: Columns) -> Any:
        """Make a data frame in the JVM's memory, through Arrow, and count it."""
        import pandas as pd
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[*]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.memory", "4g")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", str(self.blocks))
            .config("spark.sql.execution.arrow.pyspark.enabled", "true")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        session.catalog.clearCache()
        frame = pd.DataFrame(dict(zip(("user", "item", "rating"), train, strict=True)))
        table = session.createDataFrame(frame).repartition(self.blocks).cache()
        table.count()
        return table

    def fit(self, data: Any) -> Any:
        """Train, and count the factors, for Spark is lazy."""
        from pyspark.ml.recommendation import ALS

        model = ALS(
            rank=DIMENSION,
            maxIter=self.iterations,
            regParam=self.regularization,
            numUserBlocks=self.blocks,
            numItemBlocks=self.blocks,
            userCol="user",
            itemCol="item",
            ratingCol="rating",
            checkpointInterval=-1,
            seed=0,
        ).fit(data)
        model.userFactors.count()
        model.itemFactors.count()
        return model

    def predict(self, model: Any, test: Columns) -> NDArray[np.floating]:
        """Predict from the factors; Spark has no biases, so the unknown get the middle, 3."""
        users, user_vectors = _spark_factors(model.userFactors)
        items, item_vectors = _spark_factors(model.itemFactors)
        none = np.zeros(max(len(users), len(items)))
        user_rows, item_rows = rows_of(test.users, users), rows_of(test.items, items)
        predicted = BiasedFactors(0.0, none, none, user_vectors, item_vectors).predict(
            user_rows, item_rows
        )
        return np.where((user_rows >= 0) & (item_rows >= 0), predicted, 3.0)


def _spark_factors(table: Any) -> tuple[dict[int, int], NDArray[np.floating]]:
    frame = table.toPandas()
    rows = {int(name): row for row, name in enumerate(frame["id"])}
    return rows, np.stack(frame["features"].to_list())


@dataclass(frozen=True)
class Implicit:
    """ALS for implicit feedback: another loss, over all pairs; only its pace can be compared."""

    iterations: int
    environment: ClassVar[Mapping[str, str]] = ONE_BLAS_THREAD
    name: str = "implicit ALS (another loss)"

    @property
    def setting(self) -> str:
        """How it is set."""
        return f"{self.iterations} iterations, conjugate gradients"

    def build(self, train: Columns) -> Any:
        """Make a sparse matrix."""
        from scipy.sparse import csr_matrix

        return csr_matrix((train.values, (train.users, train.items)))

    def fit(self, data: Any) -> Any:
        """Train on the ratings as confidences."""
        from implicit.als import AlternatingLeastSquares

        model = AlternatingLeastSquares(
            factors=DIMENSION, iterations=self.iterations, random_state=0
        )
        model.fit(data, show_progress=False)
        return model

    def predict(self, model: Any, test: Columns) -> None:
        """Predict nothing: it ranks."""
        del model, test


PEERS: Mapping[str, Contestant] = MappingProxyType(
    {
        "cornac": Cornac(epochs=9, rate=0.02, regularization=0.02, kind="quick"),
        "cornac-best": Cornac(epochs=30, rate=0.01, regularization=0.04, kind="best"),
        "lenskit": LensKit(epochs=5, regularization=0.07, kind="quick"),
        "lenskit-best": LensKit(epochs=20, regularization=0.07, kind="best"),
        "surprise": Surprise(epochs=9, rate=0.02, regularization=0.02),
        "spark": Spark(iterations=10, regularization=0.06, blocks=2),
        "implicit": Implicit(iterations=15),
    }
)
"""By the name to choose them by."""
