"""Ratings as a person writes them, by title or item and in stars, and the items they are of."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from numbers import Real

from midpoint.errors import MidpointError
from midpoint.user.agent.standing import Standing
from midpoint.wire import ONE, RatingScale

NEAR = 3
"""Close matches that an error names."""


Given = Mapping[str, float] | Iterable[str]
"""What she gives: ratings in stars by title or item, or where nothing is rated the names alone."""


def by_item(
    ratings: Given, standing: Standing, where: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Return ratings in fixed point by item, from ratings in stars by title or by item.

    All of them are looked at before any is used, so one mistake loses nothing. An error says
    `where` the rating is written, if that is known.
    """
    if not isinstance(ratings, Mapping):
        if standing.mark is None or isinstance(ratings, str):
            raise MidpointError("give ratings by title or item, such as {'Fargo (1996)': 5}")
        ratings = dict.fromkeys(ratings, 1.0)
    rated: dict[str, float] = {}
    for name, stars in ratings.items():
        try:
            item = _item(name, standing.titles, standing.by_title)
            _require_new(item, name, rated)
            rated[item] = _on_scale(name, stars, standing.accepted.disclosure.scale)
        except MidpointError as error:
            raise MidpointError(f"{where[name]}: {error}" if where else str(error)) from None
    return standing.fixed(rated)


def _item(name: str, titles: Mapping[str, str], items: Mapping[str, tuple[str, ...]]) -> str:
    """Return the item that a name means: the one with this title, or this identifier."""
    if not isinstance(name, str):
        raise MidpointError(f"{name!r} is no title and no item; write it as text, {str(name)!r}")
    titled = items.get(name, ())
    if name in titles and titled not in ((), (name,)):
        raise MidpointError(
            f"{name!r} is the identifier of {titles[name]!r} and the title of item"
            f" {', '.join(map(repr, titled))}; name the one you mean the other way"
        )
    if len(titled) > 1:
        raise MidpointError(
            f"{len(titled)} items have the title {name!r}; name the one you mean by its"
            f" identifier: {', '.join(map(repr, titled))}"
        )
    if titled:
        return titled[0]
    if name in titles:
        return name
    near = _near(name, items)
    meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise MidpointError(f"there is no title or item {name!r} in the catalogue{meant}")


def _require_new(item: str, name: str, rated: Mapping[str, float]) -> None:
    if item in rated:
        raise MidpointError(f"{name!r} is rated twice, by title and by item; give one rating")


def _near(name: str, titles: Iterable[str]) -> list[str]:
    """Return titles that hold a name, the shortest first, or that look like it."""
    folded, wanted = {title.casefold(): title for title in titles}, name.casefold()
    holding = sorted((title for title in folded if wanted in title), key=len)
    near = holding or get_close_matches(wanted, folded, n=NEAR)
    return [folded[match] for match in near[:NEAR]]


def _on_scale(name: str, stars: object, scale: RatingScale) -> float:
    """Return a rating as a number, refusing one that nobody can give."""
    if isinstance(stars, bool) or not isinstance(stars, Real) or not isfinite(stars):
        raise MidpointError(f"the rating of {name!r} is {stars!r}, which is no number of stars")
    value = float(stars)
    levels = None if scale.levels is None else [level / ONE for level in scale.levels]
    low, high = scale.low / ONE, scale.high / ONE
    if value not in levels if levels else not low <= value <= high:
        legal = f"from {low:g} to {high:g}"
        if levels:
            legal = f"one of {', '.join(f'{level:g}' for level in levels)}"
        if scale.is_unary:
            legal = f"{high:g}, or only the names: nothing is rated here"
        raise MidpointError(f"the rating of {name!r} is {value:g}; give {legal}")
    return value
