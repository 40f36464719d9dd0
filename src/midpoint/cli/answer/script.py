"""Answering from a file, for scripts."""

from pathlib import Path
from typing import TYPE_CHECKING

from midpoint.cli.answer.ratings import read_ratings
from midpoint.wire import ONE

if TYPE_CHECKING:
    from midpoint.cli.answer.session import Session


def answer_from_file(session: "Session", path: Path, *, yes: bool) -> None:
    """Answer one round with the ratings of a file; without `yes` only show what would leave."""
    session.connect()
    category = session.category()
    given = read_ratings(path, session.agent.standing)
    ratings = {item: value / ONE for item, value in given.fixed.items()}
    session.ask_for_a_round()
    session.show_leaving(ratings, category)
    if not yes:
        session.terminal.say("Nothing was sent; add --yes to send it.")
        return
    session.send(ratings, category)
    session.recommend(category)
