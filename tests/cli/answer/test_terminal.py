import io

import pytest
from rich.console import Console

from midpoint.cli.answer.terminal import Terminal
from midpoint.errors import MidpointError


def test_an_arrow_key_is_no_rating() -> None:
    keys = iter(["\x1b[5~", "\x1b[A", "x", "73"])
    terminal = Terminal(Console(file=io.StringIO()), lambda: next(keys))
    assert terminal.key("?", "12345") == "3"


def test_where_nobody_can_be_asked_it_says_so() -> None:
    def no_terminal() -> str:
        raise OSError(6, "No such device or address", "/dev/tty")

    terminal = Terminal(Console(file=io.StringIO()), key=no_terminal)
    with pytest.raises(MidpointError, match="add --yes"):
        terminal.sure("Forget me?")
