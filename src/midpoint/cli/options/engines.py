"""Training from more ratings than memory holds: by streaming them from disk, or on Spark."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console

from midpoint.cli.output.notes import show_notes
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from midpoint.analyst.fit.factorizer import Factorizer, Progress
    from midpoint.analyst.fit.profiles import ItemProfiles
    from midpoint.data import Scale
    from midpoint.data.tables.columns import Columns

    Bar = Callable[[], AbstractContextManager[Callable[[Progress], None]]]


class EngineName(StrEnum):
    """Where ratings are while a model is trained."""

    local = "local"
    stream = "stream"
    spark = "spark"


class Tables(NamedTuple):
    """Tables on disk, as the options of `midpoint train` describe them."""

    source: str
    """Ratings, as Parquet."""
    users: str | None
    """People and their features."""
    columns: "Columns"
    """What the columns are called."""
    scale: "Scale | None"
    """What a rating can be, if that was given."""
    feature: list[str]
    """The private features."""


def require_in_memory(engine: EngineName, given: dict[str, bool]) -> None:
    """Refuse options that need all ratings in memory, rather than ignore them."""
    for name, used in given.items():
        if used:
            raise MidpointError(f"{name} needs --engine local; {engine.value} cannot do it")


def require_used(engine: EngineName, *, master: str | None, threads: int | None) -> None:
    """Refuse options that choose where work is done if the engine would ignore them."""
    if master is not None and engine is not EngineName.spark:
        raise MidpointError(f"--master {master} names a cluster; add --engine spark to train on it")
    if threads is not None and engine is EngineName.spark:
        raise MidpointError(
            f"--threads {threads} is not for Spark; use --master 'local[{threads}]', or give the"
            f" cluster {threads} cores"
        )


def fit_from_tables(
    engine: EngineName,
    tables: Tables,
    factorizer: "Factorizer",
    out: Path,
    master: str | None,
    bar: "Bar",
) -> "ItemProfiles":
    """Train from tables that stay where they are."""
    from midpoint.analyst.engines.tables import require_supported

    require_supported(factorizer, engine.value)  # before the ratings are read
    show_notes()
    if engine is EngineName.stream:
        return _streaming(tables, factorizer, out, bar)
    return _on_spark(tables, factorizer, master, bar)


def _streaming(tables: Tables, factorizer: "Factorizer", out: Path, bar: "Bar") -> "ItemProfiles":
    """Train from disk; temporary files are beside the result."""
    from midpoint.analyst.engines.streaming import fit_from_disk, scan

    with Console(stderr=True).status("Reading ratings"):
        scanned = scan(
            tables.source,
            users=tables.users,
            columns=tables.columns,
            scale=tables.scale,
            features=tables.feature,
        )
    beside = out.resolve().parent
    beside.mkdir(parents=True, exist_ok=True)
    with bar() as report:
        return fit_from_disk(factorizer, scanned, tables.feature, workspace=beside, progress=report)


def _on_spark(
    tables: Tables, factorizer: "Factorizer", master: str | None, bar: "Bar"
) -> "ItemProfiles":
    from midpoint.analyst.engines.spark import fit_on_spark, read_ratings
    from midpoint.cli.batch import at_work, spark

    with spark(master) as session:
        with at_work(session, "Reading ratings"):
            ratings = read_ratings(
                session,
                tables.source,
                users=tables.users,
                columns=tables.columns,
                scale=tables.scale,
                features=tables.feature,
            )
        with bar() as report:
            return fit_on_spark(factorizer, ratings, report)
