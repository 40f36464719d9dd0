"""Item profiles from another model's item factors: its items stay, people and categories are added.

A rating is predicted as in `ItemProfiles`, with v_j = (1, w_j), where w_j is the item's row of the
other model. What that model does not say is learned from the panel: what categories add, the mean
and covariance of people's profiles, the noise of a rating and the items' levels, by
expectation-maximization:

    r_ij = level_j + offset_j[category of i] + b_i + <x_i, w_j> + noise,   (b_i, x_i) ~ N(m, C)

The levels have the prior N(s bias_j, tau^2), where s is learned, too: a model's biases may be in
stars or in units of its own. An item that few of the panel rated keeps what the model says.

The factors are turned to their principal axes and scaled to unit variance. That changes no
prediction, and lets models in which one factor is another's copy, or constant, be used as they are.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.estimates import mean_effects
from midpoint.analyst.categories.item_factors import rated_sets
from midpoint.analyst.fit.als import ALIKE, SMALLEST, Factors, Observations, Side, expected_squares
from midpoint.analyst.fit.assembly import Catalogue, Unit, freeze, provenance
from midpoint.analyst.fit.factorizer import Factorizer, Progress, Training
from midpoint.analyst.fit.given.sources import Ids, read_factors
from midpoint.analyst.fit.priors.item_prior import set_factors
from midpoint.analyst.fit.priors.set_prior import learn_set_prior
from midpoint.analyst.fit.profiles import Provenance
from midpoint.analyst.fit.report_noise import ReportNoise
from midpoint.analyst.fit.standardized import Standardized
from midpoint.analyst.kernels.ridge import posterior_rows
from midpoint.data import Ratings
from midpoint.errors import MidpointError

Float = NDArray[np.float64]
ROUNDS: Final = 12
"""Rounds of expectation and maximization."""
LEAST_COVERED: Final = 0.5
"""Share of the panel's ratings that must be of items with factors."""
SAME: Final = 1e-6
"""Directions in which factors spread less than this share of the widest are no directions."""


class Coverage(NamedTuple):
    """How the items of a model and of the panel's ratings meet."""

    both: int
    """Items that the panel rated and the model knows."""
    without_factors: int
    """Items that the panel rated and the model does not know: they say nothing of taste."""
    unrated: int
    """Items that only the model knows: they are left out, for nothing is known of categories."""
    ratings: float
    """Share of the panel's ratings that are of items with factors."""

    def __str__(self) -> str:
        parts = [f"{self.both} items have factors: {self.ratings:.1%} of the ratings"]
        if self.without_factors:
            parts.append(f"{self.without_factors} rated items have none and say nothing of taste")
        if self.unrated:
            parts.append(
                f"{self.unrated} items that nobody of the panel rated are left out: nobody knows"
                " what categories do to them"
            )
        return "; ".join(parts)


@dataclass(frozen=True, eq=False, repr=False)
class GivenFactors(Factorizer):
    """A factorizer that keeps the item factors of another recommender; M items, d factors.

    `of` reads them from a model, arrays or a file. It is given instead of a `Factorizer`
    to `midpoint.analyst.train` and `Analyst.train`; `seed` and `threads` mean the same, and other
    settings of a factorizer have no use here.
    """

    item_ids: NDArray[np.str_] = field(default_factory=lambda: np.array([], np.str_))
    """Names of the items, as in the ratings. Shape (M,)."""
    vectors: Float = field(default_factory=lambda: np.zeros((0, 1)))
    """The factors. Shape (M, d)."""
    item_biases: Float | None = None
    """What each item adds to a rating, in any unit; None where the model has none. Shape (M,)."""
    source: str = "arrays"
    """Where they come from, for the record."""

    @classmethod
    def of(
        cls,
        source: object,
        item_ids: Ids | None = None,
        biases: Sequence[float] | NDArray[np.floating] | None = None,
        *,
        seed: int = 0,
        threads: int | None = None,
    ) -> Self:
        """Read factors from a model of implicit, LensKit, Cornac or Spark, an array or a file.

        Args:
            source: What holds them; see `read_factors`.
            item_ids: The ratings' name of each row, or a mapping from the model's name or number.
            biases: What each row adds to a rating, where the source does not say.
            seed: Decides every random draw of what is added.
            threads: All usable cores unless given.
        """
        read = read_factors(source, item_ids, biases)
        return cls(
            dimension=read.vectors.shape[1],
            iterations=ROUNDS,
            seed=seed,
            threads=threads,
            item_ids=read.item_ids,
            vectors=read.vectors,
            item_biases=read.biases,
            source=read.source,
        )

    def __repr__(self) -> str:
        """Say what they are, in one line."""
        biases = "without biases" if self.item_biases is None else "with biases"
        size = f"{len(self.item_ids)} items of {self.dimension} factors"
        return f"<GivenFactors: {self.source}, {size}, {biases}>"

    @property
    def digest(self) -> str:
        """SHA-256 of the factors."""
        total = hashlib.sha256("\n".join(self.item_ids.tolist()).encode())
        for array in (self.vectors, self.item_biases):
            total.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
        return total.hexdigest()

    def coverage(self, ratings: Ratings) -> Coverage:
        """Say how the model's items and the panel's meet; refuse where they hardly do."""
        rows = self._rows(ratings)
        rated = np.diff(ratings.by_item.offsets)
        known = rows >= 0
        share = float(rated[known].sum() / max(len(ratings), 1))
        if share < LEAST_COVERED:
            raise MidpointError(
                f"only {share:.0%} of the ratings are of items with factors. Ratings name items"
                f" such as {_some(ratings.item_ids)}; {self.source} such as"
                f" {_some(self.item_ids)}. If these are numbers of its own, give item_ids; else"
                " leave out the ratings of other items"
            )
        both = int((known & (rated > 0)).sum())
        return Coverage(both, int((~known & (rated > 0)).sum()), len(self.item_ids) - both, share)

    def train(
        self,
        ratings: Ratings,
        feature: str | Sequence[str] | None = None,
        progress: Callable[[Progress], None] | None = None,
        report_noise: ReportNoise | None = None,
    ) -> Training:
        """Learn from the panel what the factors do not say, and keep the people's profiles."""
        if len(ratings) == 0:
            raise MidpointError(f"{ratings.name} has no ratings to learn from")
        if report_noise is not None:
            raise MidpointError(
                "items cannot be learned from reports if their factors are given; leave out the"
                " reports, or the factors"
            )
        self.coverage(ratings)
        names = [feature] if isinstance(feature, str) else feature
        private = ratings.feature(*names) if names else None
        statistics, leading = self.count(ratings, private)
        offset = None if statistics is None else mean_effects(statistics, "shrunken").effect
        problem = Standardized.of(ratings, private, offset)
        rated = np.diff(ratings.by_item.offsets) > 0
        axes = self._axes(ratings, rated)
        start = np.zeros((ratings.n_items, 1 + axes.shape[1]), np.float32)
        start[:, 1:] = axes
        biases = self._biases(ratings)
        fitted = _fit_people(problem, Side.start(start), biases, self.threads, progress)
        profiles = freeze(
            self._made(ratings, axes.shape[1]),
            Catalogue(ratings.item_ids, ratings.item_names, rated, ratings.scale),
            private,
            statistics,
            offset,
            Unit(problem.level, problem.spread),
            fitted,
        )
        users = problem.spread * fitted.users.profile.astype(np.float64)
        if self.sets:
            factors = set_factors(rated_sets(ratings), leading)
            known = profiles.profile_mean, profiles.vectors
            prior = learn_set_prior(ratings, factors, users, *known, seed=self.seed)
            profiles = replace(profiles, set_prior=prior)
        return Training(profiles, users)

    def _rows(self, ratings: Ratings) -> NDArray[np.intp]:
        """Return the row of factors of each rated item, -1 where there is none."""
        order = np.argsort(self.item_ids)
        by_name = self.item_ids[order]
        nearest = np.minimum(np.searchsorted(by_name, ratings.item_ids), len(order) - 1)
        return np.where(by_name[nearest] == ratings.item_ids, order[nearest], -1)

    def _axes(self, ratings: Ratings, rated: NDArray[np.bool_]) -> Float:
        """Turn the factors of the panel's items to principal axes of unit variance; 0 if none."""
        rows = self._rows(ratings)
        use = (rows >= 0) & rated
        seen = self.vectors[rows[use]]
        U, S, _ = np.linalg.svd(seen - seen.mean(axis=0), full_matrices=False)
        kept = max(SAME * S[0], SMALLEST) < S
        if not kept.any():
            raise MidpointError(
                f"the item factors of {self.source} are the same for every item that was rated, so"
                " they say nothing of taste"
            )
        axes = np.zeros((ratings.n_items, int(kept.sum())))
        axes[use] = U[:, kept] * np.sqrt(use.sum())
        return axes

    def _biases(self, ratings: Ratings) -> Float:
        """Return the bias of each rated item around their mean over ratings; 0 if there is none."""
        biases, rows = np.zeros(ratings.n_items), self._rows(ratings)
        if self.item_biases is not None:
            known, count = rows >= 0, np.diff(ratings.by_item.offsets)
            own = self.item_biases[rows[known]]
            biases[known] = own - np.average(own, weights=count[known])
        return biases

    def _made(self, ratings: Ratings, axes: int) -> Provenance:
        plain = Factorizer(dimension=axes, iterations=self.iterations, seed=self.seed)
        made = provenance(plain, ratings.name, ratings.digest, self.iterations)
        added = {"method": "given", "factors": self.source, "factors_digest": self.digest}
        return replace(made, configuration={**made.configuration, **added})


def _fit_people(
    problem: Standardized,
    items: Side,
    biases: Float,
    threads: int | None,
    progress: Callable[[Progress], None] | None,
) -> Factors:
    """Learn people's prior, the noise and the items' levels, given the factors and biases."""
    seen, d = problem.seen, items.profile.shape[1]
    design = items.profile.copy()
    design[:, 0] = 1
    users = Side.start(np.zeros((len(seen.user_offsets) - 1, d), np.float32))
    rated, noise = np.diff(seen.user_offsets) > 0, 1.0
    for k in range(ROUNDS):
        rows = posterior_rows(
            seen.user_offsets, seen.item, seen.value, design,
            level=items.profile[:, 0],
            vector_variance=items.variance[:, 1],
            latent=(1, d),
            prior=(users.mean, users.covariance),
            noise=noise,
            threads=threads,
        )  # fmt: skip
        users.profile, users.variance = rows.profile, rows.variance
        users.learn_prior(rated, rows.covariance)
        _learn_levels(seen, users, items, biases, noise)
        noise = _noise(seen, users, items)
        if progress:
            progress(Progress(k + 1, ROUNDS, problem.spread * float(np.sqrt(noise))))
    return Factors(users, items, noise)


def _learn_levels(
    seen: Observations, users: Side, items: Side, biases: Float, noise: float
) -> None:
    """Estimate the items' levels by what is left of their ratings, under N(s bias_j, tau^2)."""
    taste = np.einsum("nd,nd->n", users.profile[seen.user, 1:], items.profile[seen.item, 1:])
    rest = seen.value - users.profile[seen.user, 0] - taste
    count = np.bincount(seen.item, minlength=len(biases))
    total = np.bincount(seen.item, rest, len(biases))
    expected = biases * (biases @ total) / max(float(count @ biases**2), SMALLEST)
    rated = count > 0
    apart = total[rated] / count[rated] - expected[rated]
    between = max(float(apart.var() - (noise / count[rated]).mean()), SMALLEST)
    items.profile[:, 0] = expected + (total - count * expected) / (count + noise / between)


def _noise(seen: Observations, users: Side, items: Side) -> float:
    sides = users.profile, items.profile, users.variance, items.variance
    total = expected_squares(seen.user, seen.item, seen.value, *sides, ALIKE)
    return max(float(total / len(seen.value)), SMALLEST)


def _some(names: NDArray[np.str_]) -> str:
    return ", ".join(repr(str(name)) for name in names[:3])
