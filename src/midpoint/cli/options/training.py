"""Options of `midpoint train`: its data, the fit, and the engine."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from midpoint.cli.options.engines import EngineName, require_used
from midpoint.cli.options.source import DataOptions
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst.fit.als import Regularization
    from midpoint.analyst.fit.factorizer import Factorizer


class Biases(StrEnum):
    """How offsets are estimated."""

    shrunken = "shrunken"
    plain = "plain"
    joint = "joint"


class Method(StrEnum):
    """How profiles are fitted."""

    als = "als"
    sgd = "sgd"
    factors = "factors"


@dataclass(frozen=True, kw_only=True)
class TrainingData(DataOptions):
    """Ratings to train on, in memory or wherever an engine reads them."""

    source: Annotated[
        str,
        typer.Argument(
            help="A known name (`midpoint data list`), a zip or directory in a known layout, or"
            " your own CSV, TSV, Parquet or RecBole (.inter) file. For the engines `stream` and"
            " `spark`: Parquet, a file or a directory of files; for `spark` also any Hadoop"
            " address.",
            show_default=False,
        ),
    ]
    users: Annotated[
        str | None,
        typer.Option(
            help="Your own table of users: one row each, with features. A path, or for Spark any"
            " Hadoop address."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """How item profiles are fitted."""

    PANEL: ClassVar = "Item profiles"

    dimension: Annotated[int, typer.Option(min=1, help="Latent dimensions.")] = 20
    iterations: Annotated[
        int,
        typer.Option(
            min=0,
            help="Highest number of passes over the ratings. Unless given: 15, or 20 for gradient"
            " descent.",
            show_default=False,
        ),
    ] = 0
    regularization: Annotated[
        str, typer.Option(help="`learned` from the data, or a number that each rating adds.")
    ] = "learned"
    biases: Annotated[
        Biases,
        typer.Option(
            help="How what each category adds is estimated: by its mean rating of each item, pulled"
            " towards what is usual (`shrunken`) or not (`plain`), or together with the profiles"
            " (`joint`, Eq. 5)."
        ),
    ] = Biases.shrunken
    method: Annotated[
        Method,
        typer.Option(
            help="Alternating least squares, gradient descent (sgd), or gradient descent on factors"
            " alone, without means of items and users, as in the paper's Eq. 1."
        ),
    ] = Method.als
    validation: Annotated[
        float, typer.Option(min=0, max=0.5, help="Share of ratings that decides when to stop.")
    ] = 0.0
    factors: Annotated[
        Path | None,
        typer.Option(
            help="Item factors of your own recommender, which are kept: .npz with `item_ids`,"
            " `vectors` and perhaps `biases`, or a table with a column of item ids, perhaps"
            " `bias`, and a column for each factor. Then nothing else is fitted to items."
        ),
    ] = None

    def factorizer(self, seed: int, threads: int | None) -> "Factorizer":
        """Return what fits by these options."""
        from midpoint.analyst.fit.factorizer import Factorizer
        from midpoint.analyst.fit.given.factors import GivenFactors

        if self.factors is not None:
            self._require_no_fit()
            return GivenFactors.of(self.factors, seed=seed, threads=threads)
        return Factorizer(
            dimension=self.dimension,
            iterations=self.iterations,
            regularization=_regularization(self.regularization),
            biases=self.biases.value,
            method=self.method.value,
            validation=self.validation,
            seed=seed,
            threads=threads,
        )

    def _require_no_fit(self) -> None:
        """Refuse options of a fit, which given factors make needless."""
        usual = FitOptions()
        names = ("dimension", "iterations", "regularization", "biases", "method", "validation")
        idle = [name for name in names if getattr(self, name) != getattr(usual, name)]
        if idle:
            raise MidpointError(
                f"--{idle[0]} has no use beside --factors, which keeps the items as they are; leave"
                " one of them out"
            )


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Where a model is trained."""

    PANEL: ClassVar = "Engine"

    engine: Annotated[
        EngineName,
        typer.Option(help="`local`: in memory; `stream`: Parquet on disk; `spark`: on a cluster."),
    ] = EngineName.local
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs, such as spark://host:7077; else on this machine."),
    ] = None
    threads: Annotated[
        int | None, typer.Option(min=1, help="How many threads; unless given, one per core.")
    ] = None

    def check(self) -> None:
        """Refuse options that the engine would ignore."""
        require_used(self.engine, master=self.master, threads=self.threads)


def _regularization(text: str) -> "Regularization":
    if text == "learned":
        return "learned"
    try:
        return float(text)
    except ValueError as error:
        raise MidpointError(
            f"--regularization {text}: write `learned`, or a number such as 0.06"
        ) from error
