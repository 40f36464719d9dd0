"""The schemes by name: whether ratings are withheld, and what becomes of those that are not."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class ValueMap(StrEnum):
    """What a revealed rating is turned into."""

    AS_IS = "as_is"
    SHIFTED = "shifted"
    ROUNDED = "rounded"
    ITEM_AVERAGE = "item_average"
    FEATURE_AVERAGE = "feature_average"
    DISCRETE = "discrete"


_COLUMN = {
    ValueMap.AS_IS: None,
    ValueMap.SHIFTED: "offset",
    ValueMap.ROUNDED: "offset",
    ValueMap.ITEM_AVERAGE: "average",
    ValueMap.FEATURE_AVERAGE: "average",
    ValueMap.DISCRETE: "levels",
}


@dataclass(frozen=True, slots=True)
class Scheme:
    """One obfuscation scheme: (sub-sampling or not) x (a map of values)."""

    name: str
    """What it is called in a disclosure."""
    sub_samples: bool
    """Whether ratings are withheld so that what was rated says nothing (Algorithm 2)."""
    value_map: ValueMap
    """What a revealed rating is turned into."""
    counterparts: bool = False
    """Whether a device first finds its user's counterparts: see `wire.positions`."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that a disclosure for it has, and no other."""
        value = _COLUMN[self.value_map]
        names = {value} if value else set()
        if self.counterparts:
            names |= {"base", "taste"}
        if self.sub_samples:
            names |= {"rate", "selection"} if self.counterparts else {"reveal"}
        return frozenset(names)

    def columns_on(self, *, unary: bool) -> frozenset[str]:
        """The columns on a scale; on a unary one, what categories prefer instead of levels."""
        if not unary or "levels" not in self.columns:
            return self.columns
        return self.columns - {"levels"} | {"offset"}

    @property
    def is_for_sets(self) -> bool:
        """Whether it goes with unary data: raw sets, or items withheld and no value changed."""
        if self.value_map is ValueMap.DISCRETE:
            return self.sub_samples
        return self.value_map is ValueMap.AS_IS

    def protects(self, *, discrete: bool, unary: bool = False) -> bool:
        """Whether it hides the category in the ratings themselves, item by item.

        Ratings as they are do not. Nor does a plain shift of whole stars: what is behind the
        decimal point shows which offset was subtracted. Of unary data there is nothing to hide but
        which items are in a set: schemes that withhold some do.
        """
        if unary:
            return self.is_for_sets and self.sub_samples
        shifted_stars = self.value_map is ValueMap.SHIFTED and discrete
        return self.value_map is not ValueMap.AS_IS and not shifted_stars

    @property
    def needs_levels(self) -> bool:
        """Whether it is defined on a discrete scale only."""
        return self.value_map in (ValueMap.ROUNDED, ValueMap.DISCRETE)


SCHEMES = MappingProxyType(
    {
        name: Scheme(name, sub_samples, value_map)
        for name, sub_samples, value_map in (
            ("no", False, ValueMap.AS_IS),
            ("mp", False, ValueMap.SHIFTED),
            ("mpr", False, ValueMap.ROUNDED),
            ("ss", True, ValueMap.AS_IS),
            ("mpss", True, ValueMap.SHIFTED),
            ("mpssr", True, ValueMap.ROUNDED),
            ("ia", False, ValueMap.ITEM_AVERAGE),
            ("fa", False, ValueMap.FEATURE_AVERAGE),
            ("ssia", True, ValueMap.ITEM_AVERAGE),
            ("ssfa", True, ValueMap.FEATURE_AVERAGE),
            ("dmp", False, ValueMap.DISCRETE),
            ("dmpss", True, ValueMap.DISCRETE),
        )
    }
    | {
        name: Scheme(name, sub_samples, ValueMap.DISCRETE, counterparts=True)
        for name, sub_samples in (("cmp", False), ("cmpss", True))
    }
)
"""All schemes of Section 7.1, the discrete midpoint and the counterpart midpoint, by name."""
