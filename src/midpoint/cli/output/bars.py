"""Progress bars; where no terminal shows them, nothing is printed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isnan
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

if TYPE_CHECKING:
    from midpoint.analyst.fit.factorizer import Progress as Fitted
    from midpoint.data.sources.download import Progress as Downloaded

Steps = Callable[[int, int], None]
"""Is called with the steps done and the steps to do."""


@contextmanager
def share_bar(console: Console, doing: str) -> Iterator[Steps]:
    """Show which share of a task is done."""
    with _bar(console) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def training_bar(console: Console) -> Iterator[Callable[["Fitted"], None]]:
    """Show how far training has come, stage by stage, and the error where a stage has one."""
    with _bar(console) as bar:
        task = bar.add_task("Fitting item profiles", total=None)

        def report(fitted: "Fitted") -> None:
            far, total = fitted.iteration, fitted.iterations
            if isnan(fitted.rmse):
                said = f"{fitted.stage} (step {far} of {total})"
            else:
                said = f"Fitting item profiles (pass {far} of {total}, error {fitted.rmse:.4f})"
            bar.update(task, total=total, completed=far, description=said)

        yield report


@contextmanager
def download_bar(name: str) -> Iterator["Downloaded"]:
    """Show a bar once the first bytes arrive; nothing if there is nothing to download."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True))
    task = progress.add_task(name, total=None)

    def report(done: int, total: int | None) -> None:
        progress.start()
        progress.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        if progress.live.is_started:
            progress.stop()


def _bar(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True)
