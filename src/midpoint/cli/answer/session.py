"""The session of `midpoint answer`: what is shown, which keys do what, in which order."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.panel import Panel

from midpoint.cli.answer.category import NoCategoryError, category_of
from midpoint.cli.answer.keys import RatingKeys
from midpoint.cli.answer.panel import panel_menu
from midpoint.cli.answer.statements import say_demands, say_leaving, say_standing
from midpoint.cli.answer.tables import (
    FATES,
    SET_FATES,
    everyone_table,
    ledger_table,
    plain,
    recommendation_table,
)
from midpoint.cli.answer.terminal import Terminal
from midpoint.errors import MidpointError
from midpoint.files import replace_file

if TYPE_CHECKING:
    from midpoint.user import PrivateCategory
    from midpoint.user.agent import Agent
    from midpoint.wire import Solicitation

WELCOME = (
    "{}, so that what it sends says as little as possible about what you keep private.\n"
    "The service learns your taste from what was sent, and scores titles. This device adds what"
    " your category changes in the scores, and ranks the titles."
)
NO_CATEGORY = (
    "Protection needs a category: your device hides it by answering as somebody in the middle"
    " would. If you are in none of them, or do not want to say even here, there are two honest"
    " choices. You can see the best titles for everyone, and nothing is sent. Or you can send your"
    " answers in the clear: then nothing is protected, and anybody who sees them may guess what you"
    " keep private about as well as from anybody's raw answers (on MovieLens 1M, gender: AUC 0.8,"
    " where 0.5 is blind guessing). A category picked at random would protect nobody."
)
IN_THE_CLEAR = (
    "In the clear: your answers leave as they are, and nothing is protected. What is sent stays"
    " sent, also if you choose a category later."
)
MENU = (
    "[b]m[/b] more titles   [b]r[/b] recommendations   [b]l[/b] what was sent   "
    "[b]p[/b] panel   [b]x[/b] export   [b]f[/b] forget me   [b]q[/b] quit"
)


def welcome(mark: str | None) -> Panel:
    """Say what happens here to ratings, or to titles that she has seen, liked or bought."""
    begin = "You rate titles. This device changes some ratings and withholds others"
    if mark:
        begin = f"You say which titles you have {plain(mark)}. This device withholds some"
    return Panel(WELCOME.format(begin), title="Midpoint", title_align="left", border_style="cyan")


class Session:
    """One person at one service."""

    def __init__(
        self,
        agent: "Agent",
        terminal: Terminal,
        *,
        top: int = 10,
        named: Mapping[str, str] | None = None,
        remember: bool = False,
    ) -> None:
        self.agent = agent
        self.terminal = terminal
        self._top = top
        self._named = named
        self._remember = remember
        self.in_the_clear = False
        """Whether she said that her ratings may leave as they are."""
        self._known_there = False

    def run(self) -> None:
        """Go through rounds until she quits."""
        say = self.terminal.say
        try:
            self.connect(greet=True)
            chosen = self._category_or_none()
            if chosen is None:
                return
            category = chosen
            self._round(category)
            actions: dict[str, Callable[[], object]] = {
                "m": lambda: self._round(category),
                "r": lambda: self.recommend(category),
                "l": self._ledger,
                "p": lambda: panel_menu(self.agent, self.terminal),
                "x": lambda: self.export(Path(self.terminal.line("Write to which file?"))),
            }
            while (pressed := self.terminal.key(f"\n{MENU}\n>", "mrlpxfq")) != "q":
                if pressed in actions:
                    _carry_on(actions[pressed], self.terminal)
                elif self.forget():
                    return
        except (KeyboardInterrupt, EOFError):
            say("\nStopped. Your answers are kept on this device; nothing was sent unconfirmed.")

    def connect(self, *, greet: bool = False) -> None:
        """Fetch and check; say what is protected, and whether an auditor certified it."""
        with self.terminal.console.status("Fetching and checking"):
            standing = self.agent.connect()
        if greet:
            self.terminal.say(welcome(standing.mark))
        witnessed = self.agent.inner.terms.witness is not None
        say_standing(self.terminal, standing, witnessed=witnessed)
        say_demands(self.terminal, self.agent.home)

    def category(self, *, optional: bool = False) -> "PrivateCategory":
        """Return her category: named on the command line, remembered, or asked for here.

        Where that is `optional`, she may say none (`NoCategoryError`).
        """
        from midpoint.user import PrivateCategory

        if self.in_the_clear:
            self.terminal.say(IN_THE_CLEAR)
            return PrivateCategory.unprotected()
        disclosure, home = self.agent.standing.accepted.disclosure, self.agent.home
        return category_of(
            *(home, disclosure, self.terminal, self._named),
            remember=self._remember,
            optional=optional,
        )

    def _category_or_none(self) -> "PrivateCategory | None":
        """Return her category, or what stands for none if she agrees; None if she sends nothing."""
        try:
            return self.category(optional=True)
        except NoCategoryError:
            self.terminal.say(NO_CATEGORY)
        pressed = self.terminal.key(
            "[b]e[/b] best titles for everyone   [b]c[/b] answers in the clear   [b]q[/b] quit\n>",
            "ecq",
        )
        if pressed == "e":
            self.best_for_everyone()
        if pressed != "c" or not self.terminal.sure("Send your answers as they are?"):
            return None
        self.in_the_clear = True
        return self.category()

    def best_for_everyone(self) -> None:
        """Show the best titles for everyone, from what is published; nothing is sent."""
        from midpoint.user.agent.everyone import best_for_everyone

        standing = self.agent.standing
        best = best_for_everyone(standing)[: self._top]
        self.terminal.say(everyone_table([standing.titles[item] for item in best]))
        self.terminal.say("Nothing was sent, and nothing is kept of your visit but the pin.")

    def ask_for_a_round(self) -> "Solicitation":
        """Fetch a solicitation; one that must be refused is refused before anything is rated."""
        self._known_there = True
        with self.terminal.console.status("Asking which titles would help most"):
            return self.agent.solicit()

    def _round(self, category: "PrivateCategory") -> None:
        asked = self.ask_for_a_round()
        self.agent.preview({}, category)
        keys = RatingKeys(self.agent, self.terminal, asked)
        change = "name more" if self.agent.standing.mark else "rate more"
        while True:
            ratings = keys.rate()
            if not ratings:
                what = self.agent.standing.mark or "rated"
                self.terminal.say(f"Nothing is {what} yet, so there is nothing to show.")
            self.show_leaving(ratings, category)
            pressed = self.terminal.key(
                f"[b]s[/b] send   [b]e[/b] {change} or change   [b]n[/b] not now\n>", "sen"
            )
            if pressed == "n":
                self.terminal.say("Nothing was sent. Your answers are kept on this device.")
                return
            if pressed == "s":
                break
        self.send(ratings, category)
        self.recommend(category)

    def show_leaving(self, ratings: Mapping[str, float], category: "PrivateCategory") -> None:
        """Show line by line what leaves, what is withheld, and why."""
        from midpoint.user.agent.rows import PreviewLine

        standing = self.agent.standing
        shown = standing.accepted.disclosure
        lines = self.agent.preview(ratings, category)
        rows = [PreviewLine.of(line, standing.titles) for line in lines]
        thinned = shown.keep is not None
        say_leaving(
            *(self.terminal, rows, shown.scale),
            mark=standing.mark,
            thinned=thinned,
            clear=category.in_the_clear,
        )

    def send(self, ratings: Mapping[str, float], category: "PrivateCategory") -> None:
        """Decide for good, and send."""
        report = self.agent.answer(ratings, category)
        with self.terminal.console.status("Sending"):
            receipt = self.agent.submit()
        total = 0 if receipt is None else receipt.answers
        self.terminal.say(
            f"[green]Sent[/green] {len(report.raw)} bytes with {len(report.answers)} of your"
            f" answers; the service now holds {total} in all.",
            markup=True,
        )

    def recommend(self, category: "PrivateCategory") -> None:
        """Show her best titles."""
        from midpoint.user.agent.rows import RankedTitle

        with self.terminal.console.status("Ranking"):
            best = self.agent.recommend(self._top, category)
        standing = self.agent.standing
        rows = [RankedTitle.of(row, standing) for row in best]
        self.terminal.say(recommendation_table(rows, standing.mark))

    def export(self, path: Path) -> None:
        """Write all that is kept, for her eyes only: it holds what was withheld, too."""
        if not path.name:
            self.terminal.say("No file was named.")
            return
        replace_file(path, self.agent.export(), mode=0o600)
        self.terminal.say(f"All that the service and this device keep about you is in {path}")

    def forget(self, *, sure: bool = False) -> bool:
        """Erase her there, then here, if she is sure; if the service is away, say what remains."""
        from midpoint.user.agent import AwayError

        self.terminal.say(
            "Forgetting erases you at the service, in its panel too, then the secret, ledger and"
            " answers here. If you come back you are somebody new, with new coins: answer the same"
            " again, and a service that kept your old answers and guesses who you are learns"
            " more."
        )
        if not (sure or self.terminal.sure("Forget me?")):
            return False
        try:
            self.agent.forget()
        except AwayError as error:
            raise MidpointError(
                f"{error}. You are not forgotten yet: until you run --forget again, nothing else"
                " is sent; what is here is kept, for it is needed to erase you there"
            ) from error
        self._known_there = False
        self.terminal.say("Forgotten: the service erased you, and nothing is left here.")
        return True

    def leave(self) -> None:
        """Erase somebody who is kept in memory only: later nobody could."""
        if self._known_there:
            self._known_there = False
            self.agent.forget()
            self.terminal.say("The service erased you; nothing was kept.")

    def _ledger(self) -> None:
        standing = self.agent.standing
        self.terminal.say(ledger_table(self.agent.home.ledger, standing.titles, standing.mark))
        why = (SET_FATES if standing.mark else FATES)["withheld"]
        self.terminal.say(f"Withheld: {why}.")


def _carry_on(action: Callable[[], object], terminal: Terminal) -> None:
    """Do what a key asks for; what goes wrong is said, and the session goes on."""
    try:
        action()
    except (MidpointError, OSError) as error:
        terminal.say(f"[red]{escape(str(error))}[/red]", markup=True)
