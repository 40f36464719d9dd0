"""Training: ratings in, frozen item profiles out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.estimates import mean_effects
from midpoint.analyst.categories.item_factors import item_factors
from midpoint.analyst.categories.statistics import tally
from midpoint.analyst.fit.als import WARM_UP, Factors, Regularization, alternate
from midpoint.analyst.fit.assembly import Catalogue, Unit, freeze, provenance
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.fit.report_noise import ReportNoise
from midpoint.analyst.fit.set_prior import learn_set_prior
from midpoint.analyst.fit.sgd import descend
from midpoint.analyst.fit.standardized import Float, Standardized
from midpoint.data import Feature, Ratings, split_at_random
from midpoint.errors import MidpointError

Biases = Literal["shrunken", "plain", "joint"]
Method = Literal["als", "sgd"]
PATIENCE = 2
"""Iterations without a better validation error after which training stops."""
PASSES = {"als": 15, "sgd": 20}
"""Iterations unless given (the paper: 20 of gradient descent)."""
SGD_RIDGE = 0.05
"""Regularization of gradient descent unless given: that cannot learn it."""


class Progress(NamedTuple):
    """How far training has come."""

    iteration: int
    """Iterations done."""
    iterations: int
    """Iterations to do at most."""
    rmse: float = nan
    """Error on the validation slice, or on the training ratings; NaN where none is measured."""
    stage: str = "Training"
    """What is being done."""


class Training(NamedTuple):
    """Everything that training finds out."""

    items: ItemProfiles
    """The item profiles, which the service keeps."""
    users: NDArray[np.float64]
    """The training users' profiles, which it may forget. Shape (users, D)."""

    def __repr__(self) -> str:
        """Say what was learned, in a few lines."""
        return f"<Training: profiles of {len(self.users)} users, and\n {self.items!r}>"


@dataclass(frozen=True)
class Factorizer:
    """Learns item profiles from the ratings of users who disclosed their feature."""

    dimension: int = 20
    """Latent dimensions d (the paper: 20)."""
    iterations: int = 0
    """Passes over the ratings, at most; 0 stands for what `PASSES` says."""
    regularization: Regularization = "learned"
    """"learned" from the data, or a number each rating adds, in standard deviations of ratings."""
    biases: Biases = "shrunken"
    """Half differences of class means, "plain" or "shrunken", or the "joint" fit of Eq. 5."""
    method: Method = "als"
    """Alternating least squares, or the paper's stochastic gradient descent."""
    validation: float = 0.0
    """Share of ratings to watch; training stops when their error does, and is redone on all."""
    sets: bool = True
    """Whether what people chose to rate says something of their taste (`set_prior`); by ALS."""
    seed: int = 0
    """Draws the start, and the validation slice."""
    threads: int | None = None
    """All usable cores unless given; the result does not depend on it."""

    def __post_init__(self) -> None:
        if self.dimension < 1 or self.iterations < 0:
            raise MidpointError("dimension and iterations must be at least 1")
        if not 0 <= self.validation < 1:
            raise MidpointError(f"validation is a share of the ratings: got {self.validation}")
        if self.threads is not None and self.threads < 1:
            raise MidpointError(f"threads must be at least 1: got {self.threads}")
        if self.biases not in get_args(Biases) or self.method not in get_args(Method):
            raise MidpointError(
                f"biases are one of {', '.join(get_args(Biases))}, the method one of"
                f" {', '.join(get_args(Method))}: got {self.biases}, {self.method}"
            )
        if self.regularization != "learned" and not _is_positive(self.regularization):
            raise MidpointError(
                f'regularization must be "learned" or positive: got {self.regularization!r}'
            )
        if self.biases == "joint" and self.method == "sgd":
            raise MidpointError("joint biases are fitted by alternating least squares: method als")
        object.__setattr__(self, "iterations", self.iterations or PASSES[self.method])
        if self.method == "sgd" and self.regularization == "learned":
            object.__setattr__(self, "regularization", SGD_RIDGE)

    def fit(
        self,
        ratings: Ratings,
        feature: str | Sequence[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
        report_noise: ReportNoise | None = None,
    ) -> ItemProfiles:
        """Learn item profiles, with what each category of the private feature adds.

        Args:
            ratings: The ratings; people of unknown category teach items, not categories.
            feature: The private feature; several make a joint one.
            progress: Is called after each iteration.
            report_noise: What coins added to each rating, where some are reports (`learn`).
        """
        return self.train(ratings, feature, progress, report_noise).items

    def train(
        self,
        ratings: Ratings,
        feature: str | Sequence[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
        report_noise: ReportNoise | None = None,
    ) -> Training:
        """Learn item profiles, and keep the training users' own as well."""
        if len(ratings) == 0:
            raise MidpointError(f"{ratings.name} has no ratings to learn from")
        if report_noise is not None and (self.validation or self.method == "sgd"):
            raise MidpointError(
                "reports are learned from by method als, without a validation slice; leave out"
                " method and validation"
            )
        private = _feature(ratings, feature)
        statistics = tally(ratings, private) if private else None
        if private and statistics and self.biases == "shrunken":
            presence = None if report_noise is None else report_noise.presence
            predictors = item_factors(ratings, private, seed=self.seed, presence=presence)
            statistics = replace(statistics, **(predictors._asdict() if predictors else {}))
        offset = None
        if statistics is not None and self.biases != "joint":
            offset = mean_effects(statistics, self.biases).effect
        checked = _Validation(self.iterations, None)
        if self.validation:
            checked = self._validate(ratings, private, offset, progress)
        problem = Standardized.of(ratings, private, offset, report_noise=report_noise)
        watch = _reporter(problem, checked.iterations, progress)
        fitted = self._factors(problem, checked.iterations, watch)
        if checked.noise_variance is not None and self.regularization != "learned":
            fitted = fitted._replace(noise_variance=checked.noise_variance)
        made = provenance(self, ratings.name, ratings.digest, checked.iterations)
        rated = np.diff(ratings.by_item.offsets) > 0
        catalogue = Catalogue(ratings.item_ids, ratings.item_names, rated, ratings.scale)
        unit = Unit(problem.level, problem.spread)
        profiles = freeze(made, catalogue, private, statistics, offset, unit, fitted)
        users = problem.spread * fitted.users.profile.astype(np.float64)
        if self.sets and self.method == "als":
            mean, vectors = profiles.profile_mean, profiles.vectors
            prior = learn_set_prior(ratings, users, mean, vectors, seed=self.seed)
            profiles = replace(profiles, set_prior=prior)
        return Training(profiles, users)

    def _factors(
        self, problem: Standardized, iterations: int, watch: Callable[[int, Factors], bool]
    ) -> Factors:
        if self.method == "sgd":
            return descend(
                problem.seen,
                dimension=self.dimension,
                iterations=iterations,
                regularization=float(self.regularization),
                seed=self.seed,
                after_iteration=watch,
            )
        return alternate(
            problem.seen,
            dimension=self.dimension,
            iterations=iterations,
            regularization=self.regularization,
            seed=self.seed,
            threads=self.threads,
            after_iteration=watch,
        )

    def _validate(
        self,
        ratings: Ratings,
        private: Feature | None,
        offset: Float | None,
        progress: Callable[[Progress], None] | None,
    ) -> "_Validation":
        """Train without a slice of the ratings until its error stops falling.

        So few ratings that no slice can be spared are trained on for all iterations.
        """
        split = split_at_random(ratings, 1 - self.validation, seed=self.seed)
        if not (len(split.given) and len(split.hidden)):
            return _Validation(self.iterations, None)
        problem = Standardized.of(split.given, private, offset)
        hidden = Standardized.of(split.hidden, private, offset, like=problem)
        first = min(WARM_UP, self.iterations - 1) if self.regularization == "learned" else 0
        errors: list[float] = []

        def watch(k: int, factors: Factors) -> bool:
            errors.append(hidden.rmse(factors))
            if progress:
                progress(Progress(k + 1, self.iterations, errors[-1]))
            return k - first - int(np.argmin(errors[first:] or [0.0])) >= PATIENCE

        self._factors(problem, self.iterations, watch)
        best = first + int(np.argmin(errors[first:]))
        return _Validation(best + 1, (errors[best] / problem.spread) ** 2)


class _Validation(NamedTuple):
    """What a validation slice says."""

    iterations: int
    """How long to train."""
    noise_variance: float | None
    """Its mean squared error, standardized; None without a slice."""


def _is_positive(number: object) -> bool:
    return isinstance(number, float | int) and 0 < number < np.inf


def _reporter(
    problem: Standardized, iterations: int, progress: Callable[[Progress], None] | None
) -> Callable[[int, Factors], bool]:
    def watch(k: int, factors: Factors) -> bool:
        if progress:
            rmse = problem.spread * float(np.sqrt(factors.noise_variance))
            progress(Progress(k + 1, iterations, rmse))
        return False

    return watch


def _feature(ratings: Ratings, names: str | Sequence[str] | None) -> Feature | None:
    if not names:
        return None
    return ratings.feature(*([names] if isinstance(names, str) else names))
