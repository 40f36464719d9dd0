"""How many users, items and ratings there are: what a scheme is chosen by, at any size."""

from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.disclose.choice import Choice, explain_choice
from midpoint.data import Ratings, Scale


class CountedFeature(NamedTuple):
    """A private feature without its users; K categories."""

    name: str
    """What it is called."""
    categories: tuple[str, ...]
    """The names of its categories."""
    counts: NDArray[np.int64]
    """The number of users in each. Shape (K,)."""


@dataclass(frozen=True, eq=False)
class Counts:
    """What `choose_scheme` reads of `Ratings`, without the ratings."""

    ratings: int
    """How many there are."""
    n_users: int
    """How many users."""
    n_items: int
    """How many items."""
    scale: Scale
    """What a rating can be."""
    private: CountedFeature | None
    """The private feature, or the joint one of several; None if none was named."""

    def __len__(self) -> int:
        """Count the ratings."""
        return self.ratings

    def feature(self, *_names: str) -> CountedFeature:
        """Return the private feature, the only one that is known here."""
        if self.private is None:
            raise ValueError("the ratings were read without a feature")
        return self.private

    def choice(self) -> Choice:
        """Choose the scheme as for ratings in memory, and say why."""
        names = (self.private.name,) if self.private is not None else ()
        return explain_choice(self.as_ratings(), *names)

    def as_ratings(self) -> Ratings:
        """Stand for ratings where only these counts are read."""
        return cast("Ratings", self)
