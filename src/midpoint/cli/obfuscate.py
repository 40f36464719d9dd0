"""`midpoint obfuscate`: a data set in, a copy out that hides a private feature."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from midpoint.cli.options.expansion import expand
from midpoint.cli.options.messages import Alpha, AsJson, CoinSeed, DisclosureFile, read_message
from midpoint.cli.options.source import DataOptions
from midpoint.cli.output.bars import share_bar
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.protocol.copies import Summary
    from midpoint.wire import Disclosure


@expand
def obfuscate_command(
    *,
    disclosure: DisclosureFile,
    out: Annotated[
        Path, typer.Option(help="Where to write: a .csv, .tsv, .parquet or .inter file.")
    ],
    scheme: Annotated[
        str | None, typer.Option(help="If given, the disclosure must be of this scheme.")
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(help="If given, the disclosure must protect these features."),
    ] = None,
    alpha: Alpha = 1.0,
    seed: CoinSeed = None,
    data: DataOptions,
    as_json: AsJson = False,
) -> None:
    """Write a copy of everyone's ratings (user, item, rating) that hides a private feature.

    People of unknown category and items that are not in the disclosure cannot be protected: they
    are left out and counted. Times are left out too.
    """
    from midpoint.files import replace_file
    from midpoint.protocol.copies import obfuscated_copy, table_bytes, table_suffix
    from midpoint.user import check_numbers
    from midpoint.wire import Disclosure

    table_suffix(out)
    shown = read_message(disclosure, Disclosure)
    check_numbers(shown)
    _require_agreement(shown, scheme, feature)
    with Console(stderr=True).status("Reading ratings"):
        ratings = data.load()
    with share_bar(Console(stderr=True), "Obfuscating") as progress:
        copy, summary = obfuscated_copy(ratings, shown, alpha=alpha, seed=seed, progress=progress)
    replace_file(out, table_bytes(copy, out))
    _show(summary, shown, out, alpha, as_json=as_json)


def _require_agreement(
    disclosure: "Disclosure", scheme: str | None, feature: list[str] | None
) -> None:
    if scheme is not None and scheme != disclosure.scheme:
        raise MidpointError(f"the disclosure is for scheme {disclosure.scheme}, not {scheme}")
    protected = {part.name for part in disclosure.features}
    if feature and set(feature) != protected:
        raise MidpointError(
            f"the disclosure protects {', '.join(sorted(protected)) or 'nothing'}, not"
            f" {', '.join(sorted(feature))}; make a disclosure for the features to protect"
        )


def _show(
    summary: "Summary", disclosure: "Disclosure", out: Path, alpha: float, *, as_json: bool
) -> None:
    from midpoint.analyst.disclose.specification import SchemeSpec
    from midpoint.protocol import state

    shift = SchemeSpec.of(disclosure).shift
    discrete, unary = disclosure.scale.levels is not None, disclosure.scale.is_unary
    says = state(disclosure.scheme, discrete=discrete, alpha=alpha, unary=unary, shift=shift)
    safe = alpha == 1 and disclosure.protects
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
        console.print("[bold red]This copy is not safe to publish:[/bold red] unchanged ratings, or"
                      " whole stars that were shifted, show the category.")  # fmt: skip
