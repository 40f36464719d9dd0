"""Answering from a file, for scripts."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from midpoint.errors import MidpointError
from midpoint.wire import ONE, RatingScale

if TYPE_CHECKING:
    from midpoint.cli.answer.session import Session


def category_of(given: Sequence[str] | None) -> dict[str, str] | None:
    """Read FEATURE=CATEGORY; a message does not repeat what was given."""
    if not given:
        return None
    pairs = [one.partition("=") for one in given]
    if not all(name and sign and value for name, sign, value in pairs):
        raise MidpointError("--category is written FEATURE=CATEGORY, such as gender=F")
    return {name: value for name, _, value in pairs}


def answer_from_file(session: "Session", path: Path, *, yes: bool) -> None:
    """Answer one round with the ratings of a file; without `yes` only show what would leave."""
    session.connect()
    category = session.category()
    standing = session.agent.standing
    mine = read_ratings(path, standing.titles, standing.accepted.disclosure.scale)
    session.ask_for_a_round()
    session.show_leaving(mine, category)
    if not yes:
        session.terminal.say("Nothing was sent; add --yes to send it.")
        return
    session.send(mine, category)
    session.recommend(category)


def read_ratings(path: Path, titles: Mapping[str, str], scale: RatingScale) -> dict[str, float]:
    """Read ratings by item or title; say at which line something is wrong."""
    counted = Counter(titles.values())
    by_title = {title: item for item, title in titles.items() if counted[title] == 1}
    found: dict[str, float] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            table = csv.DictReader(stream)
            column = next((c for c in ("item", "title") if c in (table.fieldnames or ())), None)
            if column is None or "rating" not in (table.fieldnames or ()):
                raise MidpointError(f"{path} needs a first line with item (or title) and rating")
            for row in table:
                place = f"{path}, line {table.line_num}"
                item = _item(row[column], titles, by_title, place)
                if item in found:
                    raise MidpointError(f"{place}: {row[column]!r} is rated twice; leave one")
                found[item] = _rating(row["rating"], scale, place)
    except (OSError, UnicodeDecodeError) as error:
        raise MidpointError(f"{path} cannot be read ({error}); check it") from error
    return found


def _item(
    text: str | None, titles: Mapping[str, str], by_title: Mapping[str, str], place: str
) -> str:
    if text in titles:
        return str(text)
    if text in by_title:
        return by_title[str(text)]
    several = text in titles.values()
    why = "is the title of several items; name the item" if several else "is unknown here"
    raise MidpointError(f"{place}: {text!r} {why}")


def _rating(text: str | None, scale: RatingScale, place: str) -> float:
    try:
        rating = float(text or "")
    except ValueError:
        raise MidpointError(f"{place}: the rating is not a number") from None
    fine = scale.low <= ONE * rating <= scale.high
    if scale.levels is not None:
        fine = ONE * rating in scale.levels
    if not fine:
        low, high = scale.low / ONE, scale.high / ONE
        raise MidpointError(f"{place}: {text} is no rating on the scale from {low:g} to {high:g}")
    return rating
