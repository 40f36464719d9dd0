"""The terminal of `midpoint answer`: keys and lines in, rich text out."""

from collections.abc import Callable, Mapping

import typer
from rich.console import Console

from midpoint.errors import MidpointError


class Terminal:
    """Keys and lines in, rich text out."""

    def __init__(
        self,
        console: Console,
        key: Callable[[], str] = typer.getchar,
        line: Callable[[], str] | None = None,
    ) -> None:
        self.console = console
        self._key = key
        self._line = line or console.input
        self._typed = ""

    def say(self, text: object, *, markup: bool = False) -> None:
        """Print; a plain text is never read as markup, for it may hold a title."""
        plain = isinstance(text, str)
        piped = not self.console.is_terminal
        self.console.print(text, markup=markup or not plain, soft_wrap=plain and piped)

    def key(self, question: str, allowed: str, answers: Mapping[str, str] | None = None) -> str:
        """Ask until one of the allowed keys is pressed; say on the same line what it means."""
        self.console.print(question, end=" ")
        while (pressed := self._next_key()) not in allowed:
            pass
        self.console.print((answers or {}).get(pressed, ""))
        return pressed

    def line(self, question: str) -> str:
        """Ask for a line."""
        self.console.print(question, end=" ")
        return self._line()

    def _next_key(self) -> str:
        """Return one key; several may come at once, and an arrow comes as a sequence."""
        while not self._typed:
            try:
                typed = self._key()
            except OSError as error:
                raise MidpointError(
                    "nobody can be asked here, since this is no terminal; add --yes"
                ) from error
            if not typed:
                raise EOFError
            self._typed = "" if typed.startswith("\x1b") else typed
        pressed, self._typed = self._typed[0], self._typed[1:]
        if pressed in "\x03\x04":
            raise KeyboardInterrupt
        return pressed

    def sure(self, question: str) -> bool:
        """Ask yes or no."""
        return self.key(f"{question} [b]y[/b]/[b]n[/b]", "ynYN") in "yY"
