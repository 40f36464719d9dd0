"""Options of a person's commands: what she demands of a service, the way to it, her answers."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from midpoint.cli.answer.category import CategoryOptions, named_category
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.user.agent import Channel, Terms


@dataclass(frozen=True, kw_only=True)
class DemandOptions:
    """What a device demands of what a service published."""

    PANEL: ClassVar = "What you demand of the service"

    auditor: Annotated[
        list[str] | None, typer.Option(help="Public key of an auditor that you trust; repeatable.")
    ] = None
    require_certificate: Annotated[
        bool,
        typer.Option(
            "--require-certificate", help="Refuse a disclosure that no --auditor certified."
        ),
    ] = False
    most_auc: Annotated[
        float | None,
        typer.Option(
            min=0.5,
            max=1,
            help="With --require-certificate: refuse a disclosure whose strongest attack may reach"
            " a higher AUC, as certified, sign flipped or not. 0.5 is blind guessing; 0.6 unless"
            " given.",
        ),
    ] = None
    witness_key: Annotated[
        str | None,
        typer.Option(help="Public key of the witness; unless given, its first one is held on to."),
    ] = None
    witness_hours: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Hours for which the witness has to show a disclosure before you answer under it;"
            " 24 unless given.",
        ),
    ] = None
    without_witness: Annotated[
        bool,
        typer.Option(
            "--without-witness",
            help="Go on without the witness that this device asked before; else it is asked again,"
            " and nothing is sent without it.",
        ),
    ] = False
    agree_to_show_rated: Annotated[
        bool,
        typer.Option(
            "--agree-to-show-rated",
            help="On first use, take a scheme that does not hide which titles you rate.",
        ),
    ] = False
    most_leak: Annotated[
        float | None,
        typer.Option(
            min=0.5,
            max=1,
            help="Refuse a disclosure unless its leak budget is at most this AUC: what somebody"
            " could reach who knew all errors of the service's numbers, as the service says.",
        ),
    ] = None
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Accept that the service changed its key, list, feature, scale or scheme, as on"
            " first use. Your secret and decisions stay.",
        ),
    ] = False

    def demanded(self, *, witnessed: bool) -> "Terms":
        """Return what a device demands, without a network."""
        from midpoint.user.agent import Terms

        if not witnessed and (self.witness_key or self.witness_hours is not None):
            raise MidpointError("--witness-key and --witness-hours go with --witness; give it, too")
        if witnessed and self.without_witness:
            raise MidpointError("give --witness or --without-witness, not both")
        if self.most_auc is not None and not self.require_certificate:
            raise MidpointError("--most-auc goes with --require-certificate; give both")
        terms = Terms(
            auditors=tuple(self.auditor or ()),
            require_certificate=self.require_certificate,
            witness_key=self.witness_key,
            without_witness=self.without_witness,
            show_rated=self.agree_to_show_rated,
            most_leak=self.most_leak,
        )
        if self.witness_hours is not None:
            terms = replace(terms, shown_for=round(3600 * self.witness_hours))
        return terms if self.most_auc is None else replace(terms, most_auc=self.most_auc)


@dataclass(frozen=True, kw_only=True)
class TrustOptions(DemandOptions):
    """What a device demands of a service, and the way to it."""

    PANEL: ClassVar = "What you demand of the service, and the way to it"

    witness: Annotated[
        str | None,
        typer.Option(
            help="Address of a witness (`midpoint witness`): you answer only under what it has"
            " shown for --witness-hours."
        ),
    ] = None
    plain_http: Annotated[
        bool,
        typer.Option(
            "--plain-http", help="Allow a connection without TLS; use it only on a safe network."
        ),
    ] = False
    proxy: Annotated[str | None, typer.Option(help="Go through this proxy.")] = None

    def terms(self) -> "Terms":
        """Return what the agent demands."""
        demanded = self.demanded(witnessed=self.witness is not None)
        return replace(demanded, witness=self.witness, plain_http=self.plain_http)

    def channel(self) -> "Channel":
        """Return the way to the service."""
        from midpoint.user.agent import Channel

        return Channel(proxy=self.proxy)


@dataclass(frozen=True, kw_only=True)
class FileOptions(CategoryOptions):
    """Answers from a file instead of from keys."""

    PANEL: ClassVar = "Your category, and answers from a file"

    ratings: Annotated[
        Path | None,
        typer.Option(
            help="Answer from a file, without questions: CSV with columns item (or title) and"
            " rating, or JSON or TOML with stars by item or title."
        ),
    ] = None
    category: Annotated[
        list[str] | None,
        typer.Option(
            help="FEATURE=CATEGORY, for --ratings; repeatable. It never leaves this device, but"
            " other users of this machine can see a command line: --category-file is safer."
        ),
    ] = None
    in_the_clear: Annotated[
        bool,
        typer.Option(
            "--in-the-clear",
            help="Say no category: your ratings leave as they are, and nothing is protected.",
        ),
    ] = False
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Send without asking. Without it, --ratings shows and sends nothing."
        ),
    ] = False

    def named(self) -> dict[str, str] | None:
        """Return what the file or the command line says; None if neither does."""
        if self.in_the_clear and (self.category or self.category_file or self.remember):
            raise MidpointError("--in-the-clear says no category; give it, or a category")
        if not self.category:
            return super().named()
        if self.category_file is not None:
            raise MidpointError("give --category or --category-file, not both")
        return named_category(self.category, "--category")
