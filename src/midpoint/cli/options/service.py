"""Options of `midpoint serve`: where it listens, and what it accepts."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst.service.server import Address
    from midpoint.analyst.service.settings import Settings


DatabaseOption = Annotated[
    str | None,
    typer.Option(
        envvar="MIDPOINT_DATABASE",
        help="postgresql://... or sqlite:///FILE; a file in the site unless given.",
        show_envvar=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ListenOptions:
    """Where a service or a witness listens."""

    host: Annotated[str, typer.Option(envvar="MIDPOINT_HOST", help="Address to listen on.")] = (
        "127.0.0.1"
    )
    port: Annotated[
        int,
        typer.Option(
            envvar="MIDPOINT_PORT", min=0, max=65535, help="Port; 0 takes any that is free."
        ),
    ] = 8000
    tls_cert: Annotated[
        Path | None,
        typer.Option(envvar="MIDPOINT_TLS_CERT", help="TLS certificate chain, as PEM."),
    ] = None
    tls_key: Annotated[
        Path | None,
        typer.Option(envvar="MIDPOINT_TLS_KEY", help="Private key of the TLS certificate."),
    ] = None

    def address(self, workers: int = 1) -> "Address":
        """Return where to listen."""
        from midpoint.analyst.service.server import Address

        if (self.tls_cert is None) != (self.tls_key is None):
            raise MidpointError("--tls-cert and --tls-key go together; give both or neither")
        return Address(self.host, self.port, workers, self.tls_cert, self.tls_key)


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """With how many processes a service runs, what it asks for, accepts and logs."""

    workers: Annotated[
        int,
        typer.Option(envvar="MIDPOINT_WORKERS", min=1, max=256, help="How many processes answer."),
    ] = 1
    ask: Annotated[
        int,
        typer.Option(
            envvar="MIDPOINT_ASK", min=1, max=1000, help="How many items to ask about in a round."
        ),
    ] = 20
    only_asked: Annotated[
        bool,
        typer.Option(
            "--only-asked",
            envvar="MIDPOINT_ONLY_ASKED",
            help="Accept no answers about other items.",
        ),
    ] = False
    grace: Annotated[
        float,
        typer.Option(
            envvar="MIDPOINT_GRACE",
            min=0,
            help="Days in which devices may still answer a superseded disclosure.",
        ),
    ] = 7.0
    rate: Annotated[
        int,
        typer.Option(
            envvar="MIDPOINT_RATE",
            min=0,
            help="Requests per token and minute; 0 for no limit and no delay of bad requests.",
        ),
    ] = 120
    max_body: Annotated[
        int,
        typer.Option(envvar="MIDPOINT_MAX_BODY", min=1024, help="Largest request body, in bytes."),
    ] = 2**20
    max_kept: Annotated[
        int,
        typer.Option(
            envvar="MIDPOINT_MAX_KEPT",
            min=1024,
            help="Largest size of one token's reports, in bytes.",
        ),
    ] = 8 * 2**20
    witness: Annotated[
        list[str] | None,
        typer.Option(
            envvar="MIDPOINT_WITNESS",
            help="Address of a witness that the page asks (`midpoint witness`); repeatable.",
        ),
    ] = None
    panel: Annotated[
        bool,
        typer.Option(
            "--panel",
            envvar="MIDPOINT_PANEL",
            help="Let people join the panel: they share their category and their ratings as they"
            " are, and `midpoint learn` uses both. Members may leave in any case.",
        ),
    ] = False
    log: Annotated[
        bool,
        typer.Option("--log/--no-log", envvar="MIDPOINT_LOG", help="Log one line per request."),
    ] = True

    def settings(self, site: Path, database: str) -> "Settings":
        """Return the settings of a service for a site."""
        from midpoint.analyst.service.settings import DAY, Settings

        return Settings(
            site=str(site.resolve()),
            database=database,
            ask=self.ask,
            only_asked=self.only_asked,
            grace=int(self.grace * DAY),
            rate=self.rate,
            largest=self.max_body,
            kept=self.max_kept,
            witnesses=tuple(map(origin, self.witness or ())),
            panel=self.panel,
            log=self.log,
        )


def origin(url: str) -> str:
    """Return scheme and host of a witness, for the page's policy."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    fine = parts.scheme in ("http", "https") and parts.netloc.replace(":", "").isascii()
    if not fine or any(c in parts.netloc for c in " ;,'\"@") or not parts.hostname:
        raise MidpointError(f"--witness {url}: write it as https://HOST")
    return f"{parts.scheme}://{parts.netloc}"
