"""What the analyst shows everyone: its items by title, its list of disclosures, certificates."""

from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, model_validator

from midpoint.wire.disclosure import FeatureNames, RatingScale
from midpoint.wire.message import Count, Message, Name, OneLine, Part, fault, require_ascending
from midpoint.wire.refusal import Refusal
from midpoint.wire.signing import Signed

LONGEST_TITLE = 500
LONGEST_WORD = 30
MOST_OTHERS = 1000
"""Entries of other lists that a device keeps, at most; the first ones prove as much as later."""
MOST_SHOWN = 10_000
"""Entries of the list itself that a device keeps, at most: one a day for 27 years."""


def _versioned(signed: Signed, info: ValidationInfo) -> Signed:
    """Refuse a signed message inside another that does not say its own version."""
    if info.mode == "json" and "version" not in signed.model_fields_set:
        raise fault(Refusal.MISSING_FIELD, "a signed message does not say its version")
    return signed


Inner = Annotated[Signed, AfterValidator(_versioned)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TITLE), OneLine]


Word = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_WORD), OneLine]


class Wording(Part):
    """What people of this site call its items, and what they do with them."""

    item: Word
    """One of them, such as *film*."""
    items: Word
    """Several, such as *films*."""
    done: Word
    """What a person has done who names one of them, such as *seen*, *liked* or *bought*."""


class Catalogue(Message):
    """All items by title, for a person to find what she has rated."""

    domain: ClassVar[str] = "catalogue"

    items: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Stable identifiers of the items, ascending by code point."""
    titles: tuple[Title, ...]
    """What a person calls each."""
    ratings: tuple[Count, ...]
    """How many people in training rated each: public, and the same for everyone."""
    features: tuple[FeatureNames, ...] | None = None
    """The private features of the disclosure beside it: it can be rated on before that is there."""
    scale: RatingScale | None = None
    """The rating scale of that disclosure."""
    scheme: Name | None = None
    """The scheme of that disclosure."""
    wording: Wording | None = None
    """What people call the items; where it is absent they are films."""

    @model_validator(mode="after")
    def _well_formed(self) -> Self:
        require_ascending(self.items, "items")
        if not len(self.items) == len(self.titles) == len(self.ratings):
            raise fault(Refusal.WRONG_SHAPE, "items, titles and ratings differ in length")
        return self


class Chain(Message):
    """The whole list of disclosures, each entry signed, in order."""

    domain: ClassVar[str] = "chain"

    entries: Annotated[tuple[Inner, ...], Field(min_length=1)]
    """The signed entries; the last one is current."""


class Certificates(Message):
    """What auditors signed about one disclosure."""

    domain: ClassVar[str] = "certificates"

    certificates: tuple[Inner, ...]
    """The signed certificates, of one disclosure; there may be none."""
