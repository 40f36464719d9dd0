"""`midpoint compare`: what changed between two audits."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from midpoint.cli.options.messages import AsJson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from midpoint.audit.measure.paired_test import Pairing
    from midpoint.audit.report.comparison import Change, ControlTurn, Turn

Audit = Annotated[Path, typer.Argument(help="Directory of an audit.", show_default=False)]
LEGEND = "~ At chance in its own audit. ? By an attacker that fails on its control."


def compare_command(
    first: Audit,
    second: Audit,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Also show changes within chance, and numbers of one audit only."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what changed from one audit to another.

    Audits of the same people in the same folds are compared person by person.
    """
    from midpoint.audit.measure.paired_test import Pairing, pair
    from midpoint.audit.measure.results import AuditResults
    from midpoint.audit.report.comparison import changes, control_turns, differences, turns

    a, b = AuditResults.load(first), AuditResults.load(second)
    together = pair(first, second, a, b)
    pairing = together if isinstance(together, Pairing) else None
    changed = list(changes(a, b, pairing))
    turned, controls = list(turns(a, b)), list(control_turns(a, b))
    apart, how = list(differences(a, b)), _how(together)
    if as_json:
        content: dict[str, Any] = {
            "differences": apart,
            "paired": pairing is not None,
            "compared": how,
            "verdicts": [turn._asdict() for turn in turned],
            "controls": [turn._asdict() for turn in controls],
            "changes": _plain(changed, every=every),
        }
        typer.echo(json.dumps(content, indent=2))
        return
    console = Console(highlight=False)
    _say(console, [f"before: {first}", f"after: {second}", *apart, how])
    _say(console, [_turned(turn) for turn in turned] or ["No verdict changed."])
    _say(console, map(_control, controls))
    _show(console, changed, every=every)


def _say(console: Console, lines: "Iterable[str]") -> None:
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _turned(turn: "Turn") -> str:
    """Say how a verdict changed, and by which attacker."""
    before, after = f"{turn.before} ({turn.before_by})", f"{turn.after} ({turn.after_by})"
    if turn.before is None:
        return f"The verdict on {turn.scheme} is new: {after}"
    if turn.after is None:
        return f"The verdict on {turn.scheme} is gone: it was {before}"
    return f"The verdict on {turn.scheme} changed: {before}, now {after}"


def _control(turn: "ControlTurn") -> str:
    if turn.after:
        return f"{turn.attack} failed on its control before, and succeeds now."
    return (
        f"{turn.attack} succeeded on its control before, and fails now: its failing elsewhere"
        " proves nothing."
    )


def _how(together: "Pairing | str") -> str:
    """Say how changes are compared, and why so."""
    if isinstance(together, str):
        return (
            f"Compared as two audits of different people, since {together}. Each number is compared"
            " by its interval, so small changes may go unseen."
        )
    return (
        f"Compared person by person: the same {together.n_people:,} people in the same folds"
        " (DeLong's test for correlated AUCs; errors likewise), for the attackers as trained."
        " Numbers that are not about people, such as bits, are compared by their intervals."
    )


def _plain(changed: "Sequence[Change]", *, every: bool) -> list[dict[str, Any]]:
    return [
        change._asdict() | {"beyond_chance": change.beyond_chance}
        for change in changed
        if every or change.beyond_chance
    ]


def _show(console: Console, changed: "Sequence[Change]", *, every: bool) -> None:
    """Print a table of what changed, and in a line what is in one of the audits only."""
    from midpoint.audit.report.comparison import only_in_one

    _say(console, [f"Only {which}: {text}" for which, text in only_in_one(changed)])
    both = [change for change in changed if change.in_both]
    listed = [change for change in changed if every or (change.in_both and change.apart)]
    if not any(change.apart for change in both):
        console.print("No number changed by more than chance.")
    if not listed:
        return
    table = Table()
    for head in ("scheme", "metric", "attack", "before", "after", "change"):
        table.add_column(head, overflow="fold")  # a name cut short may be another's
    for change in listed:
        names = (escape(name) for name in (change.scheme, change.metric, change.attack))
        table.add_row(*names, *_cells(change))
    console.print(table)
    _say(
        console,
        [f"* Beyond chance by itself. Of {len(both)} numbers in both, 1 in 20 is so by chance."],
    )
    if any(change.metric == "auc" for change in listed):
        _say(console, [LEGEND])


def _cells(change: "Change") -> tuple[str, str, str]:
    before, after = (
        f"{_number(value)}{_sign(chance=chance, reads=reads)}"
        for value, chance, reads in zip(
            (change.before, change.after), change.chance, change.reads, strict=True
        )
    )
    if change.before is None or change.after is None:
        return before, after, "new" if change.before is None else "gone"
    mark = " *" if change.apart else ""
    return before, after, f"{change.after - change.before:+.4f}{mark}"


def _sign(*, chance: bool | None, reads: bool | None) -> str:
    return ("~" if chance else "") + ("?" if reads is False else "")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
