"""`midpoint obfuscate`: a data set in, a copy out that keeps a private feature to itself."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from midpoint.cli.options import source as options
from midpoint.cli.options.messages import AsJson, read_message
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.protocol.copies import Summary
    from midpoint.wire import Disclosure


def obfuscate_command(
    ratings: options.Source,
    disclosure: Annotated[
        Path, typer.Option(help="What was disclosed of the items: `midpoint disclose`.")
    ],
    out: Annotated[Path, typer.Option(help="Where to write: a .csv, .tsv or .parquet file.")],
    scheme: Annotated[
        str | None, typer.Option(help="The disclosure's scheme; named, it has to agree.")
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(help="The disclosure's private features; named, they have to agree."),
    ] = None,
    users: options.Users = None,
    alpha: Annotated[
        float, typer.Option(min=0, max=1, help="Share of ratings to obfuscate.")
    ] = 1.0,
    seed: Annotated[
        int | None,
        typer.Option(help="Coins that can be tossed again; keep it secret. The system's if none."),
    ] = None,
    user_column: options.UserColumn = None,
    item_column: options.ItemColumn = None,
    rating_column: options.RatingColumn = None,
    feature_columns: options.FeatureColumns = None,
    scale: options.ScaleText = None,
    as_json: AsJson = False,
) -> None:
    """Write a copy of everyone's ratings (user, item, rating) from which a feature is taken out.

    People whose category is unknown are left out and counted, as are items that the disclosure
    does not know: neither can be protected. Times are left out too.
    """
    from midpoint.files import replace_file
    from midpoint.protocol.copies import obfuscated_copy, table_bytes, table_suffix
    from midpoint.user import check_numbers
    from midpoint.wire import Disclosure

    table_suffix(out)
    told = read_message(disclosure, Disclosure)
    check_numbers(told)
    _require_agreement(told, scheme, feature)
    with Console(stderr=True).status("Reading ratings"):
        read = options.load_source(
            ratings,
            users=users,
            user_column=user_column,
            item_column=item_column,
            rating_column=rating_column,
            feature_columns=feature_columns,
            scale=scale,
        )
    with _bar() as progress:
        copy, summary = obfuscated_copy(read, told, alpha=alpha, seed=seed, progress=progress)
    replace_file(out, table_bytes(copy, out))
    _show(summary, told, out, alpha, as_json=as_json)


def _require_agreement(told: "Disclosure", scheme: str | None, feature: list[str] | None) -> None:
    if scheme is not None and scheme != told.scheme:
        raise MidpointError(f"the disclosure is for scheme {told.scheme}, not {scheme}")
    protected = {part.name for part in told.features}
    if feature and set(feature) != protected:
        raise MidpointError(
            f"the disclosure protects {', '.join(sorted(protected)) or 'nothing'}, not"
            f" {', '.join(sorted(feature))}; disclose for what is to be protected"
        )


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Obfuscating")
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(
    summary: "Summary", told: "Disclosure", out: Path, alpha: float, *, as_json: bool
) -> None:
    from midpoint.protocol import state

    says = state(told.scheme, discrete=told.scale.levels is not None, alpha=alpha)
    safe = alpha == 1 and told.obfuscation.protects(discrete=told.scale.levels is not None)
    if as_json:
        facts = {"file": str(out), **asdict(summary), "alpha": alpha, "safe": safe}
        facts |= {"guarantees": says.guarantees, "reach": says.reach}
        typer.echo(json.dumps(facts, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"{summary.revealed:,} of {summary.ratings:,} ratings are in {out}; {summary.withheld:,}"
        f" were withheld. Left out: {summary.people_dropped:,} people of unknown category,"
        f" {summary.items_dropped:,} items that the disclosure does not know.",
        markup=False,
    )
    console.print(f"Assumes: {says.assumes}.\nGuarantees: {says.guarantees}", markup=False)
    if not safe:
        console.print("[bold red]This copy is not safe to publish:[/bold red] ratings as they are,"
                      " or shifted whole stars, tell the category.")  # fmt: skip
