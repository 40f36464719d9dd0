"""`midpoint audit`: attack the protocols on some data, and report what leaks and what it costs."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from midpoint.cli import source as options

if TYPE_CHECKING:
    from midpoint.audit import AuditResults
    from midpoint.audit import Progress as Report


def audit_command(
    source: options.Source,
    feature: Annotated[
        list[str], typer.Option(help="The private feature; several make a joint one.")
    ],
    out: Annotated[Path, typer.Option(help="Directory for the results; a killed run resumes.")],
    schemes: Annotated[
        str | None,
        typer.Option(help="Schemes, separated by commas, such as dmpss,mpss:alpha=0.5; else all."),
    ] = None,
    attacks: Annotated[
        str | None,
        typer.Option(
            help="Attacks, separated by commas; `paper` for the paper's four, module:name for one"
            " of your own; else all."
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Folds of users: 10, or 3 if quick.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides every random draw.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; the numbers are the same.")] = 2,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few schemes, attacks and folds: about a minute.")
    ] = False,
    at_least: options.AtLeast = 1,
    users: options.Users = None,
    user_column: options.UserColumn = None,
    item_column: options.ItemColumn = None,
    rating_column: options.RatingColumn = None,
    item_columns: options.ItemColumns = None,
    feature_columns: options.FeatureColumns = None,
    scale: options.ScaleText = None,
) -> None:
    """Attack the protocols as hard as we can; write results.csv, results.json and report.html."""
    console = Console(highlight=False)
    with console.status("Reading ratings"):
        from midpoint.audit import audit
        from midpoint.audit.report import write_report

        ratings = options.load_source(
            source,
            users=users,
            user_column=user_column,
            item_column=item_column,
            rating_column=rating_column,
            item_columns=item_columns,
            feature_columns=feature_columns,
            scale=scale,
            seed=seed,
            at_least=at_least,
        )
    console.print(f"{ratings!r}", markup=False, soft_wrap=True)
    with audit_bar(console) as report:
        results = audit(
            ratings,
            feature,
            _split(schemes),
            _split(attacks),
            folds=folds,
            seed=seed,
            jobs=jobs,
            quick=quick,
            out=out,
            progress=report,
        )
    results.save(out)
    page = write_report(results, out, shlex.join(["midpoint", *sys.argv[1:]]))
    show(console, results)
    console.print(f"The report is {page}", soft_wrap=True)


@contextmanager
def audit_bar(console: Console) -> Iterator[Callable[["Report"], None]]:
    """Show how far an audit has come and how long it will take."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Attacking", left="")

        def report(progress: "Report") -> None:
            left = "" if progress.seconds_left is None else f"{_clock(progress.seconds_left)} left"
            bar.update(task, total=progress.total, completed=progress.done, left=left)

        yield report


def show(console: Console, results: "AuditResults") -> None:
    """Print the verdict, and a table of schemes and attackers."""
    from midpoint.audit.verdict import headline, proves_nothing

    schemes, void = results.scheme_names(), False
    table = Table("attacker", *schemes, title=f"{results.dataset}, {results.feature}: AUC")
    for attack in results.attack_names():
        failed = proves_nothing(results, attack)
        void = void or failed
        cells = [_area(results, scheme, attack) for scheme in schemes]
        table.add_row(f"{attack}{' (proves nothing)' if failed else ''}", *cells)
    table.add_section()
    bands = [results.bands.get(scheme) for scheme in schemes]
    table.add_row("chance band", *("" if b is None else f"{b.low:.3f}-{b.high:.3f}" for b in bands))
    for metric in ("rmse_inferred", "rmse_blind", "rmse_local", "withheld", "disclosed_bits"):
        rows = [results.get(scheme, metric) for scheme in schemes]
        digits = {"disclosed_bits": 1, "withheld": 3}.get(metric, 4)
        table.add_row(metric, *("" if row is None else f"{row.value:.{digits}f}" for row in rows))
    costs = [results.cost(scheme) for scheme in schemes]
    table.add_row("cost", *("" if cost is None else f"{100 * cost:+.1f} %" for cost in costs))
    console.print(table)
    if void:
        console.print("An attacker that cannot read its control proves nothing by failing.")
    verdict = headline(results)
    if verdict is not None:
        console.print(f"[bold]{verdict.scheme}[/bold]: {verdict.sentence}", soft_wrap=True)


def _area(results: "AuditResults", scheme: str, attack: str) -> str:
    row = results.get(scheme, "auc", attack)
    if row is None:
        return ""
    inside = results.bands[scheme].holds(row.value)
    return f"{row.value:.3f}" if inside else f"[bold]{row.value:.3f}[/bold]"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
