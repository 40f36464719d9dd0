import io

from rich.console import Console

from midpoint.cli.answer.statements import say_leaving
from midpoint.cli.answer.tables import leaving_table, recommendation_table
from midpoint.cli.answer.terminal import Terminal
from midpoint.user.agent import Fate
from midpoint.user.agent.rows import PreviewLine, RankedTitle
from midpoint.wire import ONE, RatingScale

STARS = RatingScale(low=ONE, high=5 * ONE, levels=tuple(n * ONE for n in range(1, 6)))


def test_a_title_is_never_read_as_markup() -> None:
    written = io.StringIO()
    console = Console(file=written, width=120)
    title = "[red]Alert[/red] \u202e[link=x]"  # as it is, it would turn the line around
    terminal = Terminal(console)
    terminal.say(leaving_table([PreviewLine("a", title, 1.0, None, Fate.WITHHELD)], STARS))
    terminal.say(recommendation_table([RankedTitle("a", title, 1.0, 1.0)]))
    assert written.getvalue().count("[red]Alert[/red] [link=x]") == 2


def test_what_is_withheld_from_everybody_is_not_put_down_to_her_category() -> None:
    lines = [PreviewLine("a", "Heat (1995)", 4.0, None, Fate.WITHHELD)]
    for thinned in (True, False):
        written = io.StringIO()
        console = Console(file=written, width=200)
        say_leaving(Terminal(console), lines, STARS, thinned=thinned)
        assert ("a coin decided so (see above)" in written.getvalue()) == thinned
        assert ("rates it more often than others" in written.getvalue()) == (not thinned)
        assert "1 is withheld for good" in written.getvalue()


def test_a_genre_is_shown_where_one_is_known() -> None:
    known = RankedTitle("a", "Heat (1995)", 4.0, 1.0, "Crime", "https://example.org/heat")
    unknown = RankedTitle("b", "Fargo (1996)", 4.0, 1.0)
    for rows, shown in (([known, unknown], True), ([unknown], False)):
        written = io.StringIO()
        Terminal(Console(file=written, width=120)).say(recommendation_table(rows))
        assert ("genre" in written.getvalue()) == ("Crime" in written.getvalue()) == shown
    linked = io.StringIO()
    Console(file=linked, width=120, force_terminal=True).print(recommendation_table([known]))
    assert "https://example.org/heat" in linked.getvalue()
