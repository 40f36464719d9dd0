"""`midpoint serve`, `doctor` and `witness`: the analyst over HTTP, and those who watch it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midpoint.cli.options.expansion import expand
from midpoint.cli.options.messages import AsJson
from midpoint.cli.options.service import DatabaseOption, ListenOptions, ServiceOptions

DATABASE = "midpoint.sqlite"
SiteArgument = Annotated[
    Path, typer.Argument(help="Site, as `midpoint publish` wrote it.", show_default=False)
]


@expand
def serve_command(
    *,
    site: SiteArgument,
    database: DatabaseOption = None,
    listen: ListenOptions,
    service: ServiceOptions,
) -> None:
    """Serve a published site: solicit ratings, accept reports, return scores.

    SIGTERM ends it after all open requests are answered.
    """
    from midpoint.analyst.service.server import listening, prepare, run
    from midpoint.analyst.storage.connection import sqlite_url

    address = listen.address(service.workers)
    settings = service.settings(site, database or sqlite_url(site / DATABASE))
    prepare(settings)
    with listening(address) as (opened, url):
        _say(f"Serving {site} at {url}", exposed=address.is_exposed)
        run(settings, address, opened)


def doctor_command(
    site: SiteArgument,
    database: DatabaseOption = None,
    as_json: AsJson = False,
) -> None:
    """Look at a site and its database: key, permissions, database, disk, chain, clock.

    Nothing is changed, and the service may run meanwhile. The exit status is 1 if there is a fault.
    """
    from midpoint.analyst.disclose.site import Site
    from midpoint.analyst.service.doctor import Level, examine
    from midpoint.analyst.storage.connection import sqlite_url

    findings = list(examine(Site(site), database or sqlite_url(site / DATABASE)))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for finding in findings:
            colour = {Level.FINE: "green", Level.NOTE: "yellow", Level.FAULT: "bold red"}
            level, name = finding.level, finding.check
            console.print(f"[{colour[level]}]{level:5}[/]  {name:11}", end="  ")
            console.print(finding.sentence, markup=False)
    if any(finding.level is Level.FAULT for finding in findings):
        raise typer.Exit(1)


@expand
def witness_command(
    *,
    service: Annotated[
        str, typer.Argument(help="Address of the service to watch.", show_default=False)
    ],
    directory: Annotated[
        Path,
        typer.Argument(
            help="Where the list, the times and your key are kept; made on first use.",
            show_default=False,
        ),
    ],
    every: Annotated[
        float,
        typer.Option(min=0.01, max=60, help="Minutes between two looks at the list."),
    ] = 10.0,
    space: Annotated[
        float,
        typer.Option(min=0.1, help="GiB of disclosures and titles to keep, at most."),
    ] = 4.0,
    listen: ListenOptions,
) -> None:
    """Watch a service's list for its users: keep every entry, sign when it was seen, show it.

    What entries name, disclosures and titles, is kept and shown as well. After two lists that
    contradict each other, nothing more is signed.

    Run it for a service that is not yours. Devices that name it (`midpoint answer --witness`)
    answer only under what it has shown for a day.
    """
    from midpoint.analyst.disclose.witness import WitnessFiles
    from midpoint.analyst.service.server import listening
    from midpoint.analyst.service.witness import Witness, run_witness
    from midpoint.user.agent.address import address_of

    files = WitnessFiles(directory, round(space * 2**30))
    watched = Witness(address_of(service, plain_http=True), files, 60 * every)
    address, key = listen.address(), watched.files.key.public
    with listening(address) as (opened, url):
        _say(f"Watching {watched.service} at {url}", exposed=address.is_exposed)
        _say(f"Key of this witness: {key}")
        run_witness(watched, address, opened)


def _say(sentence: str, *, exposed: bool = False) -> None:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(sentence, markup=False)
    if exposed:
        console.print(
            "[bold yellow]warning:[/bold yellow] others on the network can read and change what is"
            " sent; give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a TLS proxy"
        )
