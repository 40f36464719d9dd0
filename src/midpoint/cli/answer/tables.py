"""Tables of `midpoint answer`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from midpoint.wire import ONE, RatingScale

if TYPE_CHECKING:
    from midpoint.user import Ledger
    from midpoint.user.agent.rows import PreviewLine, RankedTitle
    from midpoint.wire import PanelRatings

FATES = {
    "sent": "",
    "withheld": "a coin decided so: your category rates it more often than others do",
    "sent_before": "was sent before; that answer stands",
    "withheld_before": "decided before; that stands",
    "not_asked": "was not asked about",
}
"""Why, in words."""


SET_FATES = {"withheld": "a coin decided so: your category has it more often than others do"}
"""What is said otherwise of an item of a set."""
THINNED = "a coin decided so (see above)"
"""What is said of a withheld one where devices reveal a share only: `say_standing` says why."""


def plain(title: str) -> str:
    """Write a title: not read as markup, and without signs that turn a line around."""
    return escape("".join(c for c in title if c.isprintable()))


def number(fixed: int) -> str:
    """Write a rating."""
    return f"{fixed / ONE:g}"


def leaving_table(
    lines: "Sequence[PreviewLine]",
    scale: RatingScale,
    mark: str | None = None,
    *,
    thinned: bool = False,
    clear: bool = False,
) -> Table:
    """Show what leaves the device, line by line.

    Args:
        lines: One for each rating.
        scale: What a rating can be.
        mark: The word for an item of a set.
        thinned: Whether a share of everybody's answers is withheld.
        clear: Whether they leave in the clear.
    """
    table = _table("What leaves this device", "title", "you", "leaves", "")
    for line in lines:
        leaves = plain(mark) if mark else f"{line.sent:g}" if line.sent is not None else ""
        if line.sent is None:
            withheld = line.fate.value in {"withheld", "withheld_before"}
            leaves = f"[dim]{'withheld' if withheld else 'nothing'}[/dim]"
        if line.sent not in (None, line.rating):
            leaves = f"[yellow]{leaves}[/yellow]"
        why = _reason(line, sets=mark is not None, thinned=thinned, clear=clear)
        you = plain(mark) if mark else _stars(line.rating, scale)
        table.add_row(plain(line.title), you, leaves, f"[dim]{why}[/dim]")
    return table


def _reason(line: "PreviewLine", *, sets: bool, thinned: bool, clear: bool) -> str:
    """Say why a line is as it is."""
    if line.fate.value == "sent" and clear:
        return "not protected" if line.sent == line.rating else "not protected, only rounded"
    if line.fate.value == "sent":
        return "as it is" if line.sent == line.rating else "changed, to protect you"
    if line.fate.value == "withheld" and thinned:
        return THINNED
    return (SET_FATES if sets and line.fate.value in SET_FATES else FATES)[line.fate.value]


def recommendation_table(best: "Sequence[RankedTitle]", mark: str | None = None) -> Table:
    """Show what she may like, and how sure that is; of sets the order is all there is to say."""
    genres = any(row.genre for row in best)
    table = _table(
        *("For you", "", "title"),
        *([] if mark else ["predicted"]),
        *(["genre"] if genres else []),
    )
    for rank, row in enumerate(best, start=1):
        predicted = [] if mark else [f"{row.stars:.1f} [dim]± {row.deviation:.1f}[/dim]"]
        title = f"[link={row.link}]{plain(row.title)}[/link]" if row.link else plain(row.title)
        genre = [f"[dim]{plain(row.genre)}[/dim]"] if genres else []
        table.add_row(f"[dim]{rank}[/dim]", title, *predicted, *genre)
    return table


def everyone_table(titles: Sequence[str]) -> Table:
    """Show the best titles for everyone, in their order."""
    table = _table("For everyone", "", "title")
    for rank, title in enumerate(titles, start=1):
        table.add_row(f"[dim]{rank}[/dim]", plain(title))
    return table


def shared_table(
    shared: "PanelRatings", titles: Mapping[str, str], mark: str | None = None
) -> Table:
    """Show what a member of the panel shares: her category, and her ratings as they are."""
    table = _table("Shared with the service, as it is", "", "shared")
    for feature, category in shared.category:
        table.add_row(f"your {plain(feature)}", plain(category))
    for item, value in shared.ratings:
        table.add_row(plain(titles.get(item, item)), plain(mark or number(value)))
    return table


def ledger_table(ledger: "Ledger", titles: Mapping[str, str], mark: str | None = None) -> Table:
    """Show every decision so far."""
    table = _table("Decided for good", "title", "sent")
    for item in sorted(ledger.decided, key=lambda item: titles.get(item, item)):
        decision = ledger.decision(item)
        value = None if decision is None else decision.value
        sent = "[dim]withheld[/dim]" if value is None else plain(mark or number(value))
        table.add_row(plain(titles.get(item, item)), sent)
    return table


def _table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, title_style="bold", title_justify="left", box=SIMPLE)


def _stars(rating: float, scale: RatingScale) -> str:
    whole = rating.is_integer() and scale.low >= 0 and scale.high <= 5 * ONE
    return f"{rating:g} [yellow]{'★' * int(rating)}[/yellow]" if whole else f"{rating:g}"
