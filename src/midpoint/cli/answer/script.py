"""Answering from a file, for scripts."""

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from midpoint.errors import MidpointError
from midpoint.wire import ONE, RatingScale

if TYPE_CHECKING:
    from midpoint.cli.answer.session import Session


def answer_from_file(session: "Session", path: Path, *, yes: bool) -> None:
    """Answer one round with the ratings of a file; without `yes` only show what would leave."""
    session.connect()
    category = session.category()
    standing = session.agent.standing
    ratings = read_ratings(path, standing.titles, standing.accepted.disclosure.scale)
    session.ask_for_a_round()
    session.show_leaving(ratings, category)
    if not yes:
        session.terminal.say("Nothing was sent; add --yes to send it.")
        return
    session.send(ratings, category)
    session.recommend(category)


def read_ratings(path: Path, titles: Mapping[str, str], scale: RatingScale) -> dict[str, float]:
    """Read ratings by item or title; say at which line something is wrong."""
    counted = Counter(titles.values())
    by_title = {title: item for item, title in titles.items() if counted[title] == 1}
    ratings: dict[str, float] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            table = csv.DictReader(stream)
            column = next((c for c in ("item", "title") if c in (table.fieldnames or ())), None)
            if column is None or "rating" not in (table.fieldnames or ()):
                raise MidpointError(f"{path} needs a first line with item (or title) and rating")
            for row in table:
                line = f"{path}, line {table.line_num}"
                item = _item(row[column], titles, by_title, line)
                if item in ratings:
                    raise MidpointError(f"{line}: {row[column]!r} is rated twice; keep one line")
                ratings[item] = _rating(row["rating"], scale, line)
    except (OSError, UnicodeDecodeError) as error:
        raise MidpointError(f"{path} cannot be read ({error}); check it") from error
    return ratings


def _item(
    text: str | None, titles: Mapping[str, str], by_title: Mapping[str, str], line: str
) -> str:
    if text in titles:
        return str(text)
    if text in by_title:
        return by_title[str(text)]
    several = text in titles.values()
    why = "is the title of several items; name the item" if several else "is unknown here"
    raise MidpointError(f"{line}: {text!r} {why}")


def _rating(text: str | None, scale: RatingScale, line: str) -> float:
    try:
        rating = float(text or "")
    except ValueError:
        raise MidpointError(f"{line}: the rating is not a number") from None
    fine = scale.low <= ONE * rating <= scale.high
    if scale.levels is not None:
        fine = ONE * rating in scale.levels
    if not fine:
        low, high = scale.low / ONE, scale.high / ONE
        raise MidpointError(f"{line}: {text} is not a rating on the scale from {low:g} to {high:g}")
    return rating
