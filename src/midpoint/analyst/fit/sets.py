"""Unary data: item profiles from sets of items, by alternating least squares with confidence.

Hu, Koren and Volinsky (2008), in the form of Rendle et al. (2022): an item of a person's set is to
have the score 1, and counts w; that of every item is to be 0, and counts 1, since an item that is
not in her set may be unknown to her,

    w sum_{ij in sets} (1 - <x_i, v_j>)^2 + sum_ij <x_i, v_j>^2
        + l sum_i |x_i|^2 + sum_j (l + q n_j) |v_j|^2,

where n_j people have item j: without q, popular items would hardly be regularized. Each side is a
ridge regression given the other. With G = sum_j v_j v_j' over all items, which is the same for
everybody, the normal equations of person i over the items R of her set are

    (G + l I + w sum_R v_j v_j') x_i = w sum_R v_j,

those of ratings 1 under the prior precision G + l I, each with noise variance 1/w. So the compiled
regressions of graded ratings solve them; in many dimensions a few conjugate gradient steps from the
last solution are faster and as good. And item profiles with

    centre = 0,   noise variance 1/w,   prior mean 0,   prior covariance (G + l I)^-1

fold new people in, wherever graded ratings are known, as this model does. The score of an
item is <x, v_j>, about 1 for what she surely has.

Reports say nothing of what devices withheld, and withheld is not disliked. An item that a share r
of its entries is revealed of is known to be so (`learn.admission.revealed_share`): each entry that
is there stands for 1/r, and would count w/r. All pairs count 1 in the second sum, revealed or not.
So the mean of the whole sum over coins is that of raw sets. Its variance is larger, so half of the
correction, w/sqrt(r), makes better lists than all of it or none.

What a category prefers goes to the score: offset_jk = beta (log odds_jk - their mean over k). The
weight w, the ridges l and q, the dimension and beta are those of the best lists (NDCG@10) of
people who were held out, their sets thinned as devices of Algorithm 2 do for beta.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.estimates import CategoryEstimates, Estimation
from midpoint.analyst.categories.statistics import CategoryStatistics, tally
from midpoint.analyst.fit.assembly import Catalogue, provenance
from midpoint.analyst.fit.profiles import ItemProfiles, Provenance
from midpoint.analyst.kernels.conjugate_gradients import improve_rows
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.analyst.kernels.ridge import solve_rows
from midpoint.data import Feature, Ratings, hold_out, split_ratings
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst.fit.factorizer import Factorizer

Float = NDArray[np.float64]
Floats = NDArray[np.float32]
CANDIDATES: Final = (
    *((1.0, 0.1, 0.0), (1.0, 0.1, 0.02), (1.5, 0.2, 0.01), (1.5, 0.1, 0.02), (1.5, 0.03, 0.05)),
    *((2.0, 0.3, 0.0), (2.0, 0.2, 0.02), (2.0, 0.1, 0.05), (4.0, 0.4, 0.02), (4.0, 0.1, 0.1)),
    (8.0, 1.0, 0.0),
)
"""What is tried: weights w, ridges l as a share of the items that a person has on average, and what
each person who has an item adds to its ridge."""
FINALISTS: Final = 4
"""How many of them are tried in other dimensions as well: more dimensions want larger ridges."""
WIDER: Final = (1, 2, 4)
"""How many times the dimension that is asked for are tried."""
USUAL: Final = (2.0, 0.1, 0.02)
"""What is taken where people are too few to try."""
TRIAL_ITERATIONS: Final = 8
"""Iterations of a fit that is tried; more change little."""
HELD_OUT, FEWEST, MOST = 0.2, 20, 1_000
"""Share of the people that settings are tried on; how many they are at least, and at most."""
STEPS: Final = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Candidates of beta, in standard deviations of a person's scores per unit of log odds."""
TEMPERED: Final = 0.5
"""Power of 1/r that a reported entry counts by: 1 has no bias, 0 no correction. On MovieLens 1M as
sets (600 people in the panel, 4,400 reports under `dmpss`, two splits) NDCG@10 of new people is
0.397 and 0.390 by 0.5, 0.393 and 0.385 by 1, 0.396 and 0.389 by 0."""
EXACT_UP_TO: Final = 40
"""Dimensions up to which Cholesky's method is as fast as conjugate gradients."""
TINY: Final = 1e-6
"""Variance of the level, which sets do not have, beside that of a latent coordinate."""


class Setting(NamedTuple):
    """How sets are factorized."""

    weight: float
    """w: how much more an item of a set counts than another."""
    ridge: float
    """l, as a share of the items that a person has on average."""
    popular: float
    """q: what each person who has an item adds to its ridge."""
    dimension: int
    """Latent dimensions."""


class Incidence(NamedTuple):
    """Which person has which item, in both orders; in memory or on disk."""

    user_offsets: NDArray[np.int64]
    """Where the items of each person stand. Shape (users + 1,)."""
    item: NDArray[np.int32]
    """The items, person after person. Shape (entries,)."""
    item_offsets: NDArray[np.int64]
    """Where the people of each item stand. Shape (items + 1,)."""
    user: NDArray[np.int32]
    """The people, item after item. Shape (entries,)."""
    ones: Floats
    """1 for every entry. Shape (entries,)."""
    presence: tuple[Floats, Floats] | None = None
    """Number of entries that each stands for, in both orders: reports stand for withheld entries as
    well. Shapes (entries,)."""

    @classmethod
    def of(cls, ratings: Ratings, presence: Float | None = None) -> "Incidence":
        """Take the sets of people in memory."""
        order, ones = ratings.by_item.order, np.ones(len(ratings), np.float32)
        columns = ratings.item, ratings.by_item.offsets, ratings.user[order], ones
        if presence is None:
            return cls(ratings.user_offsets, *columns)
        stands = presence.astype(np.float32)
        return cls(ratings.user_offsets, *columns, (stands, stands[order]))

    def entries(self) -> float:
        """Count the entries, and those that were withheld."""
        return len(self.item) if self.presence is None else float(self.presence[0].sum())


class Factored(NamedTuple):
    """Both sides of a fit."""

    users: Floats
    """x_i. Shape (users, d)."""
    items: Floats
    """v_j. Shape (items, d)."""
    ridge: float
    """l."""


def train_sets(
    factorizer: "Factorizer",
    ratings: Ratings,
    private: Feature | None,
    statistics: CategoryStatistics | None,
    progress: Callable[[int, int], None] | None = None,
    presence: Float | None = None,
) -> tuple[ItemProfiles, Float]:
    """Learn item profiles from sets, and return the training people's as well. Shape (users, D).

    `presence` says for how many entries each stands, where some are reports.
    """
    rated = np.diff(ratings.by_item.offsets) > 0
    catalogue = Catalogue(ratings.item_ids, ratings.item_names, rated, ratings.scale)
    made = provenance(factorizer, ratings.name, ratings.digest, factorizer.iterations)
    known = statistics if private is not None else None
    chosen = choose_setting(factorizer, ratings, private)
    sets = Incidence.of(ratings, None if presence is None else presence**TEMPERED)
    return fit_sets(factorizer, sets, chosen, catalogue, private, known, made, progress)


def choose_setting(
    factorizer: "Factorizer", people: Ratings, private: Feature | None
) -> tuple[Setting, float]:
    """Return the setting and the beta of the best lists, by trial on some of these people."""
    _require_fitting(factorizer)
    trial = _Trial.of(factorizer, people)
    if trial is None:
        return _usual(factorizer), 0.0
    chosen = trial.best(factorizer)
    return chosen, trial.preference(chosen, private) if private is not None else 0.0


def fit_sets(
    factorizer: "Factorizer",
    sets: Incidence,
    chosen: tuple[Setting, float],
    catalogue: Catalogue,
    private: Feature | None,
    statistics: CategoryStatistics | None,
    made: Provenance,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ItemProfiles, Float]:
    """Learn item profiles from sets in memory or on disk, by settings that were chosen."""
    setting, _ = chosen
    fitted = factorize(
        sets, setting, factorizer.iterations, factorizer.seed, factorizer.threads, progress
    )
    level = np.zeros((len(fitted.users), 1))
    profiles = freeze_sets(
        factorizer, fitted.items, chosen, fitted.ridge, catalogue, private, statistics, made
    )
    return profiles, np.hstack([level, fitted.users.astype(np.float64)])


def factorize(
    sets: Incidence,
    setting: Setting,
    iterations: int,
    seed: int,
    threads: int | None,
    progress: Callable[[int, int], None] | None = None,
) -> Factored:
    """Alternate between people and items; see above."""
    d, w = setting.dimension, setting.weight
    n_users, n_items = len(sets.user_offsets) - 1, len(sets.item_offsets) - 1
    ridge = setting.ridge * sets.entries() / max(n_users, 1)
    of_user, of_item = sets.presence or (None, None)
    start = np.random.default_rng(seed).normal(0, d**-0.5, (n_items, d))
    items, users = start.astype(np.float32), np.zeros((n_users, d), np.float32)

    def people() -> Floats:
        rows = sets.user_offsets, sets.item, sets.ones, of_user, items, users
        return _solve(*rows, prior_precision(items, ridge) / w, 0.0, threads)

    users = people()
    for k in range(iterations):
        rows = sets.item_offsets, sets.user, sets.ones, of_item, users, items
        items = _solve(*rows, prior_precision(users, ridge) / w, setting.popular / w, threads)
        users = people()
        if progress:
            progress(k + 1, iterations)
    return Factored(users, items, ridge)


def _solve(
    offsets: NDArray[np.int64],
    index: NDArray[np.int32],
    ones: Floats,
    presence: Floats | None,
    vectors: Floats,
    last: Floats,
    ridge: Float,
    popular: float,
    threads: int | None,
) -> Floats:
    """Solve one side: exactly, or nearly from the last solution where that is faster."""
    if presence is None and vectors.shape[1] <= EXACT_UP_TO:
        return solve_rows(
            offsets, index, ones, vectors, ridge=ridge, ridge_per_rating=popular, threads=threads
        )
    weight = ones if presence is None else presence
    return improve_rows(
        offsets, index, weight, vectors, last, ridge=ridge, ridge_per_entry=popular, threads=threads
    )


def prior_precision(vectors: Floats, ridge: float) -> Float:
    """Return G + l I: what all items say, or all people, who are not in a set. Shape (d, d)."""
    V = vectors.astype(np.float64)
    return np.asarray(V.T @ V + ridge * np.eye(V.shape[1]))


def log_odds(estimates: CategoryEstimates) -> Float:
    """Return the log odds that each category has an item, less their mean. Shape (M, K)."""
    users = np.maximum(estimates.statistics.users, 1)
    p = np.clip(estimates.probability, 0.5 / (users + 1), 1 - 0.5 / (users + 1))
    logit = np.log(p) - np.log1p(-p)
    return np.asarray(logit - logit.mean(axis=1, keepdims=True))


class _Trial(NamedTuple):
    """People held out to see how good lists are."""

    training: Ratings
    """The others."""
    given: Ratings
    """Entries of held-out people that lists are made from."""
    hidden: Ratings
    """What is looked for in them."""
    seed: int
    """Draws starts and coins."""
    threads: int | None
    """All usable cores unless given."""

    @classmethod
    def of(cls, factorizer: "Factorizer", ratings: Ratings) -> "_Trial | None":
        """Hold some people out; None where they are too few to say anything."""
        several = np.flatnonzero(np.diff(ratings.user_offsets) > 1)
        count = min(int(HELD_OUT * ratings.n_users), MOST)
        if min(count, len(several)) < FEWEST:
            return None
        drawn = np.random.default_rng(factorizer.seed).permutation(several)[:count]
        fold = np.zeros(ratings.n_users, dtype=np.int64)
        fold[drawn] = 1
        training, held_out = hold_out(ratings, fold, 1)
        given, hidden = split_ratings(held_out, seed=factorizer.seed)
        return cls(training, given, hidden, factorizer.seed, factorizer.threads)

    def best(self, factorizer: "Factorizer") -> Setting:
        """Return the setting of the best lists: of all candidates, the best in all dimensions.

        Once, twice and four times the dimension that is asked for are tried, unless the
        regularization is given.
        """
        learned = factorizer.regularization == "learned"
        most = max(min(self.training.n_items, self.training.n_users) // 2, 1)
        once, *wider = (min(factorizer.dimension * k, most) for k in (WIDER if learned else (1,)))
        tried: tuple[tuple[float, float, float], ...] = CANDIDATES
        if not learned:
            given = float(factorizer.regularization)
            tried = tuple(dict.fromkeys((w, given, 0.0) for w, *_ in CANDIDATES))
        first = [Setting(*one, wider[0] if wider else once) for one in tried]
        quality = {setting: self.quality(setting) for setting in first}
        finalists = sorted(first, key=quality.__getitem__, reverse=True)[:FINALISTS]
        for d, setting in product((once, *wider[1:]), finalists):
            other = setting._replace(dimension=d)
            if other not in quality:
                quality[other] = self.quality(other)
        return max(quality, key=lambda one: (quality[one], -one.dimension))

    def quality(self, setting: Setting) -> float:
        """Return the mean NDCG@10 of lists from raw sets."""
        fitted = factorize(
            Incidence.of(self.training), setting, TRIAL_ITERATIONS, self.seed, self.threads
        )
        x = self._folded_in(fitted, setting, self.given)
        V = fitted.items.astype(np.float64)
        return self._ndcg(lambda some: x[some] @ V.T)

    def preference(self, setting: Setting, private: Feature) -> float:
        """Return the beta of the best lists from sets that were thinned as devices do it."""
        feature = self.training.feature(*(name for name, _ in private.parts))
        codes = self.given.feature(*(name for name, _ in private.parts)).codes
        if (feature.counts == 0).any() or not (codes >= 0).any():
            return 0.0
        estimates = CategoryEstimates(tally(self.training, feature))
        odds, p = log_odds(estimates), estimates.probability
        fitted = factorize(
            Incidence.of(self.training), setting, TRIAL_ITERATIONS, self.seed, self.threads
        )
        category = np.maximum(codes, 0).astype(np.intp)
        cell = self.given.item, category[self.given.user]
        ratio = p.min(axis=1)[self.given.item] / np.maximum(p[cell], 1e-12)
        coins = np.random.default_rng(self.seed).random(len(ratio))
        revealed = self.given.select_ratings((coins < ratio) | (codes[self.given.user] < 0))
        x, V = self._folded_in(fitted, setting, revealed), fitted.items.astype(np.float64)
        unit = float((x @ V.T).std(axis=1).mean())
        own = odds.T[category] * (codes >= 0)[:, None]

        def quality(step: float) -> float:
            return self._ndcg(lambda some: x[some] @ V.T + step * unit * own[some])

        return max(STEPS, key=quality) * unit

    def _folded_in(self, fitted: Factored, setting: Setting, given: Ratings) -> Float:
        """Return what the model makes of these sets. Shape (people, d)."""
        w = setting.weight
        target = np.ones(len(given), np.float32)
        prior = prior_precision(fitted.items, fitted.ridge) / w
        rows = given.user_offsets, given.item, target
        x = solve_rows(*rows, fitted.items, ridge=prior, threads=self.threads)
        return x.astype(np.float64)

    def _ndcg(self, scores: Callable[[slice], Float]) -> float:
        given, hidden = (Sets(part.user_offsets, part.item) for part in (self.given, self.hidden))
        return float(np.nanmean(rank_people(scores, given, hidden, self.given.n_items).ndcg))


def freeze_sets(
    factorizer: "Factorizer",
    items: Floats,
    chosen: tuple[Setting, float],
    ridge: float,
    catalogue: Catalogue,
    private: Feature | None,
    statistics: CategoryStatistics | None,
    made: Provenance,
) -> ItemProfiles:
    """Write the fit as item profiles, whose first coordinate is the level that sets lack."""
    (setting, beta), (M, d) = chosen, items.shape
    offset = np.zeros((M, 0))
    if statistics is not None:
        offset = beta * log_odds(CategoryEstimates(statistics, _estimation(factorizer)))
    vectors = np.ones((M, 1 + d), np.float32)
    vectors[:, 1:] = items * catalogue.rated[:, None]
    covariance = np.zeros((1 + d, 1 + d))
    covariance[1:, 1:] = np.linalg.inv(prior_precision(vectors[:, 1:], ridge))
    covariance[0, 0] = TINY * float(np.trace(covariance)) / d
    kept = {**made.configuration, "sets": {**setting._asdict(), "beta": beta}}
    return ItemProfiles(
        item_ids=catalogue.item_ids,
        item_names=catalogue.item_names,
        scale=catalogue.scale,
        vectors=vectors,
        centre=np.zeros(M),
        offset=offset,
        features=private.parts if private else (),
        statistics=statistics,
        noise_variance=1 / setting.weight,
        profile_mean=np.zeros(1 + d),
        profile_covariance=covariance,
        provenance=replace(made, configuration=kept),
    )


def _estimation(factorizer: "Factorizer") -> Estimation:
    return "plain" if factorizer.biases == "plain" else "shrunken"


def _usual(factorizer: "Factorizer") -> Setting:
    usual, given = Setting(*USUAL, factorizer.dimension), factorizer.regularization
    return usual if given == "learned" else usual._replace(ridge=float(given), popular=0.0)


def _require_fitting(factorizer: "Factorizer") -> None:
    """Refuse what graded ratings have, and sets have not."""
    wrong = {
        "method sgd": factorizer.method == "sgd",
        "joint biases": factorizer.biases == "joint",
        "a validation slice": factorizer.validation > 0,
    }
    named = [name for name, there in wrong.items() if there]
    if named:
        raise MidpointError(
            f"unary data is fitted by alternating least squares, without {', '.join(named)}; leave"
            " that out"
        )
