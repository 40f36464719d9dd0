"""One person's reports, as the few sums that every estimator needs; further reports just add."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.information import SINGULAR, a_criterion
from midpoint.analyst.fit.profiles import ItemProfiles

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """Sufficient statistics of reported ratings (Eq. 11; Sec. 6.3 for repeated interactions)."""

    information: Float
    """sum_j w_j v_j v_j^T. Shape (D, D)."""
    moment: Float
    """sum_j w_j (y_j - centre_j) v_j. Shape (D,)."""
    count: int
    """How many ratings."""

    def __repr__(self) -> str:
        """Say how much it is, in one line."""
        return f"<Evidence: {self.count} ratings, dimension {len(self.moment) - 1}>"

    @classmethod
    def none(cls, profiles: ItemProfiles) -> Self:
        """Know nothing yet."""
        return cls(np.zeros((profiles.dimension,) * 2), np.zeros(profiles.dimension), 0)

    @classmethod
    def of(
        cls,
        profiles: ItemProfiles,
        item: NDArray[np.integer],
        value: NDArray[np.floating],
        weights: Float | None = None,
    ) -> Self:
        """Sum up reported ratings of these items; `weights` weigh each item's, shape (M,)."""
        V = profiles.vectors[item].astype(np.float64)
        weighed = V if weights is None else V * weights[item, None]
        return cls(V.T @ weighed, (value - profiles.centre[item]) @ weighed, len(item))

    def __add__(self, more: "Evidence") -> "Evidence":
        """Join two interactions."""
        return Evidence(
            self.information + more.information, self.moment + more.moment, self.count + more.count
        )


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """What the analyst estimates of one person's profile."""

    mean: Float
    """The profile x-hat. Shape (D,)."""
    covariance: Float
    """Its uncertainty; silent, not infinite, where least squares sees nothing. Shape (D, D)."""

    def __repr__(self) -> str:
        """Say how well the profile is known, in one line; not the profile, which is a person's."""
        deviation = float(np.sqrt(max(np.trace(self.covariance), 0.0)))
        return (
            f"<Estimate: a profile of dimension {len(self.mean) - 1}, give or take {deviation:.3f}>"
        )

    def predict(self, profiles: ItemProfiles) -> tuple[Float, Float]:
        """Return mean and standard deviation of a new rating of each item, midway and unclipped."""
        V = profiles.vectors.astype(np.float64)
        spread = np.einsum("md,md->m", V @ self.covariance, V)
        return profiles.centre + V @ self.mean, np.sqrt(profiles.noise_variance + spread)


def least_squares(evidence: Evidence, noise_variance: float) -> Estimate:
    """Return the paper's estimator (sum v v^T)^-1 sum y v (Eq. 11), of minimum norm if singular.

    It is minimax under Gaussian noise. Its covariance is sigma^2 (sum v v^T)^-1; where ratings
    leave a direction open the pseudo-inverse says nothing of it, and `expected_loss` is infinite.
    """
    inverse = np.linalg.pinv(evidence.information, rcond=SINGULAR, hermitian=True)
    return Estimate(inverse @ evidence.moment, np.asarray(noise_variance * inverse, np.float64))


def posterior(evidence: Evidence, profiles: ItemProfiles) -> Estimate:
    """Return the MAP estimate under the training users' mean m and covariance C.

    x-hat = S (C^-1 m + sum y v / sigma^2),  S = (C^-1 + sum v v^T / sigma^2)^-1
    """
    noise, mean = profiles.noise_variance, profiles.profile_mean
    precision = profiles.profile_precision
    covariance = np.asarray(np.linalg.inv(precision + evidence.information / noise), np.float64)
    return Estimate(covariance @ (precision @ mean + evidence.moment / noise), covariance)


def expected_loss(information: Float, noise_variance: float) -> float:
    """Return E |x-hat - x|^2 = sigma^2 tr[(sum v v^T)^-1] of least squares (Eq. 12).

    Infinite when the ratings do not determine the profile.
    """
    return noise_variance * a_criterion(information)
