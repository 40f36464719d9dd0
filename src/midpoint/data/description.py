"""What a data set looks like: the paper's Table 1 for any source."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.data.feature import Feature
from midpoint.data.ratings import Ratings


@dataclass(frozen=True, slots=True)
class Spread:
    """How counts are spread over users or items."""

    least: int
    """The smallest count."""
    lower: float
    """The lower quartile."""
    median: float
    """The median."""
    upper: float
    """The upper quartile."""
    most: int
    """The greatest count."""
    mean: float
    """The mean."""

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> Self:
        """Summarize counts; of none, all is zero."""
        if not len(counts):
            return cls(0, 0.0, 0.0, 0.0, 0, 0.0)
        least, lower, median, upper, most = np.quantile(counts, (0, 0.25, 0.5, 0.75, 1)).tolist()
        return cls(int(least), lower, median, upper, int(most), float(counts.mean()))


@dataclass(frozen=True, slots=True)
class FeatureDescription:
    """How users and ratings fall into the categories of a feature."""

    name: str
    """What it is called."""
    categories: tuple[str, ...]
    """The names of its categories."""
    users: tuple[int, ...]
    """The number of users of each category."""
    ratings: tuple[int, ...]
    """The number of ratings given by the users of each category."""
    missing: int
    """The number of users whose category is not known."""
    user_skew: str
    """The users' ratio as in Table 1 ("F:M 1:2.5"), or shares of more than two categories."""
    rating_skew: str
    """The ratings' ratio, likewise."""


@dataclass(frozen=True, slots=True)
class Description:
    """A data set in figures."""

    name: str
    """What it is called."""
    users: int
    """The number of users."""
    items: int
    """The number of items."""
    ratings: int
    """The number of ratings."""
    density: float
    """The share of all pairs of user and item that have a rating."""
    scale: str
    """What a rating can be."""
    mean: float
    """The mean rating."""
    deviation: float
    """The standard deviation of the ratings."""
    per_user: Spread
    """Ratings given by a user."""
    per_item: Spread
    """Ratings received by an item."""
    features: tuple[FeatureDescription, ...]
    """What is known of the users."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers, strings, tuples and dictionaries, for JSON."""
        return asdict(self)


def describe(ratings: Ratings) -> Description:
    """Describe a data set as the paper's Table 1 does, and a little further."""
    pairs = ratings.n_users * ratings.n_items
    per_user = np.diff(ratings.user_offsets)
    value = ratings.value.astype(np.float64)
    return Description(
        name=ratings.name,
        users=ratings.n_users,
        items=ratings.n_items,
        ratings=len(ratings),
        density=len(ratings) / pairs if pairs else 0.0,
        scale=str(ratings.scale),
        mean=float(value.mean()) if len(value) else 0.0,
        deviation=float(value.std()) if len(value) else 0.0,
        per_user=Spread.of(per_user),
        per_item=Spread.of(np.bincount(ratings.item, minlength=ratings.n_items)),
        features=tuple(_describe_feature(f, per_user) for f in ratings.features.values()),
    )


def skew(categories: Sequence[str], counts: Sequence[int]) -> str:
    """Write two counts as a ratio whose smaller side is one, more than two as shares."""
    if len(counts) == 2:
        least = min(counts) or max(counts) or 1
        return ":".join(categories) + " " + ":".join(f"{round(n / least, 1):g}" for n in counts)
    total = sum(counts) or 1
    return ", ".join(f"{name} {n / total:.0%}" for name, n in zip(categories, counts, strict=True))


def _describe_feature(feature: Feature, per_user: NDArray[np.int64]) -> FeatureDescription:
    """Count users and ratings by category; `per_user` are the ratings of each user."""
    known = feature.known
    given = np.bincount(
        feature.codes[known], per_user[known], minlength=len(feature.categories)
    ).astype(np.int64)
    users, ratings = feature.counts.tolist(), given.tolist()
    return FeatureDescription(
        name=feature.name,
        categories=feature.categories,
        users=tuple(users),
        ratings=tuple(ratings),
        missing=int((~known).sum()),
        user_skew=skew(feature.categories, users),
        rating_skew=skew(feature.categories, ratings),
    )
