"""`midpoint serve`: the analyst as a service over HTTP."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midpoint.errors import MidpointError

DATABASE = "midpoint.sqlite"
SITE = Annotated[Path, typer.Argument(help="What `midpoint publish` wrote.", show_default=False)]


def serve_command(
    site: SITE,
    database: Annotated[
        str | None,
        typer.Option(
            envvar="MIDPOINT_DATABASE",
            help="postgresql://... or sqlite:///FILE; a file in the site unless given.",
            show_envvar=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option(envvar="MIDPOINT_HOST", help="Address.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(envvar="MIDPOINT_PORT", min=0, max=65535, help="Port; 0 takes any.")
    ] = 8000,
    workers: Annotated[
        int, typer.Option(envvar="MIDPOINT_WORKERS", min=1, max=256, help="Processes.")
    ] = 1,
    tls_cert: Annotated[
        Path | None, typer.Option(envvar="MIDPOINT_TLS_CERT", help="TLS certificate chain.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(envvar="MIDPOINT_TLS_KEY", help="Its key.")
    ] = None,
    ask: Annotated[
        int, typer.Option(envvar="MIDPOINT_ASK", min=1, max=1000, help="Items asked in a round.")
    ] = 20,
    only_asked: Annotated[
        bool,
        typer.Option("--only-asked", envvar="MIDPOINT_ONLY_ASKED", help="Take no other answers."),
    ] = False,
    grace: Annotated[
        float,
        typer.Option(
            envvar="MIDPOINT_GRACE", min=0, help="Days to answer under a superseded disclosure."
        ),
    ] = 7.0,
    rate: Annotated[
        int,
        typer.Option(
            envvar="MIDPOINT_RATE", min=0, help="Requests of one token a minute; 0 for no limit."
        ),
    ] = 120,
    max_body: Annotated[
        int, typer.Option(envvar="MIDPOINT_MAX_BODY", min=1024, help="Bytes of a request.")
    ] = 2**20,
    max_kept: Annotated[
        int, typer.Option(envvar="MIDPOINT_MAX_KEPT", min=1024, help="Bytes kept of one token.")
    ] = 8 * 2**20,
    witness: Annotated[
        list[str] | None,
        typer.Option(
            envvar="MIDPOINT_WITNESS", help="Another host that the page may ask for the list."
        ),
    ] = None,
    log: Annotated[
        bool, typer.Option("--log/--no-log", envvar="MIDPOINT_LOG", help="One line a request.")
    ] = True,
) -> None:
    """Serve a published site: ask, take reports, score. SIGTERM ends it once all are answered."""
    from midpoint.analyst.service.server import Address, listening, prepare, run
    from midpoint.analyst.service.settings import DAY, Settings
    from midpoint.analyst.storage.connection import sqlite_url

    if (tls_cert is None) != (tls_key is None):
        raise MidpointError("--tls-cert and --tls-key go together")
    settings = Settings(
        site=str(site.resolve()),
        database=database or sqlite_url(site / DATABASE),
        ask=ask,
        only_asked=only_asked,
        grace=int(grace * DAY),
        rate=rate,
        largest=max_body,
        kept=max_kept,
        witnesses=tuple(map(_origin, witness or ())),
        log=log,
    )
    address = Address(host, port, workers, tls_cert, tls_key)
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


def _origin(url: str) -> str:
    """Return scheme and host of a witness, for the page's policy."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    fine = parts.scheme in ("http", "https") and parts.netloc.replace(":", "").isascii()
    if not fine or any(c in parts.netloc for c in " ;,'\"@") or not parts.hostname:
        raise MidpointError(f"--witness {url}: name it as https://HOST")
    return f"{parts.scheme}://{parts.netloc}"
