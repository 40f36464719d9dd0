"""Choose dimension and regularization by how well ratings of held-out users are predicted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.fit.als import Regularization
from midpoint.analyst.fit.factorizer import Factorizer
from midpoint.analyst.fit.fold_in import estimate_profiles, predict
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data import Ratings, hold_out, split_ratings, user_folds

DIMENSIONS = (10, 20, 40)
REGULARIZATIONS: tuple[Regularization, ...] = ("learned", 0.03, 0.06, 0.12)


class Trial(NamedTuple):
    """One setting, and how well it did."""

    dimension: int
    """Latent dimensions."""
    regularization: Regularization
    """Regularization."""
    rmse: float
    """Root mean squared error over all held-out users."""
    error: float
    """Standard error of the mean of the folds' errors."""


class Tuning(NamedTuple):
    """What was tried, and what won."""

    trials: tuple[Trial, ...]
    """Every setting."""
    best: Trial
    """The one of least error."""
    factorizer: Factorizer
    """A factorizer with the best setting."""

    def __repr__(self) -> str:
        """Say what won, in one line."""
        return (
            f"<Tuning: of {len(self.trials)} settings dimension {self.best.dimension} with"
            f" regularization {self.best.regularization} was best, RMSE {self.best.rmse:.4f}>"
        )


def tune(
    ratings: Ratings,
    feature: str | Sequence[str] | None,
    factorizer: Factorizer,
    *,
    dimensions: Sequence[int] = DIMENSIONS,
    regularizations: Sequence[Regularization] = REGULARIZATIONS,
    folds: int = 10,
    progress: Callable[[int, int], None] | None = None,
) -> Tuning:
    """Try every setting on held-out users, as the paper does (Sec. 7.1).

    Items are learned from all folds of users but one, and 30 % of the ratings of each user in that
    one are predicted from the other 70 %.
    """
    ridges = [r for r in regularizations if factorizer.method == "als" or r != "learned"]
    settings = list(product(dimensions, ridges))
    folds = min(folds, ratings.n_users)
    fold_of = user_folds(ratings.n_users, folds, seed=factorizer.seed)
    squares = np.zeros((len(settings), folds))
    counts = np.zeros(folds)
    for k in range(folds):
        training, held_out = hold_out(ratings, fold_of, k)
        for s, (dimension, ridge) in enumerate(settings):
            chosen = replace(factorizer, dimension=dimension, regularization=ridge, validation=0.0)
            error = new_user_errors(chosen.fit(training, feature), held_out, seed=factorizer.seed)
            squares[s, k], counts[k] = (error**2).sum(), len(error)
            if progress:
                progress(k * len(settings) + s + 1, folds * len(settings))
    per_fold = np.sqrt(squares / counts)
    total = np.sqrt(squares.sum(axis=1) / counts.sum())
    error = per_fold.std(axis=1, ddof=1) / np.sqrt(folds)
    trials = tuple(
        Trial(*setting, rmse=float(total[s]), error=float(error[s]))
        for s, setting in enumerate(settings)
    )
    best = min(trials, key=lambda trial: trial.rmse)
    winner = replace(factorizer, dimension=best.dimension, regularization=best.regularization)
    return Tuning(trials, best, winner)


def new_user_errors(profiles: ItemProfiles, users: Ratings, *, seed: int) -> NDArray[np.float64]:
    """Predict 30 % of each user's ratings from her other 70 %; return the errors."""
    given, hidden = split_ratings(users, 0.7, seed=seed)
    x = estimate_profiles(profiles, given.user_offsets, given.item, given.value)
    return predict(profiles, x, hidden.user, hidden.item) - hidden.value
