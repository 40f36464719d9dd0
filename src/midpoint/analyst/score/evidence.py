"""One person's reports, as the few sums that every estimator needs; further reports just add."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.information import SINGULAR, a_criterion
from midpoint.analyst.fit.profiles import ItemProfiles

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """Sufficient statistics of reported ratings (Eq. 11; Sec. 6.3 for repeated interactions).

    They are one person's, or several people's: then the arrays have an axis of people before the
    others, and so has what is estimated from them.
    """

    information: Float
    """sum_j w_j v_j v_j^T. Shape (D, D) or (people, D, D)."""
    moment: Float
    """sum_j w_j (y_j - centre_j) v_j. Shape (D,) or (people, D)."""
    count: int | NDArray[np.int64]
    """How many ratings; of several people an array of shape (people,)."""
    chosen: Float = field(default_factory=lambda: np.zeros(0))
    """sum_j e_j, by which the set says something of taste (`fit.priors.set_prior`); of length 0
    where it does not. Shape (k,) or (people, k)."""

    def __repr__(self) -> str:
        """Say how much it is, in one line."""
        return f"<Evidence: {np.sum(self.count)} ratings, dimension {self.moment.shape[-1] - 1}>"

    @classmethod
    def none(cls, profiles: ItemProfiles) -> Self:
        """Know nothing yet."""
        return cls.of(profiles, np.empty(0, np.intp), np.empty(0))

    @classmethod
    def of(
        cls,
        profiles: ItemProfiles,
        item: NDArray[np.integer],
        value: NDArray[np.floating],
        weights: Float | None = None,
    ) -> Self:
        """Sum up reported ratings of these items; `weights` weigh each item's, shape (M,)."""
        V, beyond = profiles.vectors[item].astype(np.float64), value - profiles.centre[item]
        if weights is not None:  # a row times the root of its weight counts with its weight
            root = np.sqrt(weights[item])
            V, beyond = V * root[:, None], beyond * root
        sets = profiles.set_prior
        chosen = np.zeros(0) if sets is None else sets.sums(item)
        return cls(V.T @ V, beyond @ V, len(item), chosen)

    def __add__(self, more: "Evidence") -> "Evidence":
        """Join two interactions."""
        return Evidence(
            self.information + more.information,
            self.moment + more.moment,
            self.count + more.count,
            self.chosen + more.chosen,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """What the analyst estimates of one person's profile, or of several people's."""

    mean: Float
    """The profile x-hat. Shape (D,) or (people, D)."""
    covariance: Float
    """Its uncertainty; silent, not infinite, where least squares sees nothing. Shape (D, D) or
    (people, D, D)."""

    def __repr__(self) -> str:
        """Say how well the profile is known, in one line; not the profile, which is a person's."""
        dimension = self.mean.shape[-1] - 1
        if self.mean.ndim > 1:
            return f"<Estimate: {len(self.mean)} profiles of dimension {dimension}>"
        deviation = float(np.sqrt(max(np.trace(self.covariance), 0.0)))
        return f"<Estimate: a profile of dimension {dimension}, give or take {deviation:.3f}>"

    @property
    def stacked(self) -> "Estimate":
        """One person's estimate as that of several, of whom there is one."""
        return Estimate(self.mean[None], self.covariance[None])

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
    mean = (inverse @ evidence.moment[..., None])[..., 0]
    return Estimate(mean, np.asarray(noise_variance * inverse, np.float64))


def posterior(evidence: Evidence, profiles: ItemProfiles) -> Estimate:
    """Return the MAP estimate under the training users' mean m and covariance C.

    x-hat = S (C^-1 m + sum y v / sigma^2),  S = (C^-1 + sum v v^T / sigma^2)^-1

    Where sets say something of taste, m and C are those of people who revealed the same set.
    """
    noise, precision, mean = (
        profiles.noise_variance,
        profiles.profile_precision,
        profiles.profile_mean,
    )
    if profiles.set_prior is not None:
        mean = mean + profiles.set_prior.shift(evidence.chosen, evidence.count)
        counts = np.atleast_1d(evidence.count).tolist()
        precision = np.stack([profiles.after(n).profile_precision for n in counts])
        precision = precision if evidence.moment.ndim > 1 else precision[0]
    covariance = np.asarray(np.linalg.inv(precision + evidence.information / noise), np.float64)
    pull = (precision @ mean[..., None])[..., 0] + evidence.moment / noise
    return Estimate((covariance @ pull[..., None])[..., 0], covariance)


def expected_loss(information: Float, noise_variance: float) -> float:
    """Return E |x-hat - x|^2 = sigma^2 tr[(sum v v^T)^-1] of least squares (Eq. 12).

    Infinite when the ratings do not determine the profile.
    """
    return noise_variance * a_criterion(information)
