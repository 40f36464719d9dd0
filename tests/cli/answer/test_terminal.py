import io

from rich.console import Console

from midpoint.cli.answer.terminal import Terminal


def test_an_arrow_key_is_no_rating() -> None:
    keys = iter(["\x1b[5~", "\x1b[A", "x", "73"])
    terminal = Terminal(Console(file=io.StringIO()), lambda: next(keys))
    assert terminal.key("?", "12345") == "3"
