"""What `midpoint audit` adds on request: curves over settings, and several rounds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

if TYPE_CHECKING:
    from midpoint.audit import Progress as Report
    from midpoint.audit.transcript_results import TranscriptResults
    from midpoint.data import Ratings

EVERY = 30.0
"""Seconds between two lines in a log, where no bar can be drawn."""
FEWER_FOLDS = 3
"""Folds of rounds unless given: each fold holds all rounds with everyone, many times."""

Curves = Annotated[
    str | None,
    typer.Option(
        help="Draw curves over these, separated by commas: alpha (share obfuscated), bits (of each"
        " disclosed number), share (of their ratings that people give)."
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option(min=2, help="Ask everyone so many times, and attack whole transcripts as well."),
]


@contextmanager
def audit_bar(console: Console, doing: str = "Attacking") -> Iterator[Callable[["Report"], None]]:
    """Show how far an audit has come and how long it will take: a bar, or lines in a log."""
    if not console.is_terminal:
        yield _lines(console, doing)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=None, left="")

        def report(progress: "Report") -> None:
            left = "" if progress.seconds_left is None else f"{_clock(progress.seconds_left)} left"
            bar.update(task, total=progress.total, completed=progress.done, left=left)

        yield report


def _lines(console: Console, doing: str) -> Callable[["Report"], None]:
    """Return what writes a line now and then, where a bar cannot be drawn."""
    last = time.monotonic()

    def report(progress: "Report") -> None:
        nonlocal last
        if time.monotonic() < last + EVERY:
            return
        last = time.monotonic()
        left = "" if progress.seconds_left is None else f", {_clock(progress.seconds_left)} left"
        console.print(f"{doing}: {progress.done} of {progress.total}{left}", soft_wrap=True)

    return report


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def add_rounds(
    console: Console,
    ratings: "Ratings",
    feature: list[str],
    rounds: int,
    *,
    folds: int | None,
    seed: int,
    jobs: int,
    out: Path,
) -> None:
    """Audit several rounds, keep what was found beside the audit, and show it."""
    from midpoint.audit.transcripts import audit_transcripts

    with audit_bar(console, "Holding rounds") as report:
        found = audit_transcripts(
            ratings,
            feature,
            rounds=rounds,
            folds=folds or FEWER_FOLDS,
            seed=seed,
            jobs=jobs,
            out=out,
            progress=report,
        )
    found.save(out)
    show_rounds(console, found)


def show_rounds(console: Console, found: "TranscriptResults") -> None:
    """Print what attackers read of each kind of device, and the verdict."""
    devices = list(found.bands)
    table = Table("attacker", *devices, title=f"{found.dataset}, {found.feature}: AUC of rounds")
    for attack in found.reads:
        rows = [found.get(device, attack) for device in devices]
        table.add_row(attack, *("" if row is None else f"{row.value:.3f}" for row in rows))
    table.add_section()
    bands = [found.bands[device] for device in devices]
    table.add_row("chance band", *(f"{band.low:.3f}-{band.high:.3f}" for band in bands))
    judged = (f"{band.judged_low:.3f}-{band.judged_high:.3f}" for band in bands)
    table.add_row("judged by", *judged)
    console.print(table)
    console.print(f"[bold]{found.product}[/bold]: {found.sentence}", soft_wrap=True)
