"""`midpoint answer`: a person's own agent at a service, in the terminal or from a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from midpoint.cli.answer.options import FileOptions, TrustOptions
from midpoint.cli.options.expansion import expand
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.cli.answer.session import Session


@expand
def answer_command(
    *,
    url: Annotated[str, typer.Argument(help="Address of the service.", show_default=False)],
    home: Annotated[
        Path | None,
        typer.Option(
            help="Where your secret, ledger and ratings are kept. Default: in your data directory."
        ),
    ] = None,
    trust: TrustOptions,
    file: FileOptions,
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many titles to recommend.")] = 10,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write all that the service and this device keep about you to this file; then end."
        ),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Erase you at the service, then here; then end.")
    ] = False,
    in_memory: Annotated[
        bool,
        typer.Option(
            "--in-memory",
            help="Keep nothing on disk; the service erases you at the end. Each run is somebody"
            " new: do not rate the same titles in two.",
        ),
    ] = False,
) -> None:
    """Rate titles, see what leaves this device, get recommendations; your secret stays here."""
    from midpoint.cli.answer.script import answer_from_file
    from midpoint.cli.answer.session import Session
    from midpoint.cli.answer.terminal import Terminal

    named = file.named()
    agent = trust.agent(url, home, in_memory=in_memory)
    console = Console(highlight=False)
    with agent:
        session = Session(agent, Terminal(console), top=top, named=named, remember=file.remember)
        session.in_the_clear = file.in_the_clear
        if forget:
            session.forget(sure=file.yes)
        elif export is not None:
            session.export(export)
        elif file.ratings is None and not console.is_terminal:
            raise MidpointError("this is no terminal; give --ratings FILE, --export or --forget")
        else:
            with _erased_if(session, in_memory=in_memory):
                if file.ratings is None:
                    session.run()
                else:
                    answer_from_file(session, file.ratings, yes=file.yes)


@contextmanager
def _erased_if(session: "Session", *, in_memory: bool) -> Iterator[None]:
    try:
        yield
    finally:
        if in_memory:
            session.leave()
