"""Training: ratings in, frozen item profiles out."""

import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import version
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from midpoint import __version__
from midpoint.analyst.als import Factors, Observations, Regularization, alternate
from midpoint.analyst.estimates import estimate
from midpoint.analyst.profiles import ItemProfiles, Provenance
from midpoint.analyst.sgd import descend
from midpoint.analyst.statistics import CategoryStatistics, tally
from midpoint.data import Feature, Ratings, split_at_random
from midpoint.errors import MidpointError

Biases = Literal["shrunken", "plain", "joint"]
Method = Literal["als", "sgd"]
PATIENCE = 2
"""Iterations without a better validation error after which training stops."""
SGD_RIDGE = 0.05
"""Regularisation of gradient descent where it is left to be learned, which that cannot do."""


class Progress(NamedTuple):
    """How far training has come."""

    iteration: int
    """Iterations done."""
    iterations: int
    """Iterations to do at most."""
    rmse: float
    """Error on the validation slice, or on the training ratings where there is none."""


class Training(NamedTuple):
    """Everything that training finds out."""

    items: ItemProfiles
    """The item profiles, which the service keeps."""
    users: NDArray[np.float64]
    """The training users' profiles, which it may forget. Shape (users, D)."""


@dataclass(frozen=True)
class Factorizer:
    """Learns item profiles from the ratings of users who disclosed their feature."""

    dimension: int = 20
    """Latent dimensions d (the paper: 20)."""
    iterations: int = 15
    """Passes over the ratings, at most."""
    regularization: Regularization = "learned"
    """"learned" from the data, or a number each rating adds, in standard deviations of ratings."""
    biases: Biases = "shrunken"
    """Half differences of class means, "plain" or "shrunken", or the "joint" fit of Eq. 5."""
    method: Method = "als"
    """Alternating least squares, or the paper's stochastic gradient descent."""
    validation: float = 0.0
    """Share of ratings to watch; training stops when their error does, and is redone on all."""
    seed: int = 0
    """Draws the start, and the validation slice."""
    threads: int | None = None
    """All usable cores unless given; the result does not depend on it."""

    def __post_init__(self) -> None:
        if self.dimension < 1 or self.iterations < 1:
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

    def fit(
        self,
        ratings: Ratings,
        feature: str | Sequence[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> ItemProfiles:
        """Learn item profiles, with what each category of the private feature adds."""
        return self.train(ratings, feature, progress).items

    def train(
        self,
        ratings: Ratings,
        feature: str | Sequence[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Training:
        """Learn item profiles, and keep the training users' own as well."""
        private = _feature(ratings, feature)
        statistics = tally(ratings, private) if private else None
        iterations = self.iterations
        if self.validation:
            iterations = self._best_iterations(ratings, private, statistics, progress)
        problem = _Problem.of(ratings, private, statistics, self.biases)
        factors = self._factors(problem, iterations, _reporter(problem, iterations, progress))
        return _freeze(self, ratings, private, statistics, problem, factors)

    def _factors(
        self, problem: "_Problem", iterations: int, watch: Callable[[int, Factors], bool]
    ) -> Factors:
        ridge = self.regularization
        if self.method == "sgd":
            return descend(
                problem.seen,
                dimension=self.dimension,
                iterations=iterations,
                regularization=SGD_RIDGE if ridge == "learned" else float(ridge),
                seed=self.seed,
                after_iteration=watch,
            )
        return alternate(
            problem.seen,
            dimension=self.dimension,
            iterations=iterations,
            regularization=ridge,
            seed=self.seed,
            threads=self.threads,
            after_iteration=watch,
        )

    def _best_iterations(
        self,
        ratings: Ratings,
        private: Feature | None,
        statistics: CategoryStatistics | None,
        progress: Callable[[Progress], None] | None,
    ) -> int:
        """Train without a slice of the ratings until its error stops falling; return how long.

        So few ratings that no slice can be spared are trained on for all iterations.
        """
        split = split_at_random(ratings, 1 - self.validation, seed=self.seed)
        if not (len(split.given) and len(split.hidden)):
            return self.iterations
        problem = _Problem.of(split.given, private, statistics, self.biases)
        hidden = _Problem.of(split.hidden, private, statistics, self.biases, problem)
        errors: list[float] = []

        def watch(k: int, factors: Factors) -> bool:
            errors.append(hidden.rmse(factors))
            if progress:
                progress(Progress(k + 1, self.iterations, errors[-1]))
            return k - int(np.argmin(errors)) >= PATIENCE

        self._factors(problem, self.iterations, watch)
        return int(np.argmin(errors)) + 1


@dataclass(frozen=True, eq=False)
class _Problem:
    """Ratings brought to the form that the solvers read: (r - level - offset) / spread."""

    seen: Observations
    """The standardised ratings."""
    offset: NDArray[np.float64]
    """Offsets taken out beforehand. Shape (items, categories)."""
    level: float
    """Mean of the ratings."""
    spread: float
    """Standard deviation of the ratings, by which they are divided."""

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        feature: Feature | None,
        statistics: CategoryStatistics | None,
        biases: Biases,
        like: "_Problem | None" = None,
    ) -> "_Problem":
        """Standardise; `like` gives level and spread, so that errors compare."""
        if len(ratings) == 0:
            raise MidpointError(f"{ratings.name} has no ratings to learn from")
        known = np.zeros((ratings.n_users, 0), np.float32)
        offset = np.zeros((ratings.n_items, 0))
        value = ratings.value
        if feature is not None and statistics is not None:
            offset = np.zeros((ratings.n_items, len(feature.categories)))
            if biases == "joint":
                known = _effect_coding(feature)
            else:
                offset = estimate(statistics, biases).offset
                value = value - _own_offset(offset, feature, ratings).astype(np.float32)
        level = like.level if like else float(value.mean(dtype=np.float64))
        spread = like.spread if like else max(float(value.std(dtype=np.float64)), 1e-6)
        seen = Observations(
            user=ratings.user,
            item=ratings.item,
            value=((value - np.float32(level)) / np.float32(spread)),
            user_offsets=ratings.user_offsets,
            item_offsets=ratings.by_item.offsets,
            item_order=ratings.by_item.order,
            known=known,
        )
        return cls(seen, offset, level, spread)

    def rmse(self, factors: Factors) -> float:
        """Return the error of a fit on these ratings, in rating units."""
        return self.spread * float(np.sqrt(factors.mean_square(self.seen)))


def _is_positive(number: object) -> bool:
    return isinstance(number, float | int) and 0 < number < np.inf


def _reporter(
    problem: _Problem, iterations: int, progress: Callable[[Progress], None] | None
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


def _own_offset(
    offset: NDArray[np.float64], feature: Feature, ratings: Ratings
) -> NDArray[np.float64]:
    """Return what her category adds to each rating; nothing where the category is not known."""
    category = feature.codes[ratings.user]
    return np.where(category >= 0, offset[ratings.item, category], 0.0)


def _effect_coding(feature: Feature) -> NDArray[np.float32]:
    """Code the categories of each crossed feature so that their effects sum to zero."""
    columns = [np.zeros((len(feature.codes), 0))]
    for cells in feature.crossed:
        size = max(cells) + 1
        code = np.vstack([np.eye(size - 1), np.full((1, size - 1), -1.0)])
        columns.append(np.where(feature.known[:, None], code[np.array(cells)[feature.codes]], 0.0))
    return np.hstack(columns).astype(np.float32)


def _joint_offset(known: NDArray[np.float64], feature: Feature) -> NDArray[np.float64]:
    """Turn fitted effects back into offsets of the joint categories."""
    every = replace(feature, codes=np.arange(len(feature.categories), dtype=np.int16))
    return np.asarray(known @ _effect_coding(every).T.astype(np.float64))


def _freeze(
    factorizer: Factorizer,
    ratings: Ratings,
    feature: Feature | None,
    statistics: CategoryStatistics | None,
    problem: _Problem,
    factors: Factors,
) -> Training:
    """Bring a fit back to rating units; the spread goes to the users' side."""
    d = factorizer.dimension + 1
    items = factors.items.profile.astype(np.float64)
    offset = problem.offset
    if feature is not None and factorizer.biases == "joint":
        offset = problem.spread * _joint_offset(items[:, d:], feature)
    vectors = items[:, :d].astype(np.float32)
    vectors[:, 0] = 1
    vectors[np.diff(problem.seen.item_offsets) == 0, 1:] = 0
    profiles = ItemProfiles(
        item_ids=ratings.item_ids,
        item_names=ratings.item_names,
        scale=ratings.scale,
        vectors=vectors,
        centre=problem.level + problem.spread * items[:, 0],
        offset=offset,
        features=feature.parts if feature else (),
        statistics=statistics,
        noise_variance=problem.spread**2 * factors.noise_variance,
        profile_mean=problem.spread * factors.users.mean,
        profile_covariance=problem.spread**2 * factors.users.covariance,
        provenance=_provenance(factorizer, ratings),
    )
    return Training(profiles, problem.spread * factors.users.profile.astype(np.float64))


def _provenance(factorizer: Factorizer, ratings: Ratings) -> Provenance:
    configuration = asdict(factorizer)
    del configuration["threads"]  # the result does not depend on it
    return Provenance(ratings.name, ratings.digest, configuration, dict(_versions()))


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """Look up versions once: reading a package's metadata takes milliseconds."""
    libraries = tuple((name, version(name)) for name in ("numpy", "numba", "scipy"))
    return ("midpoint", __version__), ("python", platform.python_version()), *libraries
