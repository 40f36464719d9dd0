"""The disclosure: what the analyst publishes about its items, as integers."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from math import prod
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from midpoint.wire.canonical import digest, encode
from midpoint.wire.fixed import ONE
from midpoint.wire.message import Message, Name, Part, fault, require_ascending
from midpoint.wire.positions import Prior, Row
from midpoint.wire.refusal import Refusal
from midpoint.wire.scheme import SCHEMES, Scheme, ValueMap

Rating = Annotated[int, Field(ge=-(2**31), le=2**31)]
MOST_CELLS = 1024
"""With this many cells, and ratings up to 2^31, the devices' sums stay exact."""
ALWAYS = ("offset", "reveal", "levels", "average")
"""Columns that the digest of an item's numbers covers even where they are absent."""
COLUMNS = (*ALWAYS, "rate", "selection", "base", "taste")


class FeatureNames(Part):
    """One private feature."""

    name: Name
    """What it is called."""
    categories: Annotated[tuple[Name, ...], Field(min_length=2)]
    """The names of its categories, in the order of their numbers."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if len(set(self.categories)) != len(self.categories):
            raise fault(Refusal.WRONG_SHAPE, f"feature {self.name!r} names a category twice")
        return self


class RatingScale(Part):
    """What a rating can be, in fixed point."""

    low: Rating
    """The least rating."""
    high: Rating
    """The greatest rating."""
    levels: Annotated[tuple[Rating, ...], Field(min_length=1)] | None = None
    """All ratings in ascending order; absent on a continuous scale.

    A single one, at the upper end, makes the scale unary: a rating says that an item is in her set.
    """
    reported: Annotated[tuple[Rating, ...], Field(min_length=2)] | None = None
    """Those of them that devices report on, if fewer; she rates on all of them."""

    @property
    def report_levels(self) -> tuple[int, ...] | None:
        """What a report can say under a scheme that reports levels; None on a continuous scale."""
        return self.reported or self.levels

    @property
    def is_unary(self) -> bool:
        """Whether there is one level: what is rated is a set of items."""
        return self.levels is not None and len(self.levels) == 1

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        points = (self.low, self.high) if self.levels is None else self.levels
        points = (self.low, *points) if self.is_unary else points
        if any(a >= b for a, b in pairwise(points)):
            raise fault(Refusal.WRONG_SHAPE, "the scale does not ascend")
        if (points[0], points[-1]) != (self.low, self.high):
            raise fault(Refusal.WRONG_SHAPE, "the levels do not run from low to high")
        if self.reported is not None and not self._are_fewer(self.reported):
            raise fault(
                Refusal.WRONG_SHAPE,
                "the reported levels are not fewer of the levels, ends included",
            )
        return self

    def _are_fewer(self, reported: tuple[int, ...]) -> bool:
        """Tell whether these are some of the levels, in their order, the ends among them."""
        levels = self.levels or ()
        chosen = tuple(level for level in levels if level in frozenset(reported))
        ends = (reported[0], reported[-1]) == (self.low, self.high)
        return reported == chosen and len(reported) < len(levels) and ends


class Disclosure(Message):
    """What a device needs to obfuscate; M items, K categories or joint cells, L levels.

    Several features make joint cells in row-major order: the last feature varies fastest.
    A column is there exactly when the scheme needs it. The model proves shapes; whether the
    numbers are consistent is for the user's device to check.
    """

    domain: ClassVar[str] = "disclosure"

    scheme: Name
    """Name of the obfuscation scheme."""
    features: tuple[FeatureNames, ...]
    """The private features."""
    scale: RatingScale
    """What a rating can be."""
    items: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Stable identifiers of the items, ascending by code point."""
    offset: tuple[Row, ...] | None = None
    """What each category adds to a rating: x0 v_j0 in Algorithm 1. Shape (M, K).

    On a unary scale, what it adds to a score: values are 1 whatever the category."""
    reveal: tuple[Row, ...] | None = None
    """Probability of revealing: least p over categories / p_k, Algorithm 2. Shape (M, K)."""
    levels: tuple[tuple[Row, ...], ...] | None = None
    """Each category's distribution over the levels, summing to 2^16. Shape (M, K, L)."""
    average: tuple[Row, ...] | None = None
    """The item's average (M, 1) for IA, each category's (M, K) for FA."""
    rate: tuple[Row, ...] | None = None
    """Log odds that each category rates the item at selection factors of 0; 1/256. Shape (M, K)."""
    selection: tuple[Row, ...] | None = None
    """What each selection factor adds to them; 1/256. Shape (M, d)."""
    base: tuple[Row, ...] | None = None
    """What each category rates the item at taste factors of 0; 1/256. Shape (M, K)."""
    taste: tuple[Row, ...] | None = None
    """What each taste factor adds to it; 1/256. Shape (M, r)."""
    prior: Prior | None = None
    """The prior of positions of each category and stratum; with counterparts only.

    A position has d selection factors and r taste factors. Where taste decides what is rated too,
    each taste factor has a second coordinate, after the selection factors: d + 2 r in all.
    """
    bits: Annotated[int, Field(ge=1, le=16)] | None = None
    """Bits per number, if the analyst quantized them."""
    keep: Row | None = None
    """With what probability a rating goes on to be revealed, whatever the category.

    It multiplies the probability of revealing; absent where every item is kept. Shape (M,)."""
    leak: Annotated[int, Field(ge=ONE // 2, le=ONE)] | None = None
    """AUC that somebody reaches who knew all errors of what is disclosed, as the analyst says."""

    sets: Literal["assigned"] | None = None
    """Said where people do not choose what they rate: devices answer all they are asked or nothing.

    Absent where they choose. It goes with a scheme that withholds nothing."""

    @property
    def index(self) -> Mapping[str, int]:
        """The index of each item in the columns."""
        return MappingProxyType(self._index)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {item: index for index, item in enumerate(self.items)}

    def cell(self, names: Mapping[str, str]) -> int | None:
        """Return the joint cell of these categories, by feature; row-major, the last fastest.

        None if a feature is missing or its category is not in the disclosure.
        """
        cell = 0
        for feature in self.features:
            name = names.get(feature.name)
            if name not in feature.categories:
                return None
            cell = cell * len(feature.categories) + feature.categories.index(name)
        return cell

    @property
    def n_cells(self) -> int:
        """K: the number of categories, or of joint cells of several features."""
        return prod(len(feature.categories) for feature in self.features)

    @property
    def obfuscation(self) -> Scheme:
        """The scheme that its name stands for."""
        return SCHEMES[self.scheme]

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it has: those of its scheme on its scale."""
        return self.obfuscation.columns_on(unary=self.scale.is_unary)

    @property
    def protects(self) -> bool:
        """Whether its scheme hides the category in what is sent, item by item."""
        discrete, unary = self.scale.levels is not None, self.scale.is_unary
        return self.obfuscation.protects(discrete=discrete, unary=unary)

    @property
    def taste_selects(self) -> bool:
        """Whether taste decides what is rated too, by r further selection factors."""
        if self.prior is None or not self.obfuscation.sub_samples:
            return False
        width = next((len(row) for means in self.prior.mean for row in means), 0)
        return width == self._width("selection") + 2 * self._width("taste")

    def numbers_of(self, index: int) -> str:
        """Return the digest of all that is disclosed about one item, in the order of COLUMNS."""
        if index not in self._numbers:
            rows = [c and c[index] for c in self._numbered[1]]
            if self.keep is not None:
                rows.append((self.keep[index],))
            of_item = encode([self.items[index], rows])
            self._numbers[index] = digest(self._numbered[0] + b"," + of_item[1:])
        return self._numbers[index]

    @cached_property
    def _numbered(self) -> tuple[bytes, list[tuple[Any, ...] | None]]:
        """How the digests of all items begin, without the closing bracket; and the columns."""
        features = [feature.model_dump(mode="json") for feature in self.features]
        scale = self.scale.model_dump(mode="json", exclude_none=True)
        columns = [(name, getattr(self, name)) for name in COLUMNS]
        shown = [column for name, column in columns if column is not None or name in ALWAYS]
        return encode([self.scheme, features, scale])[:-1], shown

    @cached_property
    def _numbers(self) -> dict[int, str]:
        return {}

    def _gist(self) -> str:
        features = " x ".join(feature.name for feature in self.features)
        return f"{self.scheme}: {len(self.items)} items, {features or 'no private feature'}"

    @model_validator(mode="after")
    def _well_formed(self) -> Self:
        require_ascending(self.items, "items")
        if len({feature.name for feature in self.features}) != len(self.features):
            raise fault(Refusal.WRONG_SHAPE, "a feature is named twice")
        if self.n_cells > MOST_CELLS:
            raise fault(Refusal.WRONG_SHAPE, f"more than {MOST_CELLS} joint cells")
        if self.scheme not in SCHEMES:
            raise fault(Refusal.UNKNOWN_SCHEME, f"there is no scheme {self.scheme!r}")
        self._require_columns()
        for name, lengths in self._row_lengths():
            if set(lengths) != {self._length_of(name)}:
                raise fault(Refusal.WRONG_SHAPE, f"column {name!r} has rows of wrong length")
        if self.prior is not None:
            dimensions = self._width("selection") + self._width("taste") * (1 + self.taste_selects)
            self.prior.require_shape(self.n_cells, dimensions)
        return self

    def _require_columns(self) -> None:
        present = {name for name in COLUMNS if getattr(self, name) is not None}
        needed = self.columns
        if self.scale.is_unary and not self.obfuscation.is_for_sets:
            raise fault(Refusal.WRONG_COLUMNS, f"scheme {self.scheme!r} is not for unary data")
        if present != needed:
            raise fault(
                Refusal.WRONG_COLUMNS,
                f"scheme {self.scheme!r} takes columns {sorted(needed)}, found {sorted(present)}",
            )
        if (self.prior is not None) != self.obfuscation.counterparts:
            wrong = "lacks its" if self.prior is None else "takes no"
            raise fault(Refusal.WRONG_COLUMNS, f"scheme {self.scheme!r} {wrong} prior of positions")
        if self.obfuscation.needs_levels and self.scale.levels is None:
            raise fault(Refusal.WRONG_COLUMNS, f"scheme {self.scheme!r} needs a discrete scale")
        if self.scale.reported and self.obfuscation.value_map is not ValueMap.DISCRETE:
            raise fault(Refusal.WRONG_COLUMNS, f"scheme {self.scheme!r} reports on all levels")
        self._require_budget()
        if self.sets is not None and self.obfuscation.sub_samples:
            raise fault(Refusal.WRONG_COLUMNS, f"scheme {self.scheme!r} withholds assigned items")
        if not self.features and needed - {"average"}:
            raise fault(Refusal.WRONG_COLUMNS, f"scheme {self.scheme!r} needs a private feature")
        for name in needed:
            if len(getattr(self, name)) != len(self.items):
                raise fault(Refusal.WRONG_SHAPE, f"column {name!r} has not one row per item")

    def _require_budget(self) -> None:
        """Refuse a leak budget without keep probabilities, and these unless each item has one."""
        if self.keep is None and self.leak is not None:
            raise fault(Refusal.WRONG_COLUMNS, "a leak budget needs keep probabilities")
        if self.keep is not None and len(self.keep) != len(self.items):
            raise fault(Refusal.WRONG_SHAPE, "there is not one keep probability per item")

    def _row_lengths(self) -> Iterator[tuple[str, Iterator[int]]]:
        for name in self.columns:
            rows = getattr(self, name)
            yield name, map(len, rows)
            if name == "levels":
                yield "level", (len(row) for rows_of_item in rows for row in rows_of_item)

    def _length_of(self, name: str) -> int:
        if name == "level":
            return len(self.scale.levels or ())
        if name in ("selection", "taste"):
            return self._width(name)
        single = name == "average" and self.obfuscation.value_map is ValueMap.ITEM_AVERAGE
        return 1 if single else self.n_cells

    def _width(self, name: str) -> int:
        """Return how many selection or taste factors there are, by the first item."""
        rows = getattr(self, name)
        return 0 if rows is None else len(rows[0])
