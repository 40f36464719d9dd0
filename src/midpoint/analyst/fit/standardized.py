"""Ratings as the solvers need them: known effects subtracted, and unit variance."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.als import Factors, Observations
from midpoint.analyst.fit.priors.item_prior import item_predictors
from midpoint.analyst.fit.report_noise import ReportNoise
from midpoint.data import Feature, Ratings

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Standardized:
    """Ratings as (r - level - offset) / spread."""

    seen: Observations
    """The standardized ratings."""
    level: float
    """Mean of the ratings without their offsets; 0 where it is not taken out."""
    spread: float
    """Their standard deviation."""

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        feature: Feature | None,
        offset: Float | None,
        like: "Standardized | None" = None,
        report_noise: ReportNoise | None = None,
        *,
        centred: bool = True,
    ) -> "Standardized":
        """Take out offsets known beforehand, or code the categories for the joint fit of Eq. 5.

        Args:
            ratings: The ratings.
            feature: The private feature, if any.
            offset: What each category adds, shape (items, categories); None to fit it jointly.
            like: Gives level and spread, so that errors compare.
            report_noise: What coins added, in rating units, where some ratings are reports.
            centred: Whether the level is taken out; it is 0 for factors alone (Eq. 1).
        """
        known = np.zeros((ratings.n_users, 0), np.float32)
        value = ratings.value
        if feature is not None and offset is not None:
            value = value - _own_offset(offset, feature, ratings).astype(np.float32)
        elif feature is not None:
            known = effect_coding(feature)
        mean = float(value.mean(dtype=np.float64)) if centred else 0.0
        level = like.level if like else mean
        spread = like.spread if like else max(float(value.std(dtype=np.float64)), 1e-6)
        seen = Observations(
            user=ratings.user,
            item=ratings.item,
            value=((value - np.float32(level)) / np.float32(spread)),
            user_offsets=ratings.user_offsets,
            item_offsets=ratings.by_item.offsets,
            item_order=ratings.by_item.order,
            known=known,
            report_noise=report_noise and report_noise.scaled(spread**-2),
        )
        return cls(seen, level, spread)

    def informed(self, factors: Float | None) -> "Standardized":
        """Return the same with what predicts items: the factors of who rated what, if any."""
        count = np.diff(self.seen.item_offsets)
        return replace(self, seen=self.seen._replace(predictors=item_predictors(factors, count)))

    def rmse(self, factors: Factors) -> float:
        """Return the error of a fit on these ratings, in rating units."""
        return self.spread * float(np.sqrt(factors.mean_square(self.seen)))


def _own_offset(offset: Float, feature: Feature, ratings: Ratings) -> Float:
    """Return what her category adds to each rating; nothing where the category is not known."""
    category = feature.codes[ratings.user]
    return np.where(category >= 0, offset[ratings.item, category], 0.0)


def effect_coding(feature: Feature) -> NDArray[np.float32]:
    """Code the categories of each crossed feature so that their effects sum to zero."""
    columns = [np.zeros((len(feature.codes), 0))]
    for cells in feature.crossed:
        size = max(cells) + 1
        code = np.vstack([np.eye(size - 1), np.full((1, size - 1), -1.0)])
        columns.append(np.where(feature.known[:, None], code[np.array(cells)[feature.codes]], 0.0))
    return np.hstack(columns).astype(np.float32)


def joint_offset(known: Float, feature: Feature) -> Float:
    """Turn fitted effects back into offsets of the joint categories."""
    every = replace(feature, codes=np.arange(len(feature.categories), dtype=np.int16))
    return np.asarray(known @ effect_coding(every).T.astype(np.float64))
