"""`midpoint publish`: make a model the current one of a site, in one step."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midpoint.cli.options.messages import AsJson, read_message


def publish_command(
    model: Annotated[
        Path, typer.Argument(help="Item profiles, as `midpoint train` wrote.", show_default=False)
    ],
    site: Annotated[
        Path, typer.Argument(help="Directory that a service shows.", show_default=False)
    ],
    scheme: Annotated[
        str | None,
        typer.Option(help="A scheme; unless given, the one the site has, or the model's own."),
    ] = None,
    bits: Annotated[
        int | None, typer.Option(min=1, max=16, help="Bits for each number, if fewer.")
    ] = None,
    certificate: Annotated[
        list[Path] | None,
        typer.Option(help="What an auditor signed, as `midpoint certify` wrote it; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Disclose a model and switch a site to it; services that run pick it up by themselves.

    The first time, the site's signing key is made: back it up, devices hold the site to it.
    """
    from midpoint.analyst import ItemProfiles, disclose
    from midpoint.analyst.disclose.site import Site
    from midpoint.wire import Signed

    with Console(stderr=True).status("Publishing"):
        profiles = ItemProfiles.load(model)
        place = Site(site)
        before = place.current()
        # Devices hold the site to its scheme; a model that now knows more does not change it.
        told = disclose(profiles, scheme or (before.scheme if before else None), bits=bits)
        done = place.publish(
            profiles, told, time=int(time.time()), change_scheme=scheme is not None
        )
        signed = [read_message(path, Signed) for path in certificate or []]
        certified = [place.certify(one) for one in signed]
    if as_json:
        facts = {
            "site": str(site),
            "disclosure": told.digest,
            "sequence": done.entry.sequence,
            "fresh": done.fresh,
            "key": done.entry.key,
            "certificates": len(certified),
        }
        typer.echo(json.dumps(facts, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    what = "is now current" if done.fresh else "was current already"
    console.print(
        f"{told.scheme} of {len(told.items)} items {what}: entry {done.entry.sequence} of"
        f" {place.list}\ndigest {told.digest}\nkey    {done.entry.key}",
        markup=False,
    )
    if before is not None and before.scheme != told.scheme:
        console.print(
            f"Devices that know the site refuse {told.scheme} after {before.scheme} until their"
            " owners accept the change.",
            markup=False,
        )
    for one in certified:
        console.print(f"certified by {one.auditor}", markup=False)
    console.print(f"Serve it with: midpoint serve {site}", markup=False)
