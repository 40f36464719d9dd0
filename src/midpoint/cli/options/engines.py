"""The engines as options of `midpoint train`; the work is in `midpoint.analyst.engines`."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from midpoint.cli.output.notes import show_notes
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from midpoint.analyst.engines import Engine, RatingsTables
    from midpoint.analyst.fit.choice import Allowance
    from midpoint.analyst.fit.factorizer import Factorizer, Progress
    from midpoint.analyst.fit.profiles import ItemProfiles
    from midpoint.data import Scale

    Bar = Callable[[], AbstractContextManager[Callable[[Progress], None]]]
    Status = Callable[[str], AbstractContextManager[object]]

UNFINISHED = ".unfinished"
"""What is added to a result's name for the directory of what is learned so far."""


class EngineName(StrEnum):
    """Where ratings are while a model is trained."""

    local = "local"
    stream = "stream"
    spark = "spark"


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
    name: EngineName,
    tables: "RatingsTables",
    factorizer: "Factorizer",
    out: Path,
    master: str | None,
    bar: "Bar",
    wanted: "Callable[[Scale], str | None]",
    allow: "Allowance",
    least_people: int,
) -> "ItemProfiles":
    """Train from tables that stay where they are, show how far it is, and save the result.

    What a killed run leaves beside the result is gone on with. `wanted` names a scheme for a scale,
    or None if one is to be chosen.
    """
    from midpoint.analyst.engines import train_on
    from midpoint.analyst.engines.tables import require_supported
    from midpoint.analyst.engines.unfinished import Unfinished

    require_supported(factorizer, name.value)  # before the ratings are read
    show_notes()
    left = Unfinished(out.resolve().with_name(f"{out.resolve().name}{UNFINISHED}"))
    if left.directory is not None and left.directory.exists():
        Console(stderr=True).print(
            f"Going on with {left.directory}, which an earlier run left", soft_wrap=True
        )
    with _opened(name, out, master) as (engine, status):
        with status("Reading ratings"):
            ratings = engine.read(tables)
        with bar() as report:
            profiles = train_on(
                ratings, factorizer, report,
                scheme=wanted(ratings.scale), allow=allow, least_people=least_people,
                unfinished=left,
            )  # fmt: skip
    profiles.save(out)
    left.remove()
    return profiles


@contextmanager
def _opened(name: EngineName, out: Path, master: str | None) -> Iterator[tuple["Engine", "Status"]]:
    """Open an engine, and say how its work is shown."""
    if name is EngineName.spark:
        from midpoint.cli.output.spark import at_work, spark

        with spark(master) as session:
            from midpoint.analyst.engines.spark import SparkEngine

            yield SparkEngine(session), partial(at_work, session)
        return
    from midpoint.analyst.engines import StreamingEngine

    workspace = out.resolve().parent  # beside the result
    workspace.mkdir(parents=True, exist_ok=True)
    yield StreamingEngine(workspace), Console(stderr=True).status
