"""`midpoint disclose`: item profiles in, what everyone may know of them out."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from midpoint.cli.options.messages import AsJson
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst.categories.estimates import Estimation
    from midpoint.wire import Disclosure

EXAMPLE = "two categories and five levels"
"""For what the list counts bits."""


def disclose_command(
    directory: Annotated[
        Path | None,
        typer.Argument(help="Item profiles, as `midpoint train` wrote them.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the disclosure.")] = None,
    scheme: Annotated[
        str | None,
        typer.Option(
            help="A scheme; `cmpss` or `cmp` unless given, if the model knows counterparts, else"
            " `dmpss`, and `mpss` on a continuous scale."
        ),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Estimate as the paper does, without shrinkage.")
    ] = False,
    bits: Annotated[
        int | None, typer.Option(min=1, max=16, help="Bits for each number, if fewer.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List what each protocol discloses and guarantees.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write what people's devices need to protect them, the same for everyone."""
    if listed:
        _list(as_json=as_json)
        return
    if directory is None or out is None:
        raise MidpointError("name the item profiles and --out FILE, or ask for --list")
    from midpoint.analyst import ItemProfiles, disclose
    from midpoint.files import replace_file
    from midpoint.user import check_numbers

    with Console(stderr=True).status("Disclosing"):
        profiles = ItemProfiles.load(directory)
        estimation: Estimation = "plain" if plain else "shrunken"
        told = disclose(profiles, scheme, estimation=estimation, bits=bits)
        check_numbers(told)
        replace_file(out, told.raw)
    _show(told, out, as_json=as_json)


def _show(told: "Disclosure", out: Path, *, as_json: bool) -> None:
    from midpoint.protocol import bits_per_item, state

    says = state(told.scheme, discrete=told.scale.levels is not None)
    safe = told.obfuscation.protects(discrete=told.scale.levels is not None)
    facts = {
        "file": str(out),
        "digest": told.digest,
        "scheme": told.scheme,
        "items": len(told.items),
        "cells": told.n_cells,
        "bytes": len(told.raw),
        "bits_per_item": round(bits_per_item(told), 1),
        "safe": safe,
    }
    if as_json:
        typer.echo(json.dumps(facts | asdict(says), indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"{told.scheme}: {facts['items']} items, {facts['bits_per_item']} bits each;"
        f" {facts['bytes']:,} bytes in {out}\ndigest {told.digest}",
        markup=False,
    )
    console.print(f"Assumes: {says.assumes}.\nGuarantees: {says.guarantees}", markup=False)
    if not safe:
        console.print("[bold red]Devices refuse this scheme: it leaves the category readable.")


def _list(*, as_json: bool) -> None:
    from midpoint.analyst.counterparts.fit import SELECTION_FACTORS, TASTE_FACTORS
    from midpoint.protocol import PROTOCOLS, row_bits
    from midpoint.wire import ONE, RatingScale

    stars = RatingScale(low=ONE, high=5 * ONE, levels=tuple(k * ONE for k in range(1, 6)))
    bits = {
        name: round(
            row_bits(
                one.scheme,
                2,
                stars,
                selection_factors=SELECTION_FACTORS,
                taste_factors=TASTE_FACTORS,
            ),
            1,
        )
        for name, one in PROTOCOLS.items()
    }
    if as_json:
        rows = [
            {"name": name, "bits_per_item": bits[name], **asdict(one.statement)}
            for name, one in PROTOCOLS.items()
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    console = Console(highlight=False)
    console.print(f"Bits are counted for {EXAMPLE}.\n")
    for name, one in PROTOCOLS.items():
        says, more = one.statement, ", and 32 a dimension" if name == "full" else ""
        console.print(f"[bold]{name}[/bold]  ({says.source})")
        console.print(f"  discloses   {says.discloses}: {bits[name]} bits an item{more}")
        console.print(f"  assumes     {says.assumes}")
        console.print(f"  guarantees  {says.guarantees}\n")
