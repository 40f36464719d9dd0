"""`midpoint compare`: what changed between two audits."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from midpoint.cli.messages import AsJson

if TYPE_CHECKING:
    from midpoint.audit.comparison import Change
    from midpoint.audit.pairing import Pairing

Audit = Annotated[Path, typer.Argument(help="Directory of an audit.", show_default=False)]


def compare_command(
    first: Audit,
    second: Audit,
    every: Annotated[
        bool, typer.Option("--all", help="Also what did not change by more than chance.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what changed from one audit to another.

    Audits of the same people in the same folds are compared person by person.
    """
    from midpoint.audit.comparison import changes, differences, turns
    from midpoint.audit.pairing import Pairing, pair
    from midpoint.audit.results import AuditResults

    a, b = AuditResults.load(first), AuditResults.load(second)
    together = pair(first, second, a, b)
    pairing = together if isinstance(together, Pairing) else None
    changed = list(changes(a, b, pairing))
    found = [change for change in changed if every or change.beyond_chance]
    turned, apart = list(turns(a, b)), list(differences(a, b))
    how = _how(together)
    if as_json:
        rows = [change._asdict() | {"beyond_chance": change.beyond_chance} for change in found]
        verdicts = [turn._asdict() for turn in turned]
        paired = {"paired": pairing is not None, "compared": how}
        content = {"differences": apart, **paired, "verdicts": verdicts, "changes": rows}
        typer.echo(json.dumps(content, indent=2))
        return
    console = Console(highlight=False)
    for when, place in (("before", first), ("after", second)):
        console.print(f"{when}: {place}", markup=False, soft_wrap=True)
    for line in apart:
        console.print(line, markup=False, soft_wrap=True)
    console.print(how, markup=False, soft_wrap=True)
    for turn in turned:
        sentence = f"The verdict on {turn.scheme} changed: {turn.before}, now {turn.after}"
        console.print(sentence, markup=False, soft_wrap=True)
    if not turned:
        console.print("No verdict changed.")
    if not found:
        console.print("No number changed by more than chance.")
        return
    table = Table()
    for head in ("scheme", "metric", "attack", "before", "after", "change"):
        table.add_column(head, overflow="fold")  # a name cut short may be another's
    for change in found:
        table.add_row(change.scheme, change.metric, change.attack, *_cells(change))
    console.print(table)
    both = sum(change.before is not None and change.after is not None for change in changed)
    console.print(f"* Beyond chance by itself; of {both} numbers in both, 1 in 20 is so by chance.")


def _how(together: "Pairing | str") -> str:
    """Say how sure a change has to be, and why so."""
    if isinstance(together, str):
        return (
            f"Compared as two audits of different people, since {together}: by the interval of"
            " each, so that small changes may go unseen."
        )
    return (
        f"Compared person by person: the same {together.n_people:,} people in the same folds"
        " (DeLong's test for correlated AUCs; errors likewise), the trained attackers taken as"
        " given. Numbers that are not made of people, such as bits, go by the interval of each."
    )


def _cells(change: "Change") -> tuple[str, str, str]:
    before, after = change.before, change.after
    if before is None or after is None:
        gone, new = _number(before), _number(after)
        return gone, new, "new" if before is None else "gone"
    mark = " *" if change.beyond_chance else ""
    return _number(before), _number(after), f"{after - before:+.4f}{mark}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
