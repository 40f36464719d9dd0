"""`midpoint batch`: whole populations on Spark, obfuscated or scored."""

from typing import TYPE_CHECKING, Annotated

import typer

from midpoint.cli.options.expansion import expand
from midpoint.cli.options.messages import (
    Alpha,
    CoinSeed,
    DisclosureFile,
    ModelOptions,
    read_message,
)
from midpoint.cli.options.source import ColumnOptions
from midpoint.cli.output.spark import at_work, spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

app = typer.Typer(
    name="batch", help="Obfuscate or score whole populations, on Spark.", no_args_is_help=True
)

Table = Annotated[
    str, typer.Argument(help="Parquet, one row per rating: a path or any Hadoop address.")
]
Out = Annotated[str, typer.Option(help="Directory or address for Parquet; it must not exist.")]
Master = Annotated[
    str | None,
    typer.Option(help="Where Spark runs, such as spark://host:7077; else on this machine."),
]

STORED_MARGIN = 100
"""Smaller than what devices ask a service for (`wire.exchange.MARGIN`): everyone's list is stored,
and an operator knows how many items its people have rated."""


@app.command("obfuscate")
@expand
def obfuscate_command(
    ratings: Table,
    disclosure: DisclosureFile,
    out: Out,
    columns: ColumnOptions,
    users: Annotated[str | None, typer.Option(help="Parquet, one row per person.")] = None,
    alpha: Alpha = 1.0,
    seed: CoinSeed = None,
    master: Master = None,
) -> None:
    """Write what each person's device would reveal: user, item, rating.

    A person's coins depend on the seed and her user name, not on the machine that draws them.
    """
    from midpoint.analyst.engines.spark import read_ratings, require_new_address
    from midpoint.protocol.batch import Plan, obfuscate_people
    from midpoint.wire import Disclosure

    shown = read_message(disclosure, Disclosure)
    names = [part.name for part in shown.features]
    with spark(master) as session:
        require_new_address(session, out)
        with at_work(session, "Reading ratings"):
            read = read_ratings(
                session,
                ratings,
                users=users,
                columns=columns.columns(),
                features=names,
            )
            copy = obfuscate_people(read, shown, Plan.of(read, shown, seed=seed, alpha=alpha))
        _write(copy, out)
        count = session.read.parquet(out).count()
    typer.echo(f"{count:,} of {read.ratings:,} ratings are in {out}")


@app.command("score")
@expand
def score_command(
    model: ModelOptions,
    reports: Table,
    out: Out,
    top: Annotated[int, typer.Option(min=1, help="How many items to show a person.")] = 10,
    margin: Annotated[
        int,
        typer.Option(min=0, help="Public upper bound on how many items a person has rated."),
    ] = STORED_MARGIN,
    alpha: Annotated[
        float, typer.Option(min=0, max=1, help="Share of ratings that was obfuscated.")
    ] = 1.0,
    master: Master = None,
) -> None:
    """Estimate each person's profile, and list enough items for the best of every category.

    Reports have the columns user, item and rating, as `midpoint batch obfuscate` writes them. As
    in the service, an item's reports count less the more noise the coins add to them.
    """
    from midpoint.analyst.engines.spark import open_parquet, require_new_address
    from midpoint.analyst.engines.spark.scores import Plan, score_people

    profiles, disclosure = model.load()
    plan = Plan.of(
        profiles, disclosure, top=top, margin=margin, method=model.estimator.value, alpha=alpha
    )
    with spark(master) as session:
        require_new_address(session, out)
        _write(score_people(open_parquet(session, reports), plan), out)
        count = session.read.parquet(out).count()
    typer.echo(f"Profiles and shortlists of {count:,} people are in {out}")


def _write(table: "DataFrame", out: str) -> None:
    with at_work(table.sparkSession, "Writing"):
        table.write.parquet(out)
