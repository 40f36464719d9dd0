"""Options of `midpoint answer`: whom to trust, and answers from a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.user.agent import Channel, Terms


@dataclass(frozen=True, kw_only=True)
class TrustOptions:
    """What a device requires of a service, and the way to it."""

    witness: Annotated[
        str | None,
        typer.Option(
            help="Address of an independent witness, which shows the newest entry of the service's"
            " list."
        ),
    ] = None
    auditor: Annotated[
        list[str] | None, typer.Option(help="Public key of an auditor that you trust; repeatable.")
    ] = None
    require_certificate: Annotated[
        bool,
        typer.Option(
            "--require-certificate", help="Refuse a disclosure that no --auditor certified."
        ),
    ] = False
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Accept that the service changed its key, list, feature, scale or scheme, as on"
            " first use. Your secret and decisions stay.",
        ),
    ] = False
    plain_http: Annotated[
        bool,
        typer.Option(
            "--plain-http", help="Allow a connection without TLS; use it only on a safe network."
        ),
    ] = False
    proxy: Annotated[str | None, typer.Option(help="Go through this proxy.")] = None

    def terms(self) -> "Terms":
        """Return what the agent requires."""
        from midpoint.user.agent import Terms

        return Terms(
            self.witness, tuple(self.auditor or ()), self.require_certificate, self.plain_http
        )

    def channel(self) -> "Channel":
        """Return the way to the service."""
        from midpoint.user.agent import Channel

        return Channel(proxy=self.proxy)


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """Answers from a file instead of from keys."""

    ratings: Annotated[
        Path | None,
        typer.Option(
            help="Answer from a CSV file with columns item (or title) and rating, without"
            " questions."
        ),
    ] = None
    category: Annotated[
        list[str] | None,
        typer.Option(
            help="FEATURE=CATEGORY, for --ratings; repeatable. It never leaves this device, but"
            " other users of this machine can see a command line. Unless given, the remembered"
            " one is used."
        ),
    ] = None
    remember: Annotated[
        bool, typer.Option("--remember", help="Keep the category in your home folder.")
    ] = False
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Send without asking. Without it, --ratings shows and sends nothing."
        ),
    ] = False

    def named_category(self) -> dict[str, str] | None:
        """Read FEATURE=CATEGORY; an error does not repeat what was given."""
        if not self.category:
            return None
        pairs = [text.partition("=") for text in self.category]
        if not all(name and sign and value for name, sign, value in pairs):
            raise MidpointError("--category is written FEATURE=CATEGORY, such as gender=F")
        return {name: value for name, _, value in pairs}
