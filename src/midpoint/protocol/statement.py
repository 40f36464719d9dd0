"""What each learning protocol discloses, assumes and guarantees, in plain words."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

Reach = Literal["nothing", "the set", "the values", "item by item", "jointly"]


@dataclass(frozen=True)
class Statement:
    """What a person should know before she trusts a protocol."""

    discloses: str
    """What the analyst discloses of each item."""
    assumes: str
    """What must be true of people's ratings for the guarantee to hold."""
    guarantees: str
    """What is then independent of the private feature, and what is not."""
    reach: Reach
    """The guarantee in a word: what is independent of the private feature."""
    source: str
    """Where it is proved, or that it is measured only."""


_NOTHING = "nothing"
_BIAS = "what each category adds to its rating"
_RATIO = "how likely each category reveals it"
_LEVELS = "each category's distribution over the rating levels"
_LINEAR = "the linear model with the same continuous noise in all categories (Eq. 7)"
_POSITIONS = (
    "each category's prior of positions (selection and taste factors), and what these mean for the"
    " item"
)
_AT_POSITIONS = (
    "in each category and stratum positions are normal as disclosed, and given her position a"
    " person rates independently, as disclosed; her device knows stratum and position"
)
_ALIKE = (
    "A device can only estimate its user's position, and her stratum from how much she rated. What"
    " leaks by errors in these, or where positions have another prior, is measured only."
)
_SHIFTED = (
    "Values are distributed alike, jointly, where categories differ by shifts that neither the"
    " levels nor the ends of the scale cut, and where tastes spread alike. Elsewhere they are"
    " nearly alike."
)
_UNSHIFTED = (
    "Values do not shift to the counterparts'. Item by item they are mapped as in dmp. What they"
    " leak jointly, or beside the set, is measured only."
)
_ALL_RATED = "every item asked about is rated"
_PRODUCT = "items are rated independently, with the disclosed ratios (Eq. 18)"
_AS_DISCLOSED = "each category's ratings of an item have the disclosed distribution"
_STARS = "On a discrete scale it protects nothing: the fraction shows which offset was subtracted."
_SOLVED = (
    "On a discrete scale nothing is proven: from few items the analyst can solve the estimate for"
    " what MP would send, whose fraction leaks."
)
_MIXED = "None: some ratings are sent as they are, whether or not they leak."
_ENDS = (
    "On a scale with ends, answers are cut to the range that all categories can reach; how many"
    " are at its ends is measured only."
)
_PREFERRED = "what each category adds to its score"
_OPEN_SET = "Which items were rated still leaks."
_COPULA = (
    "Values are distributed exactly alike in all categories, item by item. All values together are,"
    " too, if a person's ratings depend on each other in the same way in all categories (the same"
    " copula), for instance not at all. What they leak together otherwise is measured only."
)
_SET = "The set of revealed items is independent of the feature"
_MEANS = "The means agree item by item where nothing is cut off at the scale's ends"
_APPENDIX = "Appendix, Thm. 2"
SHIFTED = ("full", "mp", "mpss")
"""Protocols that subtract an offset and send what is left, behind the decimal point too."""

STATEMENTS: Mapping[str, Statement] = MappingProxyType(
    {
        "nothing": Statement(
            _NOTHING,
            "nothing",
            "Nothing is sent, so nothing is learned: neither the feature nor the taste.",
            "jointly",
            "Sec. 4.1, first non-solution",
        ),
        "full": Statement(
            "its whole profile, and " + _BIAS,
            f"{_LINEAR}; {_ALL_RATED}",
            "The estimate that is sent is independent of the feature. From as few items as"
            f" dimensions the analyst can solve it for what MP would send. {_ENDS} {_SOLVED}",
            "jointly",
            "Sec. 4.1, third non-solution",
        ),
        "no": Statement(
            _NOTHING,
            "nothing",
            "None: ratings, and which items were rated, are in plain sight.",
            "nothing",
            "Sec. 4.1, second non-solution; Sec. 7.1, baseline",
        ),
        "mp": Statement(
            _BIAS,
            f"{_LINEAR}; {_ALL_RATED}",
            f"All that is sent is independent of the feature, jointly. {_ENDS} {_STARS}",
            "jointly",
            "Sec. 5, Thm. 1.1",
        ),
        "mpr": Statement(
            _BIAS,
            f"{_LINEAR}; {_ALL_RATED}",
            f"{_MEANS}; how alike the distributions are is measured only.",
            "nothing",
            "Sec. 7.1; measured only",
        ),
        "ss": Statement(
            _RATIO,
            _PRODUCT,
            f"{_SET}; their ratings are not.",
            "the set",
            _APPENDIX,
        ),
        "mpss": Statement(
            f"{_BIAS}; {_RATIO}",
            f"{_LINEAR}; {_PRODUCT}",
            "The set and what is sent of it are independent of the feature, jointly."
            f" {_ENDS} {_STARS}",
            "jointly",
            _APPENDIX,
        ),
        "mpssr": Statement(
            f"{_BIAS}; {_RATIO}",
            f"{_LINEAR}; {_PRODUCT}",
            f"{_SET}. {_MEANS}; how alike the distributions are is measured only.",
            "the set",
            "Appendix, Thm. 2 for the set; values measured only",
        ),
        "ia": Statement(
            "its average rating",
            _ALL_RATED,
            f"What is sent does not depend on the ratings at all. {_OPEN_SET}",
            "the values",
            "Sec. 7.1, baseline",
        ),
        "fa": Statement(
            "each category's average rating",
            _ALL_RATED,
            f"What is sent is a category's average by a coin, not by one's own. {_OPEN_SET}",
            "the values",
            "Sec. 7.1, baseline",
        ),
        "ssia": Statement(
            f"its average rating; {_RATIO}",
            _PRODUCT,
            f"{_SET}, and the values do not depend on the ratings.",
            "jointly",
            _APPENDIX,
        ),
        "ssfa": Statement(
            f"each category's average rating; {_RATIO}",
            _PRODUCT,
            f"{_SET}, and the values do not depend on the ratings.",
            "jointly",
            _APPENDIX,
        ),
        "dmp": Statement(
            _LEVELS,
            f"{_AS_DISCLOSED}; {_ALL_RATED}",
            f"{_COPULA} {_OPEN_SET}",
            "item by item",
            "docs/explanation/protocol.md; exact in integers",
        ),
        "dmpss": Statement(
            f"{_LEVELS}; {_RATIO}",
            f"{_AS_DISCLOSED}, whatever else was rated; {_PRODUCT}",
            f"{_SET}. {_COPULA}",
            "item by item",
            "Appendix, Thm. 2 for the set; docs/explanation/protocol.md for the values",
        ),
        "cmp": Statement(
            f"{_LEVELS}; {_POSITIONS}",
            f"{_AT_POSITIONS}; {_ALL_RATED}",
            f"{_SHIFTED} {_ALIKE} {_OPEN_SET}",
            "item by item",
            "docs/explanation/protocol.md; measured on real data",
        ),
        "cmpss": Statement(
            f"{_LEVELS}; {_POSITIONS}",
            _AT_POSITIONS,
            "The set of revealed items is distributed alike in all categories, jointly, except for"
            f" those revealed with the least probability. {_SHIFTED} {_ALIKE}",
            "item by item",
            "docs/explanation/protocol.md; measured on real data",
        ),
    }
)
"""The statement of every protocol, on the scale that it is for; see `state` for when it is void."""


OF_SETS: Mapping[str, Statement] = MappingProxyType(
    {
        "ss": Statement(
            _RATIO,
            _PRODUCT,
            "All that is sent is the set of revealed items, and it is independent of the feature.",
            "jointly",
            _APPENDIX,
        ),
        "dmpss": Statement(
            f"{_PREFERRED}; {_RATIO}",
            _PRODUCT,
            "All that is sent is the set of revealed items, and it is independent of the feature."
            " Where people choose items together, what the joint distribution leaks is measured"
            " only.",
            "jointly",
            _APPENDIX,
        ),
        "cmpss": Statement(
            f"{_PREFERRED}; {_POSITIONS}",
            "positions and sets follow the disclosed prior, and each device knows its user's",
            "All that is sent is a set, distributed alike in all categories, jointly, except for"
            " items revealed with the least probability.",
            "jointly",
            "docs/explanation/protocol.md; measured on real data",
        ),
    }
)
"""What the schemes for unary data guarantee: there are no values, so sets are all that is sent."""


def state(
    name: str, *, discrete: bool, alpha: float = 1.0, unary: bool = False, shift: bool = True
) -> Statement:
    """State what a protocol guarantees on such a scale, when a share alpha is obfuscated.

    Nothing where some ratings are sent as they are, nor where whole stars are only shifted. With
    counterparts less is said where values do not `shift` to theirs.
    """
    says = OF_SETS.get(name, STATEMENTS[name]) if unary else STATEMENTS[name]
    if not shift:
        says = replace(says, guarantees=says.guarantees.replace(_SHIFTED, _UNSHIFTED))
    if alpha < 1:
        return replace(says, guarantees=_MIXED, reach="nothing")
    if discrete and name in SHIFTED:
        why = _SOLVED if name == "full" else _STARS
        return replace(says, guarantees=f"None. {why}", reach="nothing")
    return says
