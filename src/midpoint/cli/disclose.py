"""`midpoint disclose`: item profiles in, what everyone may know of them out."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from midpoint.cli.options.messages import AsJson
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst.categories.estimates import Estimation
    from midpoint.wire import Disclosure, Scheme

_UNSAFE = "it does not hide the category."
_NO_DEVICE = "it is one of the paper's non-solutions (Sec. 4.1)."
EXAMPLE = "two categories, five levels, and as many factors as training uses"
"""What the list counts bits for."""


def disclose_command(
    model: Annotated[
        Path | None,
        typer.Argument(help="Item profiles, as `midpoint train` wrote them.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File for the disclosure.")] = None,
    scheme: Annotated[
        str | None,
        typer.Option(
            help="A scheme. Unless given: `cmpss` or `cmp` if the model has positions, else"
            " `dmpss`, or `mpss` on a continuous scale. Settings follow: `dmpss:levels=7` reports"
            " on seven of the levels, `cmpss:spread=on` hides how far people use the scale."
        ),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Estimate as the paper does, without shrinkage.")
    ] = False,
    bits: Annotated[
        int | None, typer.Option(min=1, max=16, help="Bits of each number; 16 unless given.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List what each scheme discloses and guarantees.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the disclosure: what devices need to protect people, the same for everyone."""
    if listed:
        _list(as_json=as_json)
        return
    if model is None or out is None:
        raise MidpointError("name the item profiles and --out FILE, or ask for --list")
    from midpoint.analyst import ItemProfiles, disclose
    from midpoint.audit.run.plan import read_scheme
    from midpoint.files import replace_file
    from midpoint.user import check_numbers

    with Console(stderr=True).status("Disclosing"):
        profiles = ItemProfiles.load(model)
        estimation: Estimation = "plain" if plain else "shrunken"
        disclosure = (
            disclose(profiles, scheme, estimation=estimation, bits=bits)
            if scheme is None
            else replace(read_scheme(scheme), estimation=estimation, bits=bits).disclose(profiles)
        )
        check_numbers(disclosure)
        replace_file(out, disclosure.raw)
    _show(disclosure, scheme or disclosure.scheme, out, as_json=as_json)


def _show(disclosure: "Disclosure", protocol: str, out: Path, *, as_json: bool) -> None:
    from midpoint.analyst.disclose.specification import SchemeSpec
    from midpoint.protocol import bits_per_item, state
    from midpoint.wire import SCHEMES

    protocol = protocol.partition(":")[0]
    scale = disclosure.scale
    known = protocol in SCHEMES  # the non-solutions of Sec. 4.1 are no schemes of a device
    says = state(
        protocol,
        discrete=scale.levels is not None,
        unary=scale.is_unary,
        shift=not known or SchemeSpec.of(disclosure).shift,
    )
    safe = known and disclosure.protects
    facts = {
        "file": str(out),
        "digest": disclosure.digest,
        "scheme": str(SchemeSpec.of(disclosure)) if known else protocol,
        "items": len(disclosure.items),
        "cells": disclosure.n_cells,
        "bytes": len(disclosure.raw),
        "bits_per_item": round(bits_per_item(disclosure), 1),
        "safe": safe,
    }
    if as_json:
        typer.echo(json.dumps(facts | asdict(says), indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"{facts['scheme']}: {facts['items']} items, {facts['bits_per_item']} bits each;"
        f" {facts['bytes']:,} bytes in {out}\ndigest {disclosure.digest}",
        markup=False,
    )
    console.print(f"Assumes: {says.assumes}.\nGuarantees: {says.guarantees}", markup=False)
    if not safe:
        console.print("[bold red]Devices refuse this scheme: " + (_UNSAFE if known else _NO_DEVICE))


def _list(*, as_json: bool) -> None:
    from midpoint.protocol import PROTOCOLS

    bits = {name: round(_bits(protocol.scheme), 1) for name, protocol in PROTOCOLS.items()}
    if as_json:
        rows = [
            {"name": name, "bits_per_item": bits[name], **asdict(protocol.statement)}
            for name, protocol in PROTOCOLS.items()
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    console = Console(highlight=False)
    console.print(f"Bits are counted for {EXAMPLE}.\n")
    for name, protocol in PROTOCOLS.items():
        says, more = protocol.statement, ", and 32 per dimension" if name == "full" else ""
        console.print(f"[bold]{name}[/bold]  ({says.source})")
        grid = Table.grid(padding=(0, 2))  # long texts are wrapped within their column
        grid.add_row("  discloses", f"{says.discloses}: {bits[name]} bits per item{more}")
        grid.add_row("  assumes", says.assumes)
        grid.add_row("  guarantees", f"{says.guarantees}\n")
        console.print(grid)


def _bits(scheme: "Scheme") -> float:
    """Return the bits per item of a scheme's disclosure, of a model of the usual size."""
    from midpoint.analyst.counterparts.dimensions import SELECTION_FACTORS, usual_taste_factors
    from midpoint.protocol import row_bits
    from midpoint.wire import ONE, RatingScale

    stars = RatingScale(low=ONE, high=5 * ONE, levels=tuple(k * ONE for k in range(1, 6)))
    selection = SELECTION_FACTORS if scheme.sub_samples else 0
    taste = usual_taste_factors(selection)
    return row_bits(scheme, 2, stars, selection_factors=selection, taste_factors=taste)
