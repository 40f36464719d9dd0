"""`midpoint batch`: whole populations on Spark, obfuscated or scored."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from midpoint.cli.options import source as options
from midpoint.cli.options.messages import (
    Directory,
    DisclosureFile,
    Estimator,
    HowToEstimate,
    read_message,
)
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

app = typer.Typer(name="batch", help="Whole populations at once, on Spark.", no_args_is_help=True)

Table = Annotated[
    str, typer.Argument(help="Parquet, one row a rating: a path or any Hadoop address.")
]
Out = Annotated[str, typer.Option(help="Folder or address for Parquet; it must not be there yet.")]
Master = Annotated[
    str | None, typer.Option(help="Where Spark runs, such as spark://host:7077; here unless given.")
]


@app.command("obfuscate")
def obfuscate_command(
    ratings: Table,
    disclosure: Annotated[Path, typer.Option(help="What was disclosed of the items.")],
    out: Out,
    users: Annotated[str | None, typer.Option(help="Parquet, one row a person.")] = None,
    alpha: Annotated[float, typer.Option(min=0, max=1, help="Share to obfuscate.")] = 1.0,
    seed: Annotated[
        int | None, typer.Option(help="Coins that can be tossed again; keep it secret.")
    ] = None,
    user_column: options.UserColumn = None,
    item_column: options.ItemColumn = None,
    rating_column: options.RatingColumn = None,
    master: Master = None,
) -> None:
    """Write what everyone's own device would reveal: user, item, rating.

    Everyone has coins of her own, from the seed and her name, whatever machine she is on.
    """
    from midpoint.analyst.engines.spark import read_ratings, require_new_address
    from midpoint.data.tables.columns import Columns
    from midpoint.protocol.batch import Plan, obfuscate_people
    from midpoint.wire import Disclosure

    told = read_message(disclosure, Disclosure)
    names = [part.name for part in told.features]
    with spark(master) as session:
        require_new_address(session, out)
        with at_work(session, "Looking through the ratings"):
            read = read_ratings(
                session,
                ratings,
                users=users,
                columns=Columns(user=user_column, item=item_column, rating=rating_column),
                features=names,
            )
            copy = obfuscate_people(read, told, Plan.of(read, told, seed=seed, alpha=alpha))
        _write(copy, out)
        count = session.read.parquet(out).count()
    typer.echo(f"{count:,} of {read.ratings:,} ratings are in {out}")


@app.command("score")
def score_command(
    directory: Directory,
    reports: Table,
    out: Out,
    disclosure: DisclosureFile = None,
    top: Annotated[int, typer.Option(min=1, help="Items to show a person.")] = 10,
    margin: Annotated[
        int, typer.Option(min=0, help="Items she may have rated, at most; a public number.")
    ] = 100,
    estimator: HowToEstimate = Estimator.map,
    alpha: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the reports that was obfuscated.")
    ] = 1.0,
    master: Master = None,
) -> None:
    """Estimate everyone's profile, and list the items that hold every category's best.

    Reports have the columns user, item and rating, as `midpoint batch obfuscate` writes them. As
    the service does, it trusts each item's reports as far as the coins of the disclosure left them.
    """
    from midpoint.analyst import ItemProfiles
    from midpoint.analyst.engines.spark import open_parquet, require_new_address
    from midpoint.analyst.engines.spark.scores import Plan, score_people
    from midpoint.cli.options.messages import disclosure_of

    profiles = ItemProfiles.load(directory)
    told = disclosure_of(profiles, disclosure)
    plan = Plan.of(profiles, told, top=top, margin=margin, method=estimator.value, alpha=alpha)
    with spark(master) as session:
        require_new_address(session, out)
        _write(score_people(open_parquet(session, reports), plan), out)
        count = session.read.parquet(out).count()
    typer.echo(f"Profiles and shortlists of {count:,} people are in {out}")


@contextmanager
def spark(master: str | None) -> Iterator["SparkSession"]:
    """Run Spark for one command; a session that ran before goes on after it."""
    from pyspark.errors import PythonException
    from pyspark.sql import SparkSession

    from midpoint.analyst.engines.spark import open_session

    running = SparkSession.getActiveSession()
    options.show_notes()
    with Console(stderr=True).status("Starting Spark"):
        session = open_session(master)
    try:
        yield session
    except PythonException as error:
        missing = re.search(r"ModuleNotFoundError: (.*)", str(error))
        if missing is None:
            raise
        raise MidpointError(
            f"a worker of Spark lacks what this machine has ({missing[1]}); install"
            " midpoint[spark] on every machine, and name its Python by PYSPARK_PYTHON"
        ) from error
    finally:
        if running is None:
            session.stop()


@contextmanager
def at_work(session: "SparkSession", what: str) -> Iterator[None]:
    """Show what Spark is at, and how far its job has come."""
    from midpoint.analyst.engines.spark import followed

    with Console(stderr=True).status(what) as status:

        def tell(share: float) -> None:
            status.update(f"{what}, {share:.0%}")

        with followed(session.sparkContext, tell):
            yield


def _write(table: "DataFrame", out: str) -> None:
    with at_work(table.sparkSession, "Spark is at work"):
        table.write.parquet(out)
