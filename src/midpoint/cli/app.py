"""The root of the command line, and how it fails."""

import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated

import typer
from rich.console import Console

from midpoint import __version__
from midpoint.cli import (
    audit,
    batch,
    certify,
    compare,
    data,
    demo,
    disclose,
    learn,
    obfuscate,
    publish,
    recommend,
    serve,
    solicit,
    train,
)
from midpoint.cli.answer import command as answer
from midpoint.cli.answer import device, panel, protect, rank
from midpoint.errors import MidpointError
from midpoint.extras import advice

app = typer.Typer(
    name="midpoint",
    help="A recommender that cannot learn what you keep private.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
OPERATOR = "Operator: train, publish and serve a model"
WITNESS = "Witness: watch a service for its users"
PERSON = "Person: answer a service, or exchange files with it"
AUDITOR, RESEARCHER = "Auditor: measure what leaks", "Researcher: experiments on whole data sets"
START = "Start here"
COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    START: {"demo": demo.demo_command},
    OPERATOR: {
        "train": train.train_command,
        "disclose": disclose.disclose_command,
        "publish": publish.publish_command,
        "renew-key": publish.renew_key_command,
        "learn": learn.learn_command,
        "serve": serve.serve_command,
        "doctor": serve.doctor_command,
        "solicit": solicit.solicit_command,
        "estimate": recommend.estimate_command,
        "recommend": recommend.recommend_command,
    },
    PERSON: {
        "answer": answer.answer_command,
        "protect": protect.protect_command,
        "rank": rank.rank_command,
    },
    WITNESS: {"witness": serve.witness_command},
    AUDITOR: {
        "audit": audit.audit_command,
        "compare": compare.compare_command,
        "certify": certify.certify_command,
    },
    RESEARCHER: {"obfuscate": obfuscate.obfuscate_command},
}
"""Every command, by who uses it; help shows the groups in this order."""
for heading, commands in COMMANDS.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=heading)(command)
app.add_typer(panel.app, rich_help_panel=PERSON)
app.add_typer(device.app, rich_help_panel=PERSON)
app.add_typer(data.app, rich_help_panel=OPERATOR)
app.add_typer(batch.app, rich_help_panel=OPERATOR)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Take the options that belong to no command."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run a command; an error that a person can fix is one sentence, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a pipe on Windows has no stars, and many titles not
            stream.reconfigure(errors="replace")
    try:
        app()
    except MidpointError as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        _fail(f"{error.filename}: {error.strerror}; check the path, its permissions and the disk")
    except ModuleNotFoundError as error:
        install = advice(error)
        if install is None:
            raise
        _fail(install)


def _fail(message: str) -> None:
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print("[bold red]error:[/bold red]", end=" ")
    console.print(message, markup=False)
    raise SystemExit(1)
