"""What `midpoint audit` adds on request: curves over settings, and several rounds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

if TYPE_CHECKING:
    from midpoint.audit import AuditResults
    from midpoint.audit import Progress as Report
    from midpoint.audit.measure.findings import Judge, Row
    from midpoint.audit.measure.findings import Rounds as Held

GENERAL, WHO, HOW = "Options", "Who attacks", "How it is measured"
"""Headings in the help of `midpoint audit`."""
EVERY = 30.0
"""Seconds between two lines in a log, where no bar can be drawn."""
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
        rich_help_panel=HOW,
        help="Draw curves over these settings, separated by commas: alpha (share of ratings that is"
        " obfuscated), bits (of each disclosed number), share (of their ratings that people give).",
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        min=2,
        rich_help_panel=HOW,
        help="Ask everyone this many times, and attack whole transcripts as well. The scheme is the"
        " one that --schemes names beside `no`, or else the one that is chosen. All attackers of"
        " transcripts take part unless --attacks names some of them, for each --adversary that"
        " knows the scheme (panel, published, outsider).",
    ),
]

Adversary = Annotated[
    list[str] | None,
    typer.Option(
        rich_help_panel=WHO,
        help="Who attacks, by what they know; several, or separated by commas: clean"
        " (raw ratings of the panel), panel (the panel and the scheme), published (the same,"
        " trained under the published disclosure itself), outsider (labelled people outside the"
        " panel, under the published disclosure). Unless given: panel, and outsider too where"
        " --attacks is left out.",
    ),
]
Panel = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=WHO,
        help="How many of the people outside a fold are the panel, which the disclosure is made"
        " from: a number, a share below 1, or all (but outsiders). Several sizes, separated by"
        " commas, are audited in turn, each also with everyone else's reports, and drawn as curves;"
        " the last one is the main one. The report then says how large a panel must be for a given"
        " leak. Unless given: all.",
    ),
]
PanelAlone = Annotated[
    bool,
    typer.Option(
        "--panel-alone",
        rich_help_panel=WHO,
        help="With several sizes in --panel, leave out the audits with everyone else's reports:"
        " half of the time.",
    ),
]
Volunteers = Annotated[
    str,
    typer.Option(
        rich_help_panel=WHO,
        help="Who volunteers for the panel. Unless given, everyone is equally likely. `heavy`:"
        " in proportion to the number of ratings. A category, such as age=56+: its people are five"
        " times as likely.",
        show_default=False,
    ),
]
Outsiders = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=WHO,
        help="How many people outside the panel have a known category: a number, or a share below"
        " 1; several as for --panel. A fifth unless given.",
    ),
]

Membership = Annotated[
    bool,
    typer.Option(
        "--membership",
        rich_help_panel=WHO,
        help="Also run a membership inference attack: can somebody who has a person's raw ratings"
        " and category tell from the disclosure whether she is in the panel? With a control.",
    ),
]

Given = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=HOW,
        help="Share of their ratings that people give to their devices, or `all`; 0.7 unless given."
        " With `all`, errors of predictions are still measured with 0.7, since nothing would be"
        " left to predict.",
    ),
]

Split = Annotated[
    Literal["random", "time"],
    typer.Option(
        rich_help_panel=HOW,
        help="How ratings are split into given ones and those to predict: at random within each"
        " person, or by time. By time, the first 70 % of all ratings (--given) are trained on and"
        " given to devices; later ones are predicted.",
    ),
]


def read_sizes(text: str | None, option: str) -> list[float | None]:
    """Read sizes of a panel or numbers of outsiders; one that is not given stands for itself."""
    from midpoint.errors import MidpointError

    if text is None:
        return [None]
    try:
        return [1.0 if part.strip() == "all" else float(part) for part in text.split(",")]
    except ValueError as error:
        raise MidpointError(
            f"{option} takes numbers of people, shares below 1, or all, separated by commas: got"
            f" {text!r}"
        ) from error


def share_given(text: str | None) -> float | None:
    """Read how much people give."""
    from midpoint.errors import MidpointError

    if text is None or text == "all":
        return None if text is None else 1.0
    try:
        return float(text)
    except ValueError as error:
        raise MidpointError(f"--given is a share between 0 and 1, or all: got {text!r}") from error


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


def show_rounds(console: Console, results: "AuditResults", held: "Held") -> None:
    """Print the AUC of each attacker on each kind of device, and the verdict."""
    from midpoint.audit.report.verdict import judge

    about = f"{results.dataset}, {results.feature}"
    table = Table(title=f"{about}: AUC of {held.rounds} rounds of {held.scheme}")
    for head in ("attacker", *held.devices.values()):
        table.add_column(head, overflow="fold")  # a name cut short may be another's
    for attack, control in held.controls.items():
        rows = [results.get(device, "auc", attack) for device in held.devices]
        cells = [
            "" if row is None else starred(row.value, chance=results.is_chance(row)) for row in rows
        ]
        table.add_row(f"{escape(attack)}{'' if control.reads else FAILED}", *cells)
    table.add_section()
    for adversary in results.judges.get(held.product, ()):
        judges = [results.judge(device, adversary) for device in held.devices]
        cells = ["" if one is None else _judged(*one) for one in judges]
        table.add_row(f"{adversary}: judge", *cells)
    bands = [(results.macro_bands or results.bands)[device] for device in held.devices]
    table.add_row("chance band", *(f"{band.low:.3f}-{band.high:.3f}" for band in bands))
    judged = (f"{band.judged_low:.3f}-{band.judged_high:.3f}" for band in bands)
    table.add_row(WIDER, *judged)
    console.print(table)
    console.print(STARRED, soft_wrap=True)
    if not all(control.reads for control in held.controls.values()):
        console.print(VOID, soft_wrap=True)
    verdict = judge(results, held.product)
    if verdict is not None:
        text = f"[bold]{escape(held.product)}[/bold]: {escape(verdict.lines)}"
        console.print(text, soft_wrap=True)


def show_adversaries(console: Console, results: "AuditResults", schemes: list[str]) -> None:
    """Print the judge and the strongest attack of each adversary on each scheme."""
    from midpoint.audit.report.settings import tick

    table = Table(title=f"{results.dataset}, {results.feature}: measured against whom")
    for head in ("adversary", "panel", "outsiders", *map(tick, schemes)):
        table.add_column(head, overflow="fold")
    for name, adversary in results.adversaries.items():
        strongest = [results.strongest(scheme, name) for scheme in schemes]
        cells = [
            ""
            if row is None
            else starred(row.value, chance=adversary.bands[row.scheme].holds(row.value))
            for row in strongest
        ]
        people = f"{adversary.panel:,}", f"{adversary.outsiders:,}" if adversary.outsiders else ""
        judges = [results.judge(scheme, name) for scheme in schemes]
        if any(judges):
            judged = ["" if judge is None else _judged(*judge) for judge in judges]
            table.add_row(f"{name}: judge", *people, *judged)
        table.add_row(f"{name}: strongest", *people, *cells)
    bounds = [results.bounds.get(scheme) for scheme in schemes]
    panels = {f"{bound.panel:,}" for bound in bounds if bound is not None}
    if panels:
        cells = ["" if bound is None else f"{bound.value:.3f}" for bound in bounds]
        table.add_row("omniscient (bound)", ", ".join(sorted(panels)), "", *cells)
    console.print(table)


def _judged(row: "Row", judge: "Judge") -> str:
    """Write the AUC of a judge, starred by its own band."""
    return starred(row.value, chance=judge.band.holds(row.value))


def starred(value: float, *, chance: bool) -> str:
    """Write an AUC; one outside the band has a star, since bold is lost in a log."""
    return f"{value:.3f}" if chance else f"[bold]{value:.3f}*[/bold]"
