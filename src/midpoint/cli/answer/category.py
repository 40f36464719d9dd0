"""Her category: remembered, read from a file, or chosen by a key; never printed."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from midpoint.cli.answer.terminal import Terminal
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.user import PrivateCategory
    from midpoint.user.agent import Home
    from midpoint.wire import Disclosure


class NoCategoryError(Exception):
    """She is in none of the categories, or does not want to say."""


@dataclass(frozen=True, kw_only=True)
class CategoryOptions:
    """Where her category is from, unless she is asked."""

    category_file: Annotated[
        Path | None,
        typer.Option(
            help="File with a line FEATURE=CATEGORY for each private feature, for your eyes only"
            " (chmod 600). Unless given, the remembered category is used, or you are asked."
        ),
    ] = None
    remember: Annotated[
        bool, typer.Option("--remember", help="Keep the category in your home directory.")
    ] = False

    def named(self) -> dict[str, str] | None:
        """Return what the file says; None if there is none."""
        return None if self.category_file is None else read_category(self.category_file)


def read_category(path: Path) -> dict[str, str]:
    """Read lines FEATURE=CATEGORY; an error does not repeat what they say."""
    try:
        mode = path.stat().st_mode
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise MidpointError(f"{path} cannot be read ({reason}); check the path") from None
    if os.name == "posix" and stat.S_ISREG(mode) and stat.S_IMODE(mode) & 0o077:
        raise MidpointError(f"{path} can be read by others; run: chmod 600 {path}")
    written = [line.strip() for line in lines]
    return named_category([line for line in written if line and not line.startswith("#")], path)


def named_category(texts: list[str], where: object) -> dict[str, str]:
    """Read FEATURE=CATEGORY of each text; an error does not repeat what was given."""
    pairs = [[part.strip() for part in text.partition("=")] for text in texts]
    if not pairs or not all(name and value for name, _, value in pairs):
        raise MidpointError(f"{where}: write FEATURE=CATEGORY, such as gender=F")
    names = {name: value for name, _, value in pairs}
    if len(names) < len(pairs):
        raise MidpointError(f"{where} names a feature twice; name each once")
    return names


def category_of(
    home: "Home",
    disclosure: "Disclosure",
    terminal: Terminal,
    named: Mapping[str, str] | None,
    *,
    remember: bool,
    optional: bool = False,
) -> "PrivateCategory":
    """Return her category: as she named it, remembered, or asked for here.

    Where that is `optional`, she may say none: a `NoCategoryError`.
    """
    from midpoint.user import PrivateCategory

    if named is None and (kept := home.category) is not None:
        terminal.say("Using the category that you asked this device to remember.")
        return kept
    names = named
    if names is None:
        names, wished = _ask(home, disclosure, terminal, remember=remember, optional=optional)
        remember = remember or wished
    category = PrivateCategory.of(disclosure, names)
    if remember:
        home.keep_category(names)
    return category


def _ask(
    home: "Home", disclosure: "Disclosure", terminal: Terminal, *, remember: bool, optional: bool
) -> tuple[dict[str, str], bool]:
    """Ask for the category of each feature, and whether to remember it."""
    decides = (
        "which of your titles are withheld"
        if disclosure.scale.is_unary
        else ("how your ratings are changed")
    )
    private = (
        f"What you keep private: [b]{{}}[/b]. It decides {decides}, and never leaves this device"
        " unless you join the panel."
    )
    names = ask_names(disclosure, terminal, private, optional=optional)
    if home.directory is None or remember:
        return names, remember
    return names, terminal.sure(f"Remember it in {escape(str(home.directory))}?")


def ask_names(
    disclosure: "Disclosure",
    terminal: Terminal,
    question: str = "Your [b]{}[/b], to share with the service:",
    *,
    optional: bool = False,
) -> dict[str, str]:
    """Ask for the category of each feature; the question has room for the name of a feature."""
    if not terminal.console.is_terminal:
        raise MidpointError(
            "name your category: --category-file FILE, which has a line such as gender=F"
        )
    names: dict[str, str] = {}
    for feature in disclosure.features:
        terminal.say("\n" + question.format(escape(feature.name)), markup=True)
        names[feature.name] = _choose(terminal, feature.categories, optional=optional)
    return names


def _choose(terminal: Terminal, names: tuple[str, ...], *, optional: bool = False) -> str:
    """Choose by a key: a number, or the first letter where all differ; many by a line.

    Of more than nine she writes the number or the name, and Enter. 0 stands for none of them.
    """
    for number, name in enumerate(names, start=1):
        terminal.say(f"  [b]{number}[/b] {escape(name)}", markup=True)
    if optional:
        terminal.say("  [b]0[/b] none of these, or you do not want to say", markup=True)
    if len(names) <= 9:
        keys = _keys(names)
        pressed = terminal.key(">", "".join(keys) + "0" * optional)
        if pressed not in keys:
            raise NoCategoryError
        return keys[pressed]
    by_name = {name.casefold(): name for name in names}
    while True:
        text = terminal.line(">").strip()
        if optional and text == "0":
            raise NoCategoryError
        if text.isdigit() and 1 <= int(text) <= len(names):
            return names[int(text) - 1]
        if text.casefold() in by_name:
            return by_name[text.casefold()]
        terminal.say(f"A number from 1 to {len(names)}, or a name as it is written above.")


def _keys(names: tuple[str, ...]) -> dict[str, str]:
    """Return the category of each key: its number, and its first letter if no other has it."""
    keys = {str(number): name for number, name in enumerate(names, start=1)}
    first = [name[:1].casefold() for name in names]
    for letter, name in zip(first, names, strict=True):
        if letter.isalpha() and first.count(letter) == 1:
            keys |= {letter: name, letter.upper(): name}
    return keys
