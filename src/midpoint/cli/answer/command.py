"""`midpoint answer`: a person's own agent at a service, in the terminal or from a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.cli.answer.session import Session


def answer_command(
    url: Annotated[str, typer.Argument(help="Address of the service.", show_default=False)],
    home: Annotated[
        Path | None,
        typer.Option(
            help="Where secret, ledger and ratings are kept; your data directory if none."
        ),
    ] = None,
    witness: Annotated[
        str | None,
        typer.Option(help="Somebody independent that shows the newest entry of the same list."),
    ] = None,
    auditor: Annotated[
        list[str] | None, typer.Option(help="Public key of an auditor that you trust; repeatable.")
    ] = None,
    require_certificate: Annotated[
        bool, typer.Option("--require-certificate", help="Refuse what no such auditor certified.")
    ] = False,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Take another key, list, feature, scale or scheme of the service, as on first use."
            " Your secret and decisions stay.",
        ),
    ] = False,
    ratings: Annotated[
        Path | None,
        typer.Option(help="A CSV file with columns item (or title) and rating; asks nothing."),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(
            help="FEATURE=CATEGORY, for --ratings; repeatable. It stays here, but others on this"
            " machine can see a command line; a remembered one is used if none is given."
        ),
    ] = None,
    remember: Annotated[
        bool, typer.Option("--remember", help="Keep the category in your home folder.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Send without asking; else --ratings only shows.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many to recommend.")] = 10,
    export: Annotated[
        Path | None, typer.Option(help="Write all that is kept about you, there and here; end.")
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Erase you at the service, then here; end.")
    ] = False,
    in_memory: Annotated[
        bool, typer.Option("--in-memory", help="Keep nothing on disk; erased there at the end.")
    ] = False,
    plain_http: Annotated[
        bool, typer.Option("--plain-http", help="The way to the service is safe without TLS.")
    ] = False,
    proxy: Annotated[str | None, typer.Option(help="Go through this proxy.")] = None,
) -> None:
    """Rate titles, see what leaves this device, get recommendations; your secret stays here."""
    from midpoint.cli.answer.script import answer_from_file, category_of
    from midpoint.cli.answer.session import Session, Terminal
    from midpoint.user.agent import Agent, Channel, Terms

    terms = Terms(witness, tuple(auditor or ()), require_certificate, plain_http)
    channel = Channel(proxy=proxy)
    if in_memory:
        agent = Agent.in_memory(url, terms, channel)
    else:
        agent = Agent.open(url, home, terms, channel)
    console = Console(highlight=False)
    named = category_of(category)
    with agent:
        if accept_changes:
            agent.home.repin()
        session = Session(agent, Terminal(console), top=top, named=named, remember=remember)
        if forget:
            session.forget(sure=yes)
        elif export is not None:
            session.export(export)
        elif ratings is None and not console.is_terminal:
            raise MidpointError("this is no terminal; give --ratings FILE, --export or --forget")
        else:
            with _erased_if(session, in_memory=in_memory):
                session.run() if ratings is None else answer_from_file(session, ratings, yes=yes)


@contextmanager
def _erased_if(session: "Session", *, in_memory: bool) -> Iterator[None]:
    try:
        yield
    finally:
        if in_memory:
            session.leave()
