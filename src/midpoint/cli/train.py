"""`midpoint train`: ratings in, item profiles out."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from midpoint.cli.options import source as options
from midpoint.cli.options.engines import (
    EngineName,
    fit_from_tables,
    require_in_memory,
    require_used,
)
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst.fit.als import Regularization
    from midpoint.analyst.fit.factorizer import Factorizer
    from midpoint.analyst.fit.factorizer import Progress as Report
    from midpoint.analyst.fit.profiles import ItemProfiles
    from midpoint.data import Ratings

Source = Annotated[
    str,
    typer.Argument(
        help="A known name (`midpoint data list`), a zip or folder in a known layout, or your own"
        " CSV, TSV or Parquet file. For the engines `stream` and `spark`: Parquet, a file or a"
        " folder of files; for `spark` also any Hadoop address.",
        show_default=False,
    ),
]
SHOWN = 5
"""Items listed on either side of the private feature."""


class Biases(StrEnum):
    """How offsets are estimated."""

    shrunken = "shrunken"
    plain = "plain"
    joint = "joint"


class Counterparts(StrEnum):
    """Where people lie: what schemes with counterparts need to know."""

    auto = "auto"
    sets = "sets"
    values = "values"
    none = "none"


class Method(StrEnum):
    """How profiles are fitted."""

    als = "als"
    sgd = "sgd"


def train_command(
    source: Source,
    out: Annotated[Path, typer.Option(help="Directory for the item profiles; replaced whole.")],
    feature: Annotated[
        list[str] | None,
        typer.Option(help="The private feature; several make a joint one.", show_default=False),
    ] = None,
    users: Annotated[
        str | None,
        typer.Option(
            help="Your own table of users: one row each, with features. A path, or for Spark any"
            " Hadoop address."
        ),
    ] = None,
    dimension: Annotated[int, typer.Option(min=1, help="Latent dimensions.")] = 20,
    iterations: Annotated[
        int,
        typer.Option(
            min=0,
            help="Passes over the ratings, at most; 15, or 20 of gradient descent, unless given.",
            show_default=False,
        ),
    ] = 0,
    regularization: Annotated[
        str, typer.Option(help="`learned` from the data, or a number that each rating adds.")
    ] = "learned",
    biases: Annotated[
        Biases, typer.Option(help="Class means shrunken or plain, or fitted jointly (Eq. 5).")
    ] = Biases.shrunken,
    method: Annotated[
        Method, typer.Option(help="Alternating least squares, or gradient descent.")
    ] = Method.als,
    validation: Annotated[
        float, typer.Option(min=0, max=0.5, help="Share of ratings that decides when to stop.")
    ] = 0.0,
    counterparts: Annotated[
        Counterparts,
        typer.Option(
            help="Learn where people lie, for devices to find their counterparts: in the `sets` of"
            " what they rate and how (scheme cmpss), or where everyone rates everything in their"
            " `values` alone (cmp). `auto` does so from 200 people of each category on, on scales"
            " of at most 10 levels: by sets where at most half of all possible ratings are there,"
            " by values where more than 95 % are. In memory only."
        ),
    ] = Counterparts.auto,
    at_least: options.AtLeast = 1,
    levels: options.Levels = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose dimension and regularization on held-out users.")
    ] = False,
    engine: Annotated[
        EngineName,
        typer.Option(help="`local`: in memory; `stream`: Parquet on disk; `spark`: on a cluster."),
    ] = EngineName.local,
    master: Annotated[
        str | None, typer.Option(help="Where Spark runs: spark://host:7077; here unless given.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="All cores unless given.")] = None,
    seed: Annotated[int, typer.Option(help="Decides every random draw.")] = 0,
    user_column: options.UserColumn = None,
    item_column: options.ItemColumn = None,
    rating_column: options.RatingColumn = None,
    title_column: options.TitleColumn = None,
    item_columns: options.ItemColumns = None,
    feature_columns: options.FeatureColumns = None,
    scale: options.ScaleText = None,
) -> None:
    """Learn item profiles, and what each category of a private feature adds to every item."""
    from midpoint.analyst import Factorizer, itemwise_scheme, train
    from midpoint.analyst.fit.profiles import require_new_directory
    from midpoint.data.tables.columns import Columns

    require_new_directory(out)
    require_used(engine, master=master, threads=threads)
    console = Console()
    factorizer = Factorizer(
        dimension=dimension,
        iterations=iterations,
        regularization=_regularization(regularization),
        biases=biases.value,
        method=method.value,
        validation=validation,
        seed=seed,
        threads=threads,
    )
    if engine is not EngineName.local:
        from midpoint.analyst.engines import RatingsTables

        asked = counterparts in (Counterparts.sets, Counterparts.values)
        in_memory = {
            "--counterparts": asked,
            "--tune": tune,
            "--at-least": at_least > 1,
            "--levels": levels is not None,
            "--item-columns": item_columns,
        }
        require_in_memory(engine, {name: bool(used) for name, used in in_memory.items()})
        columns = Columns(
            user_column, item_column, rating_column,
            title=title_column, features=options.split_names(feature_columns),
        )  # fmt: skip
        own_scale = None if scale is None else options.parse_scale(scale)
        tables = RatingsTables(source, users, columns, own_scale, tuple(feature or ()))
        started = time.perf_counter()
        profiles = fit_from_tables(
            engine, tables, factorizer, out, master, lambda: training_bar(console)
        )
        if profiles.features:  # positions are learned in memory only
            profiles = replace(profiles, scheme=itemwise_scheme(profiles.scale))
    else:
        with console.status("Reading ratings"):
            ratings = options.load_source(
                source,
                users=None if users is None else Path(users),
                user_column=user_column,
                item_column=item_column,
                rating_column=rating_column,
                title_column=title_column,
                item_columns=item_columns,
                feature_columns=feature_columns,
                scale=scale,
                seed=seed,
                at_least=at_least,
                levels=levels,
            )
        console.print(f"{ratings!r}", highlight=False, markup=False, soft_wrap=True)
        names = list(feature or []) or None
        if tune:
            factorizer = _tune(console, factorizer, ratings, names)
        started = time.perf_counter()
        scheme = wanted_scheme(console, counterparts, ratings, names or [])
        with training_bar(console) as report:
            profiles = train(ratings, names, factorizer=factorizer, scheme=scheme, progress=report)
    profiles.save(out)
    _summarize(console, profiles, time.perf_counter() - started)
    console.print(f"Item profiles are in {out}", highlight=False, soft_wrap=True)


def wanted_scheme(
    console: Console, wanted: Counterparts, ratings: "Ratings", features: list[str]
) -> str | None:
    """Return the scheme that was asked for, None if the library is to choose."""
    from midpoint.analyst import choose_scheme, itemwise_scheme

    if wanted is Counterparts.auto:
        return None
    if wanted is Counterparts.none:
        return itemwise_scheme(ratings.scale)
    scheme = "cmpss" if wanted is Counterparts.sets else "cmp"
    if scheme != choose_scheme(ratings, *features):
        console.print(
            "Counterparts are not what these ratings suggest (see --help), and may show more than"
            " they hide: audit them before you publish this.",
            soft_wrap=True,
        )
    return scheme


@contextmanager
def training_bar(console: Console) -> Iterator[Callable[["Report"], None]]:
    """Show how far training has come, stage by stage."""
    with _bar(console) as bar:
        task = bar.add_task("Training")

        def report(progress: "Report") -> None:
            error = "" if isnan(progress.rmse) else f", error {progress.rmse:.4f}"
            bar.update(
                task,
                total=progress.iterations,
                completed=progress.iteration,
                description=f"{progress.stage}{error}",
            )

        yield report


def _bar(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True)


def _regularization(text: str) -> "Regularization":
    if text == "learned":
        return "learned"
    try:
        return float(text)
    except ValueError as error:
        raise MidpointError(
            f"--regularization {text}: write `learned`, or a number such as 0.06"
        ) from error


def _tune(
    console: Console, factorizer: "Factorizer", ratings: "Ratings", feature: list[str] | None
) -> "Factorizer":
    from midpoint.analyst.fit.tuning import tune

    with _bar(console) as bar:
        task = bar.add_task("Tuning")
        result = tune(
            ratings,
            feature,
            factorizer,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    table = Table("dimension", "regularization", "RMSE of held-out users", "standard error")
    for trial in result.trials:
        mark = "[bold]" if trial == result.best else ""
        table.add_row(
            *(f"{mark}{cell}" for cell in (
                trial.dimension, trial.regularization, f"{trial.rmse:.4f}", f"{trial.error:.4f}",
            ))
        )  # fmt: skip
    console.print(table)
    return result.factorizer


def _summarize(console: Console, profiles: "ItemProfiles", seconds: float) -> None:
    """Print what was learned: size, noise, counterparts, and the items a feature moves most."""
    console.print(
        f"{profiles.n_items} item profiles of dimension {profiles.dimension - 1} in"
        f" {seconds:.1f} s; noise of a rating {profiles.noise_variance**0.5:.3f}",
        highlight=False,
    )
    if profiles.positions is not None:
        console.print(
            f"It has positions of {profiles.positions.selection_factors} selection factors and"
            f" {profiles.positions.taste.shape[1]} taste factors, and is disclosed by"
            f" {profiles.scheme}",
            highlight=False,
        )
    for k, category in enumerate(profiles.categories):
        order = profiles.offset[:, k].argsort()[::-1][:SHOWN]
        liked = ", ".join(f"{profiles.item_names[j]} ({profiles.offset[j, k]:+.2f})" for j in order)
        console.print(
            f"  {profiles.feature} {category} adds most to: {liked}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
