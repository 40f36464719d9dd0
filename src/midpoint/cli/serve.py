"""`midpoint serve`: the analyst as a service over HTTP."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midpoint.cli.options.expansion import expand
from midpoint.cli.options.service import AddressOptions, ServiceOptions

DATABASE = "midpoint.sqlite"


@expand
def serve_command(
    *,
    site: Annotated[
        Path, typer.Argument(help="Site, as `midpoint publish` wrote it.", show_default=False)
    ],
    database: Annotated[
        str | None,
        typer.Option(
            envvar="MIDPOINT_DATABASE",
            help="postgresql://... or sqlite:///FILE; a file in the site unless given.",
            show_envvar=False,
        ),
    ] = None,
    listen: AddressOptions,
    service: ServiceOptions,
) -> None:
    """Serve a published site: solicit ratings, accept reports, return scores.

    SIGTERM ends it after all open requests are answered.
    """
    from midpoint.analyst.service.server import listening, prepare, run
    from midpoint.analyst.storage.connection import sqlite_url

    address = listen.address()
    settings = service.settings(site, database or sqlite_url(site / DATABASE))
    prepare(settings)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    with listening(address) as (opened, url):
        console.print(f"Serving {site} at {url}", markup=False)
        if address.is_exposed:
            console.print(
                "[bold yellow]warning:[/bold yellow] others on the network can read what devices"
                " send; give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a TLS proxy"
            )
        run(settings, address, opened)
