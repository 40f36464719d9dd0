"""Training: ratings in, frozen item profiles out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.estimates import mean_effects
from midpoint.analyst.categories.item_factors import item_factors, rated_sets
from midpoint.analyst.categories.statistics import CategoryStatistics, tally
from midpoint.analyst.fit.als import WARM_UP, Factors, Regularization, alternate
from midpoint.analyst.fit.assembly import FACTORS, Catalogue, Unit, freeze, provenance
from midpoint.analyst.fit.priors.item_prior import set_factors
from midpoint.analyst.fit.priors.set_prior import learn_set_prior
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.fit.report_noise import ReportNoise
from midpoint.analyst.fit.sets.training import train_sets
from midpoint.analyst.fit.sgd import descend
from midpoint.analyst.fit.standardized import Float, Standardized
from midpoint.analyst.kernels.compilation import one_blas_thread
from midpoint.data import Feature, Ratings, split_at_random
from midpoint.errors import MidpointError

Biases = Literal["shrunken", "plain", "joint"]
Method = Literal["als", "sgd", "factors"]
PATIENCE = 2
"""Iterations without a better validation error after which training stops."""
PASSES = {"als": 15, "sgd": 20, "factors": 20}
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
    """Latent dimensions d (the paper: 20); of unary data up to four times as many, where those are
    found to make better lists and regularization is learned."""
    iterations: int = 0
    """Passes over the ratings, at most; 0 stands for what `PASSES` says."""
    regularization: Regularization = "learned"
    """"learned" from the data, or a number each rating adds, in standard deviations of ratings."""
    biases: Biases = "shrunken"
    """Half differences of class means, "plain" or "shrunken", or the "joint" fit of Eq. 5."""
    method: Method = "als"
    """Alternating least squares, stochastic gradient descent, or gradient descent on "factors"
    alone, without means of items and users, as in the paper's Eq. 1."""
    validation: float = 0.0
    """Share of ratings to watch; training stops when their error does, and is redone on all."""
    sets: bool = True
    """Whether what people chose to rate says something of their taste (`set_prior`), and of the
    items (`item_prior`); by ALS."""
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
        if self.biases == "joint" and self.method != "als":
            raise MidpointError("joint biases are fitted by alternating least squares: method als")
        object.__setattr__(self, "iterations", self.iterations or PASSES[self.method])
        if self.method != "als" and self.regularization == "learned":
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
            ratings: The ratings; people of unknown category count for items only.
            feature: The private feature; several make a joint one.
            progress: Is called after each iteration.
            report_noise: What coins added to each rating, where some are reports (`learn`).
        """
        return self.train(ratings, feature, progress, report_noise).items

    @one_blas_thread()
    def train(
        self,
        ratings: Ratings,
        feature: str | Sequence[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
        report_noise: ReportNoise | None = None,
    ) -> Training:
        """Learn item profiles, and keep the training users' own as well."""
        self._require_learnable(ratings, report_noise)
        private = _feature(ratings, feature)
        statistics, leading = self.count(ratings, private, report_noise)
        if ratings.scale.is_unary:
            presence = None if report_noise is None else report_noise.presence
            known = ratings, private, statistics
            return Training(*train_sets(self, *known, plainly(progress), presence))
        offset = None
        if statistics is not None and self.biases != "joint":
            offset = mean_effects(statistics, self.biases).effect
        checked = _Validation(self.iterations, None)
        if self.validation:
            checked = self._validate(ratings, private, offset, progress)
        problem = Standardized.of(
            ratings, private, offset, report_noise=report_noise, centred=self.method != FACTORS
        )
        watch = _reporter(problem, checked.iterations, progress)
        factors = self._set_factors(ratings, leading)
        fitted = self._factors(problem.informed(factors), checked.iterations, watch)
        if checked.noise_variance is not None and self.regularization != "learned":
            fitted = fitted._replace(noise_variance=checked.noise_variance)
        made = provenance(self, ratings.name, ratings.digest, checked.iterations)
        rated = np.diff(ratings.by_item.offsets) > 0
        catalogue = Catalogue(ratings.item_ids, ratings.item_names, rated, ratings.scale)
        unit = Unit(problem.level, problem.spread)
        profiles = freeze(made, catalogue, private, statistics, offset, unit, fitted)
        users = problem.spread * fitted.users.profile.astype(np.float64)
        mean, vectors = profiles.profile_mean, profiles.vectors
        prior = learn_set_prior(ratings, factors, users, mean, vectors, seed=self.seed)
        profiles = replace(profiles, set_prior=prior)
        return Training(profiles, users)

    def _require_learnable(self, ratings: Ratings, report_noise: ReportNoise | None) -> None:
        """Refuse what nothing can be learned from in this way."""
        if len(ratings) == 0:
            raise MidpointError(f"{ratings.name} has no ratings to learn from")
        if report_noise is not None and (self.validation or self.method != "als"):
            raise MidpointError(
                "reports are learned from by method als, without a validation slice; leave out"
                " method and validation"
            )

    def count(
        self, ratings: Ratings, private: Feature | None, report_noise: ReportNoise | None = None
    ) -> "Counted":
        """Count what each category does, with factors that predict who rates what."""
        if private is None:
            return Counted(None, None)
        statistics = tally(ratings, private)
        if self.biases != "shrunken":
            return Counted(statistics, None)
        presence = None if report_noise is None else report_noise.presence
        predictors = item_factors(
            ratings, private, seed=self.seed, presence=presence, threads=self.threads
        )
        if predictors is None:
            return Counted(statistics, None)
        factors, disagreement, leading = predictors
        statistics = replace(statistics, factors=factors, disagreement=disagreement)
        return Counted(statistics, leading)

    def _set_factors(self, ratings: Ratings, leading: Float | None = None) -> Float | None:
        """Return factors of who rated what, where priors are to use them. Shape (M, k)."""
        by_sets = self.sets and self.method == "als"
        return set_factors(rated_sets(ratings), leading) if by_sets else None

    def _factors(
        self, problem: Standardized, iterations: int, watch: Callable[[int, Factors], bool]
    ) -> Factors:
        if self.method != "als":
            return descend(
                problem.seen,
                dimension=self.dimension,
                iterations=iterations,
                regularization=float(self.regularization),
                seed=self.seed,
                means=self.method != FACTORS,
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
        centred = self.method != FACTORS
        problem = Standardized.of(split.given, private, offset, centred=centred)
        problem = problem.informed(self._set_factors(split.given))
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


class Counted(NamedTuple):
    """What is known of categories before items are fitted."""

    statistics: CategoryStatistics | None
    """What each category does; None without a private feature."""
    leading: Float | None
    """`leading_factors` of everyone's sets where they were needed, for what else needs them."""


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


def plainly(progress: Callable[[Progress], None] | None) -> Callable[[int, int], None]:
    """Return what tells how far a fit has come that has no error to tell."""

    def report(done: int, total: int) -> None:
        if progress:
            progress(Progress(done, total))

    return report


def _feature(ratings: Ratings, names: str | Sequence[str] | None) -> Feature | None:
    if not names:
        return None
    return ratings.feature(*([names] if isinstance(names, str) else names))
