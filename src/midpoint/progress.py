"""How far a long call has come: a bar in a terminal or a notebook, nothing elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Protocol


class ShowProgress(Protocol):
    """What a long call calls."""

    def __call__(self, done: int, total: int, stage: str | None = None) -> None:
        """Say how many steps are done of how many, and what is being done if that changed."""
        ...


@contextmanager
def shown(label: str, show: bool | None = None) -> Iterator[ShowProgress]:  # noqa: FBT001 - a setting
    """Show a bar while the block runs; where it moves, it goes away at the end.

    Args:
        label: What is being done.
        show: Whether to show it; unless given, where standard error is a terminal, or in a
            notebook that can move it (which takes ipywidgets).
    """
    if show is False:
        yield _silent
        return
    from rich.console import Console  # noqa: PLC0415 - a light import stays light
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    console = Console(stderr=True)
    moves = not console.is_jupyter or find_spec("ipywidgets") is not None
    seen = (console.is_terminal or console.is_jupyter) and moves
    if show is None and not seen:
        yield _silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=seen) as bar:
        task = bar.add_task(label, total=None)

        def report(done: int, total: int, stage: str | None = None) -> None:
            bar.update(task, completed=done, total=total, description=stage)

        yield report


def _silent(done: int, total: int, stage: str | None = None) -> None:
    del done, total, stage
