"""Rating titles by single keys: rate, skip, undo, search others."""

from typing import TYPE_CHECKING

from midpoint.cli.answer.tables import number, plain
from midpoint.wire import ONE

if TYPE_CHECKING:
    from midpoint.cli.answer.terminal import Terminal
    from midpoint.user.agent import Agent
    from midpoint.wire import Solicitation

DIGITS = "1234567890"
MOST_HITS = 9
"""Titles shown for a search."""


class RatingKeys:
    """Asks for ratings of the titles of a round, and of others if the round takes them."""

    def __init__(self, agent: "Agent", terminal: "Terminal", asked: "Solicitation") -> None:
        self._agent = agent
        self._terminal = terminal
        self._asked = asked
        self._titles = agent.standing.titles
        decided, levels = agent.home.ledger.decided, agent.standing.accepted.disclosure.scale.levels
        self._levels = levels or ()
        self._digits = DIGITS[: len(self._levels)] if len(self._levels) <= len(DIGITS) else ""
        self._decided = decided
        self._ratings = {i: r for i, r in agent.home.ratings.items() if i in self._open(decided)}
        self._skipped: set[str] = set()
        self._done = list(self._ratings)
        self._mark = agent.standing.mark
        self._means = {
            digit: f"[yellow]{plain(self._mark or number(level))}[/yellow]"
            for digit, level in zip(self._digits, self._levels, strict=False)
        } | {"s": "[dim]skipped[/dim]"}

    def rate(self) -> dict[str, float]:
        """Ask title by title until she is done; return all her ratings without a decision."""
        self._skipped.clear()
        self._terminal.say(self._legend(), markup=True)
        while self._step():
            self._agent.home.keep_ratings(self._earlier() | self._ratings)
        return {item: value / ONE for item, value in self._ratings.items()}

    def _open(self, decided: frozenset[str]) -> frozenset[str]:
        """Return the items that this round takes ratings of."""
        taken = self._titles.keys() if self._asked.open else self._asked.items
        return frozenset(taken) - decided

    def _earlier(self) -> dict[str, int]:
        """Return kept ratings of items that this round does not take."""
        open_now = self._open(self._decided)
        return {i: r for i, r in self._agent.home.ratings.items() if i not in open_now}

    def _step(self) -> bool:
        """Show the next title and take one key; False when she is done."""
        left = [i for i in self._asked.items if i not in self._ratings and i not in self._skipped]
        left = [item for item in left if item not in self._decided]
        search = "/" if self._asked.open else ""
        if not left:
            pressed = self._terminal.key(
                "No more titles are asked about. [b]d[/b] done >", f"du{search}"
            )
            return self._other(pressed)
        index = len(self._asked.items) - len(left) + 1
        shown = f"[dim]{index:>3}/{len(self._asked.items)}[/dim]  {plain(self._titles[left[0]])}  "
        keys = f"{self._digits or 'r'}su{search}d"
        pressed = self._terminal.key(shown, keys, self._means)
        if pressed == "s":
            self._skipped.add(left[0])
            self._done.append(left[0])
        elif pressed in (self._digits or "r"):
            self._give(left[0], pressed)
        else:
            return self._other(pressed)
        return True

    def _give(self, item: str, pressed: str) -> None:
        if not self._digits:
            low, high = number(self._levels[0]), number(self._levels[-1])
            value = _level(self._terminal.line(f"from {low} to {high}:"), self._levels)
            if value is None:
                self._terminal.say("That is not on the scale.")
                return
        else:
            value = self._levels[self._digits.index(pressed)]
        self._ratings[item] = value
        self._done.append(item)

    def _other(self, pressed: str) -> bool:
        if pressed == "u":
            self._undo()
        elif pressed == "/":
            self._search()
        return pressed != "d"

    def _undo(self) -> None:
        """Take back the last rating or skip."""
        if self._done:
            item = self._done.pop()
            self._skipped.discard(item)
            self._ratings.pop(item, None)
            self._terminal.say(f"         taken back: {plain(self._titles[item])}", markup=True)

    def _search(self) -> None:
        """Find a title by a part of its name, the best known first, and rate it."""
        words = self._terminal.line("Part of a title:").casefold().split()
        free = self._open(self._decided)
        hits = [i for i in free if all(w in self._titles[i].casefold() for w in words)]
        known = self._agent.standing.popularity
        hits = sorted(hits, key=lambda item: (-known[item], item))[:MOST_HITS] if words else []
        if not hits:
            self._terminal.say("No title that is still open has that in its name.")
            return
        for rank, item in enumerate(hits, start=1):
            given = (
                f" [yellow]{plain(self._mark or number(self._ratings[item]))}[/yellow]"
                if item in self._ratings
                else ""
            )
            title = plain(self._titles[item])
            self._terminal.say(f"  [b]{rank}[/b] {title}{given}", markup=True)
        chosen = self._terminal.key("Which? [b]0[/b] none >", f"0{DIGITS[: len(hits)]}")
        if chosen != "0":
            item = hits[int(chosen) - 1]
            question = f"      {plain(self._titles[item])}  "
            self._give(item, self._terminal.key(question, self._digits or "r", self._means))

    def _legend(self) -> str:
        if not self._digits:
            keys = "[b]r[/b] rate"
        elif self._mark:
            keys = f"[b]1[/b] {plain(self._mark)}"
        elif all(level == ONE * (n + 1) for n, level in enumerate(self._levels)):
            keys = f"[b]1[/b]-[b]{len(self._levels)}[/b] rate"
        else:
            named = zip(self._digits, self._levels, strict=True)
            keys = " ".join(f"[b]{digit}[/b]={number(level)}" for digit, level in named)
        search = "   [b]/[/b] another title" if self._asked.open else ""
        return f"\n{keys}   [b]s[/b] skip   [b]u[/b] undo{search}   [b]d[/b] done\n"


def _level(text: str, levels: tuple[int, ...]) -> int | None:
    try:
        value = round(float(text) * ONE)
    except (ValueError, OverflowError):
        return None
    return value if value in levels else None
