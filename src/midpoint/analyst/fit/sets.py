"""Unary data: item profiles from sets of items, by alternating least squares with confidence.

Hu, Koren and Volinsky (2008), in the form of Rendle et al. (2022): an item of a person's set is to
have the score 1, and counts w; that of every item is to be 0, and counts 1, since an item that is
not in her set may be unknown to her,

    w sum_{ij in sets} (1 - <x_i, v_j>)^2 + sum_ij <x_i, v_j>^2
        + l (sum_i |x_i|^2 + sum_j |v_j|^2).

Each side is a ridge regression given the other. With G = sum_j v_j v_j' over all items, which is
the same for everybody, the normal equations of person i over the items R of her set are

    (G + l I + w sum_R v_j v_j') x_i = w sum_R v_j,

those of ratings 1 under the prior precision G + l I, each with noise variance 1/w. So the compiled
regressions of graded ratings solve them, and item profiles with

    centre = 0,   noise variance 1/w,   prior mean 0,   prior covariance (G + l I)^-1

fold new people in, wherever graded ratings are known, as this model does. The score of an
item is <x, v_j>, about 1 for what she surely has.

What a category prefers goes to the score: offset_jk = beta (log odds_jk - their mean over k). The
weight w, the ridge l, the number of dimensions and beta are those of the best lists (NDCG@10) of
people who were held out, their sets thinned as devices of Algorithm 2 do for beta.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.categories.estimates import CategoryEstimates, Estimation
from midpoint.analyst.categories.statistics import CategoryStatistics, tally
from midpoint.analyst.fit.assembly import Catalogue, provenance
from midpoint.analyst.fit.profiles import ItemProfiles, Provenance
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.analyst.kernels.ridge import solve_rows
from midpoint.data import Feature, Ratings, hold_out, split_ratings
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst.fit.factorizer import Factorizer

Float = NDArray[np.float64]
Floats = NDArray[np.float32]
CANDIDATES: Final = ((1.0, 0.1), (2.0, 0.1), (2.0, 0.3), (4.0, 0.3), (8.0, 1.0))
"""Weights w, and ridges as a share of the items that a person has on average, that are tried."""
USUAL: Final = (2.0, 0.3)
"""What is taken where people are too few to try."""
TRIAL_ITERATIONS: Final = 8
"""Iterations of a fit that is tried; more change little."""
HELD_OUT, FEWEST, MOST = 0.1, 20, 1_000
"""Share of the people that settings are tried on; how many they are at least, and at most."""
STEPS: Final = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Candidates of beta, in standard deviations of a person's scores per unit of log odds."""
TINY: Final = 1e-6
"""Variance of the level, which sets do not have, beside that of a latent coordinate."""


class Setting(NamedTuple):
    """How sets are factorized."""

    weight: float
    """w: how much more an item of a set counts than another."""
    ridge: float
    """l, as a share of the items that a person has on average."""
    dimension: int
    """Latent dimensions."""


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
) -> tuple[ItemProfiles, Float]:
    """Learn item profiles from sets, and return the training people's as well. Shape (users, D)."""
    _require_fitting(factorizer)
    trial = _Trial.of(factorizer, ratings)
    chosen = _usual(factorizer) if trial is None else trial.best(factorizer)
    fitted = factorize(
        ratings, chosen, factorizer.iterations, factorizer.seed, factorizer.threads, progress
    )
    beta, offset = 0.0, np.zeros((ratings.n_items, 0))
    if private is not None and statistics is not None:
        if trial is not None:
            beta = trial.preference(chosen, private)
        odds = log_odds(CategoryEstimates(statistics, _estimation(factorizer)))
        offset = beta * odds
    rated = np.diff(ratings.by_item.offsets) > 0
    catalogue = Catalogue(ratings.item_ids, ratings.item_names, rated, ratings.scale)
    made = provenance(factorizer, ratings.name, ratings.digest, factorizer.iterations)
    kept = {**made.configuration, "sets": {**chosen._asdict(), "beta": beta}}
    made = replace(made, configuration=kept)
    profiles = _frozen(catalogue, fitted, chosen.weight, private, statistics, offset, made)
    level = np.zeros((len(fitted.users), 1))
    return profiles, np.hstack([level, fitted.users.astype(np.float64)])


def factorize(
    ratings: Ratings,
    setting: Setting,
    iterations: int,
    seed: int,
    threads: int | None,
    progress: Callable[[int, int], None] | None = None,
) -> Factored:
    """Alternate between people and items; see above."""
    d, w = setting.dimension, setting.weight
    ridge = setting.ridge * len(ratings) / max(ratings.n_users, 1)
    by_item, target = ratings.by_item, np.ones(len(ratings), np.float32)
    user = ratings.user[by_item.order]
    start = np.random.default_rng(seed).normal(0, d**-0.5, (ratings.n_items, d))
    items = start.astype(np.float32)
    for k in range(iterations):
        prior = prior_precision(items, ridge) / w
        users = solve_rows(
            ratings.user_offsets, ratings.item, target, items, ridge=prior, threads=threads
        )
        prior = prior_precision(users, ridge) / w
        items = solve_rows(by_item.offsets, user, target, users, ridge=prior, threads=threads)
        if progress:
            progress(k + 1, iterations)
    users = solve_rows(
        ratings.user_offsets,
        ratings.item,
        target,
        items,
        ridge=prior_precision(items, ridge) / w,
        threads=threads,
    )
    return Factored(users, items, ridge)


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
    """Of the held-out people, what lists are made from."""
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
        """Return the setting of the best lists: weight and ridge first, then the dimension."""
        learned = factorizer.regularization == "learned"
        widest = factorizer.dimension * (2 if learned else 1)
        widest = min(widest, max(min(self.training.n_items, self.training.n_users) // 2, 1))
        given = None if learned else float(factorizer.regularization)
        pairs = dict.fromkeys((w, r if given is None else given) for w, r in CANDIDATES)
        settings = [Setting(w, ridge, widest) for w, ridge in pairs]
        quality = {setting: self.quality(setting) for setting in settings}
        best = max(settings, key=quality.__getitem__)
        narrow = best._replace(dimension=min(factorizer.dimension, widest))
        if narrow != best and self.quality(narrow) >= quality[best]:
            return narrow
        return best

    def quality(self, setting: Setting) -> float:
        """Return the mean NDCG@10 of lists from raw sets."""
        fitted = factorize(self.training, setting, TRIAL_ITERATIONS, self.seed, self.threads)
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
        fitted = factorize(self.training, setting, TRIAL_ITERATIONS, self.seed, self.threads)
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


def _frozen(
    catalogue: Catalogue,
    fitted: Factored,
    weight: float,
    private: Feature | None,
    statistics: CategoryStatistics | None,
    offset: Float,
    made: Provenance,
) -> ItemProfiles:
    """Write the fit as item profiles, whose first coordinate is the level that sets lack."""
    M, d = fitted.items.shape
    vectors = np.ones((M, 1 + d), np.float32)
    vectors[:, 1:] = fitted.items * catalogue.rated[:, None]
    covariance = np.zeros((1 + d, 1 + d))
    covariance[1:, 1:] = np.linalg.inv(prior_precision(vectors[:, 1:], fitted.ridge))
    covariance[0, 0] = TINY * float(np.trace(covariance)) / d
    return ItemProfiles(
        item_ids=catalogue.item_ids,
        item_names=catalogue.item_names,
        scale=catalogue.scale,
        vectors=vectors,
        centre=np.zeros(M),
        offset=offset,
        features=private.parts if private else (),
        statistics=statistics,
        noise_variance=1 / weight,
        profile_mean=np.zeros(1 + d),
        profile_covariance=covariance,
        provenance=made,
    )


def _estimation(factorizer: "Factorizer") -> Estimation:
    return "plain" if factorizer.biases == "plain" else "shrunken"


def _usual(factorizer: "Factorizer") -> Setting:
    weight, ridge = USUAL
    given = factorizer.regularization
    return Setting(weight, ridge if given == "learned" else float(given), factorizer.dimension)


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
