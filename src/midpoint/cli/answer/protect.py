"""`midpoint protect`: what was published and her ratings in, the report out; all by files."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from midpoint.cli.answer.category import CategoryOptions, category_of
from midpoint.cli.answer.options import DemandOptions
from midpoint.cli.answer.terminal import Terminal
from midpoint.cli.options.expansion import expand
from midpoint.cli.options.messages import read_message
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.user.agent.device import Device
    from midpoint.wire import Published, Solicitation


@expand
def protect_command(
    *,
    disclosure: Annotated[
        Path, typer.Option(help="All that is published, as `midpoint publish --out` wrote it.")
    ],
    ratings: Annotated[
        Path,
        typer.Option(
            help="Your ratings: CSV with columns item (or title) and rating, or JSON or TOML with"
            " stars by item or title. Where nothing is rated, a column or a JSON list of the names"
            " is enough."
        ),
    ],
    home: Annotated[
        Path,
        typer.Option(help="Directory for your secret, ledger and ratings; one for each service."),
    ],
    question: Annotated[
        Path | None,
        typer.Option(
            help="What you are asked, as `midpoint solicit --out` wrote it; unless given, all that"
            " you rated is answered."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the report to this file. Without it, nothing is decided."),
    ] = None,
    witness: Annotated[
        Path | None,
        typer.Option(help="What a witness signed, as it shows it at /v1/witness."),
    ] = None,
    demands: DemandOptions,
    category: CategoryOptions,
) -> None:
    """Protect your ratings by files: see what leaves this device, and write the report to send.

    What is published is checked as `midpoint answer` checks it, and the service is held to it. A
    decision is final: answer the same question again, and the same report is written.
    """
    from midpoint.cli.answer.statements import say_demands, say_standing
    from midpoint.user.agent.device import Device, accept_and_keep, device_home, has_device
    from midpoint.wire import Solicitation

    _require_other(out, disclosure, ratings, question, witness, category.category_file)
    published = _published(disclosure, witness)
    asked = None if question is None else read_message(question, Solicitation)
    named = category.named()
    terminal = Terminal(Console(highlight=False))
    begun = has_device(home)
    with closing(device_home(home)) as kept:
        changes = demands.accept_changes
        terms = demands.demanded(kept, witnessed=witness is not None)
        standing = accept_and_keep(published, kept, terms, accept_changes=changes)
        if not begun:
            terminal.say(f"A new device begins in {home}, with a new secret; keep this directory.")
        say_standing(terminal, standing, witnessed=witness is not None)
        say_demands(terminal, kept)
        shown = standing.accepted.disclosure
        hers = category_of(kept, shown, terminal, named, remember=category.remember)
        _answer(terminal, Device.of(kept, standing, hers), ratings, asked, out)


def _answer(
    terminal: Terminal,
    device: "Device",
    ratings: Path,
    asked: "Solicitation | None",
    out: Path | None,
) -> None:
    """Show what leaves; with a file to write to, decide and write."""
    from midpoint.cli.answer.ratings import read_ratings
    from midpoint.cli.answer.statements import say_leaving
    from midpoint.files import replace_file

    given = read_ratings(ratings, device.standing).named
    lines = device.preview(given, question=asked)
    shown, mark = device.disclosure, device.standing.mark
    thinned = shown.keep is not None
    say_leaving(terminal, lines, shown.scale, final="written", mark=mark, thinned=thinned)
    if asked is not None and device.has_answered(asked):
        terminal.say(f"Round {asked.round} was answered before: that report stands.")
    if out is None:
        terminal.say("Nothing was decided; add --out FILE to write the report.")
        return
    report = device.protect(given, question=asked)
    replace_file(out, report.raw, mode=0o600)
    terminal.say(
        f"[green]Written:[/green] {len(report.raw)} bytes with {len(report.answers)} of your"
        " answers, all that is to be sent:",
        markup=True,
    )
    terminal.say(str(out))


def _published(path: Path, witness: Path | None) -> "Published":
    """Read all that is published, and what a witness saw of it."""
    from midpoint.wire import Disclosure, Published, RefusedError, Signed

    try:
        raw = path.read_bytes()
        published = Published.parse(raw)
    except OSError as error:
        raise MidpointError(f"{path} cannot be read ({error.strerror}); check the path") from error
    except RefusedError as error:
        try:
            Disclosure.parse(raw)
        except RefusedError:
            raise MidpointError(f"{path}: {error}") from error
        raise MidpointError(
            f"{path} is a disclosure alone: anybody could have written it. Ask for the file of"
            " `midpoint publish --out`, which has the signed list and the titles as well"
        ) from error
    if witness is None:
        return published
    return replace(published, witness=read_message(witness, Signed))


def _require_other(out: Path | None, *read: Path | None) -> None:
    """Refuse to write over what is read."""
    if out is not None and out.resolve() in {path.resolve() for path in read if path is not None}:
        raise MidpointError(f"--out {out} is a file that is read; name another")
