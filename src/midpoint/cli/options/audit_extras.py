"""What `midpoint audit` adds on request: curves over settings, and several rounds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

if TYPE_CHECKING:
    from midpoint.audit import Progress as Report
    from midpoint.audit.rounds.results import TranscriptResults
    from midpoint.data import Ratings

EVERY = 30.0
"""Seconds between two lines in a log, where no bar can be drawn."""
FEWER_FOLDS = 3
"""Folds of rounds unless given: each fold holds all rounds with everyone, many times."""
FAILED = " (proves nothing)"
VOID = "An attacker that fails on its control proves nothing by failing elsewhere."
AFTER_THE_FACT = (
    "The strongest attacker is chosen after the fact: its interval is somewhat too far from 0.5."
)
WIDER = "wider band"
STARRED = "* Outside the wider band, which allows for attackers trained again."

Curves = Annotated[
    str | None,
    typer.Option(
        help="Draw curves over these settings, separated by commas: alpha (share of ratings that is"
        " obfuscated), bits (of each disclosed number), share (of their ratings that people give)."
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Ask everyone so many times, and attack whole transcripts as well: under the scheme"
        " that --schemes names beside `no`, if it is one, else the one in use; in 3 folds unless"
        " --folds is given; by attackers of transcripts, whatever --attacks and --quick say.",
    ),
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


def named_scheme(schemes: list[str] | None, rounds: int) -> str | None:
    """Return the one scheme beside raw ratings that is named, if rounds of it can be held."""
    from midpoint.audit.rounds.audit import name_cases
    from midpoint.audit.run.plan import RAW, read_scheme

    named = [name for name in dict.fromkeys(schemes or ()) if read_scheme(name).name != RAW]
    if len(named) != 1:
        return None
    name_cases(named[0], rounds)  # a scheme without rounds is an error now, not after all the rest
    return named[0]


def add_rounds(
    console: Console,
    ratings: "Ratings",
    feature: list[str],
    rounds: int,
    *,
    scheme: str | None,
    usual: str,
    folds: int | None,
    seed: int,
    jobs: int,
    out: Path,
) -> None:
    """Audit several rounds, keep what was found beside the audit, and show it.

    They are held under `scheme`, or under the usual one if none is given.
    """
    from midpoint.audit.rounds.audit import audit_transcripts
    from midpoint.audit.rounds.view import TRANSCRIPT_ATTACKERS

    many, under = folds or FEWER_FOLDS, scheme or f"{usual}, the scheme in use"
    console.print(
        f"Holding {rounds} rounds under {under}: {many} folds, {len(TRANSCRIPT_ATTACKERS)}"
        " attackers of whole transcripts",
        markup=False,
        soft_wrap=True,
    )
    with audit_bar(console, "Holding rounds") as report:
        found = audit_transcripts(
            ratings,
            feature,
            rounds=rounds,
            scheme=scheme or usual,
            folds=many,
            seed=seed,
            jobs=jobs,
            out=out,
            progress=report,
        )
    found.save(out)
    show_rounds(console, found)


def show_rounds(console: Console, found: "TranscriptResults") -> None:
    """Print what attackers read of each kind of device, and the verdict."""
    about = f"{found.dataset}, {found.feature}"
    table = Table(title=f"{about}: AUC of {found.rounds} rounds of {found.scheme}")
    for head in ("attacker", *found.kinds.values()):
        table.add_column(head, overflow="fold")  # a name cut short may be another's
    for attack, reads in found.reads.items():
        cells = [_area(found, device, attack) for device in found.bands]
        table.add_row(f"{escape(attack)}{'' if reads else FAILED}", *cells)
    table.add_section()
    bands = found.bands.values()
    table.add_row("chance band", *(f"{band.low:.3f}-{band.high:.3f}" for band in bands))
    judged = (f"{band.judged_low:.3f}-{band.judged_high:.3f}" for band in bands)
    table.add_row(WIDER, *judged)
    console.print(table)
    console.print(STARRED, soft_wrap=True)
    if not all(found.reads.values()):
        console.print(VOID, soft_wrap=True)
    console.print(f"[bold]{escape(found.scheme)}[/bold]: {escape(found.sentence)}", soft_wrap=True)


def _area(found: "TranscriptResults", device: str, attack: str) -> str:
    row = found.get(device, attack)
    return "" if row is None else starred(row.value, chance=found.bands[device].holds(row.value))


def starred(value: float, *, chance: bool) -> str:
    """Write an AUC; one outside the band has a star, since bold is lost in a log."""
    return f"{value:.3f}" if chance else f"[bold]{value:.3f}*[/bold]"
