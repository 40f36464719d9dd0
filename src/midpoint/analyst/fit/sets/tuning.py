"""The settings of a fit to sets: those of the best lists (NDCG@10) of held-out people.

These are the weight w, the ridges l and q, the dimension, and beta, which says how much of a
category's preference goes to the score: offset_jk = beta (log odds_jk - their mean over k). For
beta, held-out sets are thinned as devices of Algorithm 2 thin them.
"""

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from midpoint.analyst.categories.estimates import CategoryEstimates
from midpoint.analyst.categories.statistics import tally
from midpoint.analyst.fit.sets.factorization import (
    Factored,
    Float,
    Incidence,
    Setting,
    factorize,
    prior_precision,
)
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.analyst.kernels.ridge import solve_rows
from midpoint.data import Feature, Ratings, hold_out, split_ratings
from midpoint.errors import MidpointError

if TYPE_CHECKING:
    from midpoint.analyst.fit.factorizer import Factorizer

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
