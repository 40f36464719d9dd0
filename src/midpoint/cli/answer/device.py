"""`midpoint device`: what is kept here; another device, or a backup, as one encrypted file."""

import os
import stat
from pathlib import Path
from typing import Annotated

import typer

from midpoint.errors import MidpointError

app = typer.Typer(
    name="device",
    help="See what is kept here; move to another device, or keep a backup, as one encrypted file.",
    no_args_is_help=True,
)
Home = Annotated[
    Path | None,
    typer.Option(
        help="Where your secret, ledger and ratings are. Default: in your data directory."
    ),
]
PassphraseFile = Annotated[
    Path | None,
    typer.Option(
        help="File with the passphrase, for your eyes only (chmod 600); else you type it."
    ),
]


@app.command("show")
def show_command(
    url: Annotated[str, typer.Argument(help="Address of the service.", show_default=False)],
    home: Home = None,
) -> None:
    """Show what this device keeps about a service, and what you demand of it; nothing is sent."""
    from midpoint.cli.answer.statements import what_is_demanded
    from midpoint.user.agent.address import address_of, directory_name
    from midpoint.user.agent.home import Home as Kept

    root, name = _root(home), directory_name(address_of(url, plain_http=True))
    if not (root / name).exists():
        raise MidpointError(f"nothing of {url} is in {root}; check the address and --home")
    kept = Kept.inside(root, name)
    try:
        demanded = what_is_demanded(kept)
        rounds, rated, pin = len(kept.ledger.rounds), len(kept.ratings), kept.pin
    finally:
        kept.close()
    typer.echo(f"In {root / name}: ratings kept: {rated}; rounds answered: {rounds}.")
    if pin is not None:
        typer.echo(
            f"The service is held to entry {pin.sequence} of its list, and to key {pin.key}."
        )
    for line in demanded:
        typer.echo(f"You demand that {line}.")
    if not demanded:
        typer.echo("You demand no witness, no certificate and no leak budget.")


@app.command("export")
def export_command(
    url: Annotated[str, typer.Argument(help="Address of the service.", show_default=False)],
    file: Annotated[Path, typer.Argument(help="File to write.", show_default=False)],
    home: Home = None,
    passphrase_file: PassphraseFile = None,
    backup: Annotated[
        bool,
        typer.Option(
            "--backup",
            help="Stay on this device. What is restored later asks the service whether anything was"
            " answered since, and refuses if so.",
        ),
    ] = False,
) -> None:
    """Write all that is kept about a service to one file; then use the other device.

    Two devices must not decide independently. So this one answers nothing from now on, until the
    file of the other is imported here.
    """
    from midpoint.files import replace_file
    from midpoint.user.agent.address import address_of, directory_name
    from midpoint.user.agent.transfer import export_home

    if file.exists():
        raise MidpointError(f"{file} exists; name another file, it may be your only copy")
    directory = _root(home) / directory_name(address_of(url, plain_http=True))
    phrase = _passphrase(passphrase_file, twice=True)
    replace_file(file, export_home(directory, phrase, backup=backup), mode=0o600)
    if backup:
        typer.echo(f"A backup is in {file}. This device stays in use.")
        return
    typer.echo(
        f"All of it is in {file}. This device answers nothing any more: import the file on the"
        f" other one, once, then delete it, and {directory} here."
    )


@app.command("import")
def import_command(
    file: Annotated[
        Path, typer.Argument(help="File of `midpoint device export`.", show_default=False)
    ],
    home: Home = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Go on here with what another device exported, or with a backup if the device is lost.

    Import only what you exported yourself: the person who made the file knows the secret in it.
    """
    from midpoint.user.agent.transfer import import_home

    try:
        raw = file.read_bytes()
    except OSError as error:
        raise MidpointError(f"{file} cannot be read ({error.strerror}); check the path") from None
    directory = import_home(raw, _passphrase(passphrase_file, twice=False), _root(home))
    typer.echo(f"Imported to {directory}. Go on with `midpoint answer`; never import {file} again.")


def _root(home: Path | None) -> Path:
    from platformdirs import user_data_path

    return home or user_data_path("midpoint", appauthor=False)


def _passphrase(path: Path | None, *, twice: bool) -> str:
    """Read the passphrase from a file, or ask for it without showing it."""
    if path is None:
        try:
            typed: str = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=twice)
        except typer.Abort:  # where there is no terminal, too
            raise MidpointError(
                "no passphrase was typed; type it, or name its file by --passphrase-file"
            ) from None
        return typed
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MidpointError(f"{path} cannot be read ({type(error).__name__})") from None
    if os.name == "posix" and stat.S_ISREG(mode) and stat.S_IMODE(mode) & 0o077:
        raise MidpointError(f"{path} can be read by others; run: chmod 600 {path}")
    return text.rstrip("\r\n")
