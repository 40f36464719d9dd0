"""Options of a person's commands: what she demands of a service, the way to it, her answers."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from midpoint.cli.answer.category import CategoryOptions, named_category
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.user.agent import Agent, Home, Terms


@dataclass(frozen=True, kw_only=True)
class DemandOptions:
    """What a device demands of what a service published: kept until another run says otherwise."""

    PANEL: ClassVar = "What you demand of the service, from now on"

    auditor: Annotated[
        list[str] | None, typer.Option(help="Public key of an auditor that you trust; repeatable.")
    ] = None
    require_certificate: Annotated[
        bool,
        typer.Option(
            "--require-certificate", help="Refuse a disclosure that no --auditor certified."
        ),
    ] = False
    any_certificate: Annotated[
        bool,
        typer.Option("--any-certificate", help="Withdraw --require-certificate."),
    ] = False
    most_auc: Annotated[
        float | None,
        typer.Option(
            min=0.5,
            max=1,
            help="With --require-certificate: the highest AUC that a certificate may allow the"
            " strongest attack (0.5: blind guessing). 0.4 counts as 0.6, since an answer can be"
            " inverted. 0.6 unless given.",
        ),
    ] = None
    witness_key: Annotated[
        str | None,
        typer.Option(help="Public key of the witness; unless given, the first one seen is kept."),
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
            help="Go on without the witness that this device asked before. Unless given, nothing is"
            " sent without it.",
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
            help="Refuse a disclosure without a leak budget, or with one above this AUC. By the"
            " service's own account, the budget limits what somebody could reach who knew all"
            " errors of its numbers.",
        ),
    ] = None
    any_leak: Annotated[bool, typer.Option("--any-leak", help="Withdraw --most-leak.")] = False
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Accept that the service changed its key, list, feature, scale or scheme, as on"
            " first use. Your secret and decisions stay.",
        ),
    ] = False

    def require_fitting(self, *, witnessed: bool) -> None:
        """Refuse options that contradict each other."""
        if witnessed and self.without_witness:
            raise MidpointError("give --witness or --without-witness, not both")
        if self.any_leak and self.most_leak is not None:
            raise MidpointError("give --most-leak or --any-leak, not both")
        if self.require_certificate and self.any_certificate:
            raise MidpointError("give --require-certificate or --any-certificate, not both")

    def demanded(self, home: "Home", witness: str | None = None, *, witnessed: bool) -> "Terms":
        """Keep what is demanded from now on; return it with what is for this run only."""
        from midpoint.user.agent import Terms

        self.require_fitting(witnessed=witnessed)
        known = witnessed or home.demands.witness or home.proof.witness
        if not known and (self.witness_key or self.witness_hours is not None):
            raise MidpointError("--witness-key and --witness-hours go with --witness; give it, too")
        named = True if self.require_certificate else False if self.any_certificate else None
        required = home.demands.require_certificate if named is None else named
        if self.most_auc is not None and not required:
            raise MidpointError("--most-auc goes with --require-certificate; give both")
        hours = self.witness_hours
        home.demand(
            without=("most_leak",) if self.any_leak else (),
            auditors=tuple(self.auditor) if self.auditor else None,
            require_certificate=named,
            most_auc=_millionths(self.most_auc),
            most_leak=_millionths(self.most_leak),
            witness=witness,
            witness_key=self.witness_key,
            shown_for=None if hours is None else round(3600 * hours),
        )
        return Terms.of(
            home.demands,
            without_witness=self.without_witness,
            show_rated=self.agree_to_show_rated,
        )


@dataclass(frozen=True, kw_only=True)
class TrustOptions(DemandOptions):
    """What a device demands of a service, and the way to it."""

    PANEL: ClassVar = "What you demand of the service from now on, and the way to it"

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

    def agent(self, url: str, root: Path | None, *, in_memory: bool = False) -> "Agent":
        """Open what this device has at a service, and demand of it what is demanded."""
        from platformdirs import user_data_path

        from midpoint.user.agent import Agent, Channel, Terms

        self.require_fitting(witnessed=self.witness is not None)
        way = Terms(
            witness=self.witness,  # so that one that cannot be asked is refused, and not kept
            plain_http=self.plain_http,
            without_witness=self.without_witness,
        )
        channel = Channel(proxy=self.proxy)
        if in_memory:
            agent = Agent.in_memory(url, way, channel)
            agent.home.beside = root or user_data_path("midpoint", appauthor=False)
        else:
            agent = Agent.open(url, root, way, channel)
        try:
            witnessed = self.witness is not None
            terms = self.demanded(agent.home, self.witness, witnessed=witnessed)
            agent.inner.demand(replace(terms, plain_http=self.plain_http))
            if self.accept_changes:
                agent.home.repin()
        except BaseException:
            agent.close()
            raise
        return agent


@dataclass(frozen=True, kw_only=True)
class FileOptions(CategoryOptions):
    """Answers from a file instead of from keys."""

    PANEL: ClassVar = "Your category, and answers from a file"

    ratings: Annotated[
        Path | None,
        typer.Option(
            help="Answer from a file, without questions: CSV with columns item (or title) and"
            " rating, or JSON or TOML with stars by item or title. Where nothing is rated, a column"
            " or a JSON list of the names is enough."
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


def _millionths(auc: float | None) -> int | None:
    return None if auc is None else round(auc * 10**6)
