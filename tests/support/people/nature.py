"""People who follow a prior of positions, and the columns of an honest analyst who knows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.protocol.positions import adjust_population
from midpoint.user import Adjustment, Parameters
from midpoint.wire import (
    GRAIN,
    ONE,
    SCHEMES,
    Disclosure,
    FeatureNames,
    Prior,
    RatingScale,
    as_rows,
    to_fixed,
)

Float = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Nature:
    """How people come to rate: M items, K categories, d selection, r taste factors, D = d + r."""

    rate: Float
    """Log odds of rating at selection factors of 0. Shape (M, K)."""
    selection: Float
    """What each selection factor adds to them. Shape (M, d)."""
    base: Float
    """Rating at taste factors of 0. Shape (M, K)."""
    taste: Float
    """What each taste factor adds to it. Shape (M, r)."""
    mean: Float
    """Mean position of each category. Shape (K, D)."""
    covariance: Float
    """Covariance of its positions. Shape (K, D, D)."""
    noise: float
    """Variance of a rating given the position, rounding to levels included."""

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        shape: tuple[int, int, int, int],
        *,
        low: float = 1.0,
        high: float = 5.0,
        usual: float = -1.0,
        contrast: float = 1.0,
    ) -> Self:
        """Draw one for (M, K, d, r); categories differ in means, spreads and single items."""
        M, K, d, r = shape
        D, span, liked = d + r, high - low, rng.normal(0, 0.1, (M, 1))
        factor = 0.9 * np.eye(D) + rng.normal(0, 0.2, (D, D))
        factor = factor + contrast * rng.normal(0, 0.35, (K, D, D))
        return cls(
            rate=_grain(rng.normal(usual, 0.8, (M, 1)) + contrast * rng.normal(0, 0.3, (M, K))),
            selection=_grain(rng.normal(0, 0.8, (M, d))),
            base=_grain((low + high) / 2 + span * (liked + contrast * rng.normal(0, 0.04, (M, K)))),
            taste=_grain(rng.normal(0, span / 8, (M, r))),
            mean=contrast * rng.normal(0, 0.3, (K, D)),
            covariance=factor @ factor.transpose(0, 2, 1) + 0.1 * np.eye(D),
            noise=(span / 5) ** 2,
        )

    def prior(self) -> Prior:
        """Return the prior as it is disclosed."""
        precision = np.linalg.inv(self.covariance)
        return Prior(
            least=as_rows(np.zeros((1, len(self.mean)))),
            mean=as_rows(to_fixed(self.mean[None])),
            precision=as_rows(to_fixed((precision + precision.transpose(0, 2, 1))[None] / 2)),
            map=as_rows(to_fixed(transports(self.covariance)[None])),
            noise=max(1, int(to_fixed(self.noise))),
        )

    def columns(self, scheme: str) -> dict[str, Any]:
        """Return what a disclosure has of it: columns and prior; nothing without counterparts."""
        if not SCHEMES[scheme].counterparts:
            return {}
        names = SCHEMES[scheme].columns & {"rate", "selection", "base", "taste"}
        rows = {name: as_rows(np.rint(getattr(self, name) * GRAIN)) for name in names}
        return {**rows, "prior": self.prior()}


@dataclass(frozen=True, eq=False)
class People:
    """N people and their n ratings, those of one person next to each other."""

    category: NDArray[np.intp]
    """Category of each person. Shape (N,)."""
    position: Float
    """The true position of each. Shape (N, D)."""
    starts: NDArray[np.intp]
    """Ratings of person i are `starts[i]:starts[i + 1]`. Shape (N + 1,)."""
    person: NDArray[np.intp]
    """Who gave each rating. Shape (n,)."""
    item: NDArray[np.intp]
    """What it is about. Shape (n,)."""
    value: Integers
    """What it is, fixed point. Shape (n,)."""

    @classmethod
    def draw(
        cls,
        nature: Nature,
        number: int,
        rng: np.random.Generator,
        points: Sequence[int],
        *,
        everything: bool = False,
    ) -> Self:
        """Draw people, categories in turn; positions by the prior, ratings by the positions."""
        M, K = nature.rate.shape
        d = nature.selection.shape[1]
        category = np.arange(number) % K
        steps = np.linalg.cholesky(nature.covariance)[category]
        random = rng.normal(size=(number, steps.shape[1], 1))
        position = nature.mean[category] + (steps @ random)[:, :, 0]
        logit = nature.rate.T[category] + position[:, :d] @ nature.selection.T
        rated = (rng.random((number, M)) < 1 / (1 + np.exp(-logit))) | everything
        person, item = np.nonzero(rated)
        expected = nature.base.T[category] + position[:, d:] @ nature.taste.T
        exact = (expected + rng.normal(0, np.sqrt(nature.noise), expected.shape))[person, item]
        levels = np.asarray(points)
        nearest = np.abs(to_fixed(exact)[:, None] - levels).argmin(axis=1)
        starts = np.searchsorted(person, np.arange(number + 1))
        return cls(category, position, starts, person, item, levels[nearest])

    def adjustment(self, parameters: Parameters) -> Adjustment:
        """Adjust everyone's ratings, each person asked about everything."""
        return adjust_population(parameters, self.starts, self.item, self.value, self.category)


def transports(covariance: Float) -> Float:
    """Return the maps between normal distributions, T S_k T = S_m. (K, D, D) -> (K, K, D, D)."""
    K, D, _ = covariance.shape
    found = np.broadcast_to(np.eye(D), (K, K, D, D)).copy()
    for k in range(K):
        root = _power(covariance[k], 0.5)
        back = _power(covariance[k], -0.5)
        for m in set(range(K)) - {k}:
            found[k, m] = back @ _power(root @ covariance[m] @ root, 0.5) @ back
    return found


def disclose(
    nature: Nature, scheme: str, points: Sequence[int], levels: Integers | None = None, **more: Any
) -> Disclosure:
    """Disclose a prior with level tables, or with tables that change nothing."""
    M, K = nature.rate.shape
    if levels is None:
        levels = np.full((M, K, len(points)), ONE // len(points))
        levels[:, :, 0] += ONE - levels.sum(axis=2)
    content: dict[str, Any] = {
        "scheme": scheme,
        "features": (FeatureNames(name="group", categories=tuple(f"g{k}" for k in range(K))),),
        "scale": RatingScale(low=points[0], high=points[-1], levels=tuple(points)),
        "items": tuple(f"item-{j:04d}" for j in range(M)),
        "levels": as_rows(levels),
        **nature.columns(scheme),
    }
    return Disclosure(**(content | more))


def _power(matrix: Float, exponent: float) -> Float:
    value, vector = np.linalg.eigh(matrix)
    return np.asarray((vector * value**exponent) @ vector.T)


def _grain(numbers: Float) -> Float:
    """Round to what can be disclosed."""
    return np.rint(numbers * GRAIN) / GRAIN
