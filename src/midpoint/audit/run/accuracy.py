"""What a protocol costs: the error of predictions, three ways, and what is withheld."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst import predict
from midpoint.audit.attackers.joint import JointFit, infer, joint_fit, regressions
from midpoint.audit.attackers.view import View
from midpoint.audit.run.folds import FoldData, population
from midpoint.audit.run.views import held_out_coins
from midpoint.protocol import LearningProtocol, bits_per_item, squared_errors

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

    def stored(self) -> dict[str, Any]:
        """Return what is there, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def measure(fold: FoldData, view: View, name: str, how: LearningProtocol) -> Accuracy:
    """Predict the hidden ratings of the held-out users from what their devices sent."""
    profiles, hidden = view.profiles, fold.hidden
    rows = hidden.user, hidden.item
    if fold.plan.paper:
        fits = regressions(view)
        blind, fitted = fits.blind, fits.minimum_norm
    else:
        blind = how.estimate(profiles, view.reports, view.disclosure)
        fitted = joint_fit(profiles, view.reports)
    people, coins = population(fold.given, fold.plan), held_out_coins(fold, name)
    local = how.predictions(view.disclosure, profiles, people, coins, blind, *rows)

    def inferred(fit: JointFit) -> Float:
        guess, x = infer(profiles, view.reports, fit)
        return predict(profiles, x, *rows, profiles.offset[hidden.item, guess[hidden.user]])

    def squares(shown: Float) -> Float:
        return squared_errors(shown, hidden.value, hidden.user, hidden.n_users)

    return Accuracy(
        given=np.diff(fold.given.user_offsets),
        kept=_revealed(view),
        hidden=np.diff(hidden.user_offsets),
        inferred=squares(inferred(fitted)),
        blind=squares(predict(profiles, blind, *rows)),
        local=squares(local),
        bits=bits_per_item(view.disclosure),
        penalized=squares(inferred(fits.penalized)) if fold.plan.paper else None,
    )


def _revealed(view: View) -> NDArray[np.int64]:
    """Count each user's ratings that were revealed, without what a tool made up for her."""
    made_up = view.reports.kept < 0
    if not made_up.any():
        return np.diff(view.reports.user_offsets)
    return view.counts - np.bincount(view.user[made_up], minlength=view.n_users)
