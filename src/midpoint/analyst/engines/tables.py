"""What the engines share: which column is which, the scale, and refusals."""

import logging
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from midpoint.analyst.fit.factorizer import Factorizer
from midpoint.data import Feature, Scale
from midpoint.data.scale import MOST_LEVELS, ROUNDED
from midpoint.data.tables.columns import Columns, find, matching
from midpoint.errors import MidpointError

logger = logging.getLogger(__name__)


class Roles(NamedTuple):
    """Which column of a table plays which part."""

    user: str
    """Who rates."""
    item: str
    """What is rated."""
    rating: str | None
    """The rating; None in a table of unary data."""
    title: str | None
    """What a person calls the item, if there is such a column."""
    uses: str | None = None
    """How often she used it, in a table of unary data that says so."""


class Seen(NamedTuple):
    """What one pass over all ratings shows of their values."""

    ratings: int
    """How many there are."""
    low: float
    """The least."""
    high: float
    """The greatest."""
    distinct: NDArray[np.float64]
    """The distinct values; a few, or as many other numbers, where there are too many of them."""
    often: NDArray[np.int64]
    """How many ratings there are of each distinct value. Empty where there are too many values."""
    blank: int
    """Rows without user, item or rating, or whose rating is no finite number."""


def own_values(columns: Sequence[str]) -> Iterator[pl.Expr]:
    """Gather of a person's rows the first value of each column, and how many values there are."""
    for name in columns:
        value = pl.col(name).drop_nulls()
        yield value.first()
        yield value.n_unique().alias(f"{name} differs")


def only_values(by_user: pl.DataFrame, columns: Sequence[str], where: str) -> pl.DataFrame:
    """Return what `own_values` gathered; a person with two values of a column is refused."""
    for name in columns:
        differing = by_user.filter(pl.col(f"{name} differs") > 1)
        if differing.height:
            raise MidpointError(
                f"{where}: user {differing['user'][0]} has two values of {name!r}; keep one"
            )
    return by_user.select("user", *columns)


def roles_of(
    columns: Columns, present: Sequence[str], where: str, features: Sequence[str] = ()
) -> Roles:
    """Find the columns by their given names, or by what such columns are usually called.

    A table without ratings is unary data if it has a column of counts, or nothing but users, items,
    times, titles and features: another column might be a rating by another name.
    """
    usable = {"user", "item", "rating", "count", "title", "features"}
    columns.require_only(usable, f"{where} is one long table")
    if columns.count is not None and columns.rating is not None:
        raise MidpointError(f"{where}: name a column of ratings or one of counts, not both")
    empty = pl.DataFrame(schema=dict.fromkeys(present, pl.String))
    named: dict[str, str] = {}
    for role in ("user", "item", "title", "count", "rating"):
        guess = None if role == "count" or "count" in named else find(empty, role)
        name = getattr(columns, role) or guess
        optional = role in {"title", "count"} or "count" in named
        if role == "rating" and not optional:
            others = set(present) - {*named.values(), find(empty, "time"), *_columns(features)}
            optional = not others
        if name is None and not optional:
            raise MidpointError(
                f"{where}: no column looks like the {role}; it has {', '.join(present[:20])};"
                f" name it by --{role}-column"
            )
        if name is not None:
            named[role] = matching([name], present, where)[0]
    rest = (named.get(role) for role in ("rating", "title", "count"))
    return Roles(named["user"], named["item"], *rest)


def _columns(features: Sequence[str]) -> set[str]:
    """Return the columns that features may stand in."""
    return {column for name in features for column in (name, name.removesuffix("_band"))}


def require_used(seen: Seen, where: str) -> None:
    """Refuse counts below 0, which are kept as they are until here."""
    if seen.ratings and seen.low < 0:
        raise MidpointError(
            f"{where}: a count of {seen.low:g}; counts are 0 or more, and ratings are named by"
            " --rating-column"
        )


def scale_of(seen: Seen, given: Scale | None, where: str, *, unary: bool = False) -> Scale:
    """Return the scale that was named, if all values are on it, or guess as for a small table.

    Ratings that come in no levels are to be brought to the nearest one: see `step_to`.
    """
    if seen.blank:
        raise MidpointError(
            f"{where}: {seen.blank} rows lack a user, an item or a finite rating; fill them in or"
            " remove them"
        )
    if not seen.ratings:
        raise MidpointError(f"{where} has no ratings to learn from")
    if unary:
        require_used(seen, where)
    many = len(seen.distinct) > MOST_LEVELS
    if given is not None:
        values = np.append(seen.distinct[: len(seen.often)], [seen.low, seen.high])
        wrong = values[~given.contains(values)]
        if len(wrong):
            raise MidpointError(
                f"{where}: rating {wrong[0]:g} is not on the scale ({given}); correct or drop it,"
                " or name the scale"
            )
        return given
    if not many:
        return Scale.guess(seen.distinct, where, counts=seen.often)
    # The shortest decimals that are these values in single precision, such as 0.1.
    fine = Scale.fine(*(float(str(np.float32(end))) for end in (seen.low, seen.high)))
    logger.warning(ROUNDED, where, seen.ratings, f"more than {MOST_LEVELS}", fine, fine.step)
    return fine


def step_to(seen: Seen, scale: Scale) -> float | None:
    """Return the step of a guessed scale that ratings must be brought to; None where they are."""
    if len(seen.distinct) <= MOST_LEVELS and scale.contains(seen.distinct).all():
        return None
    return scale.step


def feature_column(name: str, present: Sequence[str], where: str) -> str:
    """Return the column behind a feature: its own, or the ages that `age_band` is made of."""
    base = name.removesuffix("_band")
    for column in (name, base):
        if column in present:
            return column
    raise MidpointError(
        f"{where} has no user feature {name!r}; it has {', '.join(present[:20]) or 'none'}"
    )


def chosen_feature(
    features: dict[str, Feature], names: Sequence[str], where: str
) -> Feature | None:
    """Return the private feature, or the joint one of several; None if none is asked for."""
    if not names:
        return None
    for name in names:
        if name not in features:
            known = ", ".join(features) or "none"
            raise MidpointError(f"{where} has no user feature {name!r}; it has {known}")
        if names.count(name) > 1:
            raise MidpointError(f"feature {name!r} is named twice; name it once")
    return Feature.joint([features[name] for name in names])


def require_supported(factorizer: Factorizer, engine: str) -> None:
    """Refuse settings that only the engine in memory has, before ratings are read."""
    if engine == "local":
        return
    wanted = (
        ("method", factorizer.method, "als"),
        ("validation", factorizer.validation, 0.0),
    )
    for name, value, only in wanted:
        if value != only:
            raise MidpointError(f"--{name} {value} needs --engine local; {engine} has {only} only")
    if factorizer.biases == "joint":
        raise MidpointError(
            f"--biases joint needs --engine local; {engine} has shrunken and plain ones"
        )
