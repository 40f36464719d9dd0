"""Lists that a person reads: one line a row in a terminal, a table in a notebook."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar, Protocol, Self, TypeVar, overload

from midpoint.user.agent.preview import Fate, Line
from midpoint.user.agent.standing import Standing
from midpoint.user.core.correction import Recommendation
from midpoint.wire import ONE


class Row(Protocol):
    """What a list is made of."""

    @property
    def headings(self) -> tuple[str, ...]:
        """What the columns are called."""
        ...

    def cells(self) -> tuple[str, ...]:
        """Return one text for each column."""
        ...


@dataclass(frozen=True, repr=False)
class RankedTitle:
    """One title as the device ranks it; numbers in stars."""

    item: str
    """The item's identifier."""
    title: str
    """What a person calls it."""
    stars: float
    """Predicted rating, on the scale."""
    deviation: float
    """Standard deviation of the prediction."""
    genre: str = ""
    """What kind of thing it is; empty if the service does not say."""
    link: str = ""
    """Where to read about it; empty if the service does not say."""
    sets: bool = False
    """Whether nothing is rated there: then the order is all there is to say."""

    @classmethod
    def of(cls, row: Recommendation, standing: Standing) -> Self:
        """Name a recommendation by what the service shows of it."""
        item = row.item
        return cls(
            item,
            standing.titles[item],
            row.shown / ONE,
            row.deviation / ONE,
            standing.genres.get(item, ""),
            standing.links.get(item, ""),
            sets=standing.mark is not None,
        )

    def __repr__(self) -> str:
        return self.title if self.sets else f"{self.stars:.1f} {self.title}"

    @property
    def headings(self) -> tuple[str, ...]:
        """What the columns are called."""
        return ("title",) if self.sets else ("stars", "title", "give or take")

    def cells(self) -> tuple[str, ...]:
        """Return one text for each column."""
        predicted = f"{self.stars:.1f}", self.title, f"{self.deviation:.1f}"
        return (self.title,) if self.sets else predicted


@dataclass(frozen=True, repr=False)
class PreviewLine:
    """One rating and what becomes of it; numbers in stars."""

    headings: ClassVar[tuple[str, ...]] = ("title", "rating", "what leaves")

    item: str
    """The item's identifier."""
    title: str
    """What a person calls it."""
    rating: float
    """What she gave."""
    sent: float | None
    """What the report says about it, or an earlier one said; None if nothing."""
    fate: Fate
    """Why."""

    @classmethod
    def of(cls, line: Line, titles: Mapping[str, str]) -> Self:
        """Name a line by its title."""
        sent = None if line.sent is None else line.sent / ONE
        return cls(line.item, titles[line.item], line.rating / ONE, sent, line.fate)

    def __repr__(self) -> str:
        title, rating, leaves = self.cells()
        return f"{title}: {rating}, {leaves}"

    def cells(self) -> tuple[str, ...]:
        """Return one text for each column."""
        fate = self.fate.replace("_", " ")
        leaves = fate if self.sent is None else f"{fate} as {self.sent:g}"
        return self.title, f"{self.rating:g}", leaves


R = TypeVar("R", bound=Row)
SHOWN = 10
"""Rows of a longer list that it prints."""


class Rows(Sequence[R]):
    """A list of rows that does not change; a slice is one too.

    Args:
        rows: The rows, or what they are made of.
        make: Makes a row when somebody looks at it: of thousands that are ranked, ten are seen.
    """

    def __init__(self, rows: Sequence[Any] = (), make: Callable[[Any], R] | None = None) -> None:
        self._rows = tuple(rows)
        self._make = make

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[R]:
        return iter(self._rows) if self._make is None else map(self._make, self._rows)

    @overload
    def __getitem__(self, index: int) -> R: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: int | slice) -> R | Self:
        if isinstance(index, slice):
            return type(self)(self._rows[index], self._make)
        return next(iter(type(self)((self._rows[index],), self._make)))

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Rows) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        """Print the first rows, and how many follow; a slice prints others."""
        rest = [f"and {self._rest:,} more"] if self._rest else []
        return "\n".join([*map(repr, self[:SHOWN]), *rest]) or "<nothing>"

    def _repr_html_(self) -> str:
        """Show a table in a notebook; titles are somebody else's text, and escaped."""
        if not self._rows:
            return "<p>nothing</p>"
        head = "".join(f"<th>{escape(name)}</th>" for name in self[0].headings)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row.cells()) + "</tr>"
            for row in self[:SHOWN]
        )
        rest = f"<p>and {self._rest:,} more</p>" if self._rest else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"

    @property
    def _rest(self) -> int:
        return max(len(self._rows) - SHOWN, 0)
