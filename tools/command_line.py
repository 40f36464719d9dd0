"""MkDocs hook: the page of all commands is made from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer

from midpoint.cli.app import app

PAGE = "reference/command-line.md"
MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put every command with its arguments and options where the mark is."""
    if page.file.src_uri != PAGE:
        return markdown
    root = typer.main.get_command(app)
    return markdown.replace(MARK, "\n".join(_described(root, "midpoint")))


def _described(command: Any, name: str) -> Iterator[str]:
    if hasattr(command, "commands"):
        for inner, one in sorted(command.commands.items()):
            yield from _described(one, f"{name} {inner}")
        return
    yield f"## {name}\n\n{command.help or ''}\n"
    rows = [_row(one) for one in command.params if one.name != "help"]
    if rows:
        yield "| name | what it is |\n|---|---|"
        yield from rows
        yield ""


def _row(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = f"`{parameter.name.upper()}`"
    said = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("\n", " ")
    fixed = isinstance(parameter.default, str | int | float) and parameter.default not in {"", 0}
    default = (
        f" Default: `{parameter.default}`."
        if fixed and not isinstance(parameter.default, bool)
        else ""
    )
    return f"| {names} | {said}{default} |"
