"""What was measured to choose a scheme, as a small table."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from midpoint.analyst.fit.choice import Choice, Tried


def show_choice(console: Console, choice: "Choice") -> None:
    """Print what each candidate leaks and costs, which one was taken, and why."""
    if choice.tried:
        name = Column("scheme", overflow="fold")  # cut short, two of them would look alike
        table = Table(name, "leak (AUC)", "above the least", "cost", "")
        for row in choice.tried:
            chosen = row.scheme == choice.scheme
            cells = (
                row.scheme,
                f"{row.leak:.3f}{_by_whom(row, choice.tried)}",
                f"{row.above:+.3f} ± {row.error:.3f}",
                f"{100 * row.cost:+z.1f} %",
                "chosen" if chosen else row.note,
            )
            table.add_row(*cells, style="bold" if chosen else None)
        console.print(table, highlight=False)
        whom = f"{choice.people:,} of {choice.panel:,} people"
        whom = whom if choice.people < choice.panel else f"all {choice.panel:,} people"
        console.print(
            "The leak is the AUC of all quick attackers together, unless one is named; 0.5 is a"
            f" blind guess. Measured on {whom}, each protected by a model learned without her,"
            " against an analyst with the panel alone. This is a choice, not a certificate:"
            " `midpoint audit` attacks harder, also as somebody who knows the category of other"
            " users.",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    for scheme, why in choice.failed:
        console.print(
            f"{scheme} was not tried: {why}", highlight=False, markup=False, soft_wrap=True
        )
    if choice.sets_leak is not None:
        console.print(
            "People did not choose what they rate: an attack on which items they rated has an AUC"
            f" of at most {choice.sets_leak:.2f}. So nothing is withheld, and devices answer all"
            " that they are asked, or nothing.",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    line = f"Devices will use scheme {choice.scheme}, because {choice.reason.rstrip('.')}."
    for words in (line, choice.warning):
        if words:
            console.print(words, highlight=False, markup=False, soft_wrap=True)


def _by_whom(row: "Tried", tried: "Sequence[Tried]") -> str:
    """Name an attacker other than all together, and the category where it is not always one."""
    from midpoint.analyst.fit.choice import STACK

    several = len({other.category for other in tried}) > 1
    named = ([] if row.attack == STACK else [row.attack]) + ([row.category] if several else [])
    return f" ({', '.join(named)})" if named else ""
