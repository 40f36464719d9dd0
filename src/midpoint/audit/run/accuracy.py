"""What a protocol costs: the error of predictions, three ways, and what is withheld."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import predict
from midpoint.analyst.fit.choice import RAW
from midpoint.analyst.kernels.ranking import Ranked, Sets, rank_people
from midpoint.audit.attackers.joint import JointFit, infer, joint_fit, regressions
from midpoint.audit.attackers.view import View
from midpoint.audit.run.folds import FoldData, population
from midpoint.audit.run.views import held_out_coins
from midpoint.protocol import LearningProtocol, bits_per_item, squared_errors
from midpoint.protocol.population import local_scores

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Accuracy:
    """What one protocol does to the held-out users of one fold."""

    given: NDArray[np.int64]
    """Ratings that each user gave to her device. Shape (users,)."""
    kept: NDArray[np.int64]
    """Ratings that her device revealed. Shape (users,)."""
    hidden: NDArray[np.int64]
    """Ratings of hers to predict. Shape (users,)."""
    inferred: Float
    """Sum of squared errors of predictions with the inferred category. Shape (users,)."""
    blind: Float
    """The same with no category. Shape (users,)."""
    local: Float
    """The same with her own category, added on her device. Shape (users,)."""
    bits: float
    """Bits disclosed of an item."""
    penalized: Float | None = None
    """In the paper's setting: as `inferred`, with the penalty of the fit. Shape (users,)."""
    ndcg: Float | None = None
    """NDCG@10 of her list as her device ranks it; NaN where she liked nothing that is to be
    predicted. This and the rest are absent in the paper's setting. Shape (users,)."""
    recall: Float | None = None
    """Recall@20 of that list. Shape (users,)."""
    mrr: Float | None = None
    """One over the rank of the first item that she liked. Shape (users,)."""
    alone: NDArray[np.int64] | None = None
    """Items among her first ten that nobody else of the fold has there. Shape (users,)."""
    coverage: float | None = None
    """Share of all items that somebody of the fold has among her first ten."""
    ndcg_inferred: Float | None = None
    """Of raw ratings: NDCG@10 with the inferred category. Shape (users,)."""
    matched: Float | None = None
    """And with the penalty fitted to the paper's error. Shape (users,)."""

    def stored(self) -> dict[str, Any]:
        """Return what is there, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def measure(fold: FoldData, view: View, name: str, protocol: LearningProtocol) -> Accuracy:
    """Predict the hidden ratings of the held-out users from what their devices sent."""
    profiles, hidden = view.profiles, fold.hidden
    rows = hidden.user, hidden.item
    if fold.plan.paper:
        fits = regressions(view)
        blind, fitted = fits.blind, fits.minimum_norm
    else:
        blind = protocol.estimate(profiles, view.reports, view.disclosure)
        fitted = joint_fit(profiles, view.reports)
    people, coins = population(fold.given, fold.plan), held_out_coins(fold, name)
    local = protocol.predictions(
        view.disclosure, profiles, people, coins, view.reports, blind, *rows
    )

    def inferred(fit: JointFit) -> Float:
        guess, x = infer(profiles, view.reports, fit)
        return predict(profiles, x, *rows, profiles.offset[hidden.item, guess[hidden.user]])

    def squares(shown: Float) -> Float:
        return squared_errors(shown, hidden.value, hidden.user, hidden.n_users)

    def lists() -> dict[str, Any]:
        """Rank as devices do; of raw ratings also as the analyst could, by what it infers."""
        moves = protocol.moves(view.disclosure, profiles, people, coins, view.reports)
        own = local_scores(view.disclosure, profiles, blind, fold.category, moves)
        shown = _rank(fold, own)
        ranked = _stored(shown, profiles.n_items)
        if protocol.name == RAW and profiles.offset.shape[1]:
            guess, x = infer(profiles, view.reports, fitted)
            level, vectors = profiles.centre + profiles.offset.T, profiles.vectors.T.astype(float)
            guessed = _rank(fold, lambda some: level[guess[some]] + x[some] @ vectors)
            ranked["ndcg_inferred"] = guessed.ndcg
        return ranked

    return Accuracy(
        **({} if fold.plan.paper else lists()),
        given=np.diff(fold.given.user_offsets),
        kept=_revealed(view),
        hidden=np.diff(hidden.user_offsets),
        inferred=squares(inferred(fitted)),
        blind=squares(predict(profiles, blind, *rows)),
        local=squares(local),
        bits=bits_per_item(view.disclosure),
        penalized=squares(inferred(fits.penalized)) if fold.plan.paper else None,
        matched=squares(inferred(fits.matched)) if fold.plan.paper else None,
    )


def _rank(fold: FoldData, scores: Callable[[slice], Float]) -> Ranked:
    """Rank all items that a person did not give, and look for those that she liked."""
    given, hidden = fold.given, fold.hidden
    liked = hidden.select_ratings(hidden.value >= np.float32(hidden.scale.liked))
    rated, wanted = (Sets(part.user_offsets, part.item) for part in (given, liked))
    return rank_people(scores, rated, wanted, given.n_items)


def _stored(ranked: Ranked, n_items: int) -> dict[str, Any]:
    """Return what is kept of everyone's list."""
    shown = ranked.first >= 0
    how_often = np.bincount(ranked.first[shown], minlength=n_items)
    alone = (shown & (how_often[np.maximum(ranked.first, 0)] == 1)).sum(axis=1)
    return {
        "ndcg": ranked.ndcg,
        "recall": ranked.recall,
        "mrr": ranked.mrr,
        "alone": alone,
        "coverage": float((how_often > 0).mean()),
    }


def _revealed(view: View) -> NDArray[np.int64]:
    """Count each user's ratings that were revealed, without what a tool made up for her."""
    made_up = view.reports.kept < 0
    if not made_up.any():
        return np.diff(view.reports.user_offsets)
    return view.counts - np.bincount(view.user[made_up], minlength=view.n_users)
