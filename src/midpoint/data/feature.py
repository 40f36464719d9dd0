"""What is known of users beside their ratings: gender, age band, party."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from midpoint.data.origin import counted
from midpoint.errors import MidpointError

MISSING = -1
"""The code of a user whose category is not known."""

SHOWN = 8
"""Categories that are named where a feature is shown."""

logger = logging.getLogger(__name__)


Entry = TypeVar("Entry", bound=np.generic)


def read_only(array: NDArray[Entry]) -> NDArray[Entry]:
    """Return a view that cannot be written; the maker of the array can still write to it."""
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A categorical feature of users; the two categories of a binary one are x0 = -1 and +1."""

    name: str
    """What it is called, e.g. "gender"."""
    categories: tuple[str, ...]
    """The names of its categories, in the order of their codes."""
    codes: NDArray[np.int16]
    """Per user the index of her category, `MISSING` where it is not known. Shape (users,)."""
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Name and categories of each feature crossed into this one; itself if it is not joint."""

    def __post_init__(self) -> None:
        if len(set(self.categories)) != len(self.categories):
            raise MidpointError(f"feature {self.name!r} names a category twice: {self.categories}")
        if len(self.codes) and not MISSING <= self.codes.min() <= self.codes.max() < len(
            self.categories
        ):
            raise MidpointError(
                f"feature {self.name!r} has a code outside its {len(self.categories)} categories"
            )
        object.__setattr__(self, "codes", read_only(self.codes))
        if not self.parts:
            object.__setattr__(self, "parts", ((self.name, self.categories),))

    @classmethod
    def from_labels(cls, name: str, labels: Iterable[object]) -> Self:
        """Code labels in sorted order; None, the empty string and any library's NaN are missing."""
        words = [word(label) for label in labels]
        categories = tuple(sorted(set(words) - {""}))
        code = {"": MISSING} | {word: k for k, word in enumerate(categories)}
        codes = np.array([code[word] for word in words], dtype=np.int16)
        return cls(name, categories, codes)

    @classmethod
    def of_users(
        cls, name: str, labels: Mapping[Any, object], users: Sequence[str], where: str
    ) -> Self:
        """Give each user the label under her name or number; `where` is for messages."""
        by_name = {word(user): label for user, label in labels.items()}
        if len(by_name) < len(labels):
            raise MidpointError(
                f"{where}: feature {name!r} names a user twice, as a number and as text; keep one"
            )
        compare_names(users, list(by_name), f"{where}: feature {name!r}")
        return cls.from_labels(name, [by_name.get(user) for user in users])

    @classmethod
    def joint(cls, features: Sequence["Feature"]) -> "Feature":
        """Cross several features: the categories are the joint cells, missing where any is."""
        if len(features) == 1:
            return features[0]
        sizes = [len(feature.categories) for feature in features]
        known = np.all([feature.codes != MISSING for feature in features], axis=0)
        cells = np.ravel_multi_index([np.maximum(feature.codes, 0) for feature in features], sizes)
        return cls(
            name="+".join(feature.name for feature in features),
            categories=tuple("+".join(cell) for cell in product(*(f.categories for f in features))),
            codes=np.where(known, cells, MISSING).astype(np.int16),
            parts=tuple(part for feature in features for part in feature.parts),
        )

    def __repr__(self) -> str:
        """Name the categories, with how many users each has."""
        return f"<Feature {self.name}: {self.summary}>"

    @property
    def summary(self) -> str:
        """The categories with their users, such as "F 273, M 670, not known 0"."""
        pairs = zip(self.categories[:SHOWN], self.counts.tolist(), strict=False)
        shown = [f"{name} {count}" for name, count in pairs]
        further = len(self.categories) - SHOWN
        if further > 0:
            shown.append(f"{further} more categories")
        return ", ".join([*shown, f"not known {int((~self.known).sum())}"])

    @property
    def crossed(self) -> tuple[tuple[int, ...], ...]:
        """For each feature crossed into this one, which of its categories each category has."""
        sizes = (range(len(categories)) for _, categories in self.parts)
        return tuple(zip(*product(*sizes), strict=True))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Per user whether her category is known."""
        return np.not_equal(self.codes, MISSING)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of users in each category."""
        return np.bincount(self.codes[self.known], minlength=len(self.categories))

    def select(self, users: NDArray[np.intp] | NDArray[np.bool_]) -> Self:
        """Keep these users."""
        return replace(self, codes=self.codes[users])

    def require_classes(self) -> None:
        """Refuse a feature with users in fewer than two categories: there is nothing to protect."""
        present = [name for name, count in zip(self.categories, self.counts, strict=True) if count]
        if len(present) < 2:
            raise MidpointError(
                f"feature {self.name!r} has users in {len(present)} category only"
                f" ({', '.join(present) or 'none'}); protecting it needs at least two"
            )


def require_people(
    parts: Sequence[tuple[str, tuple[str, ...]]], counts: NDArray[np.int64], least: int
) -> None:
    """Refuse a category of so few people that what is disclosed of it is their own ratings.

    Of a joint feature the categories of each part are counted: its cells are estimated together.

    Args:
        parts: Name and categories of each feature.
        counts: People of each joint cell. Shape (cells,).
        least: People that a category needs.
    """
    cells = counts.reshape([len(categories) for _, categories in parts])
    for axis, (name, categories) in enumerate(parts):
        others = tuple(k for k in range(len(parts)) if k != axis)
        people = cells.sum(axis=others)
        few = int(np.argmin(people))
        if people[few] < least:
            raise MidpointError(
                f"category {categories[few]!r} of {name} has {counted(int(people[few]), 'person')}"
                f" only ({_counts(categories, people)}): what is disclosed of it would show their"
                f" own ratings, and no attack could measure what leaks. Get at least {least} people"
                " of every category, merge categories, or allow it by --least-people N, in Python"
                " least_people=N"
            )


def _counts(categories: Sequence[str], people: NDArray[np.int64]) -> str:
    return ", ".join(f"{k} {n}" for k, n in zip(categories, people.tolist(), strict=True))


def word(label: object) -> str:
    """Write a label as a word, empty where it is missing; 1.0, from a column with gaps, as 1."""
    try:
        is_missing = label is None or bool(label != label)  # noqa: PLR0124 - true of NaN alone
    except TypeError:  # pandas' NA is neither equal to itself nor not
        is_missing = True
    if is_missing:
        return ""
    if isinstance(label, float | np.floating) and label.is_integer():
        return str(int(label))
    return str(label)


def compare_names(
    users: Sequence[str], people: Sequence[str], where: str, level: int = logging.WARNING
) -> str:
    """Refuse people of whom nobody rates; log users without entry, and entries without rating.

    Args:
        users: The names of those who rate.
        people: The names of those of whom something is known.
        where: What knows it, to begin the message with.
        level: How loud to log.

    Returns:
        Who of the people is left out and why, empty if nobody is.
    """
    entries, raters = frozenset(people), frozenset(users)
    absent = [user for user in users if user not in entries]
    idle = [person for person in people if person not in raters]
    if len(absent) == len(users):
        instead = f" it has {idle[0]!r} where the ratings have {absent[0]!r};" if idle else ""
        raise MidpointError(
            f"{where} knows none of the {counted(len(users), 'user')};{instead} check the names"
        )
    if absent:
        logger.log(
            level,
            "%s knows nothing of %d of %s, the first %r: they have no category",
            *(where, len(absent), counted(len(users), "user"), absent[0]),
        )
    if idle:
        logger.log(
            level,
            "%s has %s without a rating, the first %r: left out",
            *(where, counted(len(idle), "user"), idle[0]),
        )
    return f"{counted(len(idle), 'person')} of {where} without a rating" if idle else ""
