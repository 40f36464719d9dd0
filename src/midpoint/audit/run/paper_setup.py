"""The experiment of the paper's Sec. 7, to the letter: data, fit, schemes and attackers."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from math import ceil
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from midpoint.analyst import Factorizer, predict
from midpoint.analyst.fit.choice import RAW
from midpoint.analyst.kernels.compilation import usable_cores
from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.attackers.catalogue import PAPER_ATTACKS
from midpoint.audit.attackers.joint import (
    least_squares_errors,
    matched_errors,
    penalized_errors,
    regress,
)
from midpoint.audit.attackers.mechanism import ByCategory
from midpoint.audit.run.curves import ALPHAS
from midpoint.audit.run.plan import GIVEN
from midpoint.audit.run.work import Makers, Work
from midpoint.data import Ratings, Scale, at_least, hold_out, split_ratings, user_folds
from midpoint.errors import MidpointError
from midpoint.protocol import LearningProtocol, Reports, squared_errors

LEAST_RATINGS: Final = 20
"""Ratings that every user gave and every item has (Sec. 7.1, "Datasets")."""
FOLDS: Final = 10
AGREED: Final[Mapping[str, Sequence[Any]]] = MappingProxyType(
    {
        "folds": (FOLDS,),
        "at_least": (LEAST_RATINGS,),
        "given": (GIVEN,),
        "attacks": ("paper", ["paper"], ("paper",)),
    }
)
"""What may be asked for beside the paper's setting, since it says the same."""
SCHEMES: Final = (RAW, "mp", "mpr", "mpss", "mpssr", "ss", "ia", "fa", "ssia", "ssfa")
"""The obfuscation schemes of Sec. 7.1."""
CURVES: Final = ("mpss", "mpssr", "ssia", "ssfa")
"""The schemes of Figure 7."""
PENALIZED: Final = "lse-penalized"
"""Least squares with the penalty of the fit."""
MATCHED: Final = "lse-matched"
"""Least squares with the penalty fitted to the paper's error of raw ratings."""
PENALTIES: Final = (0.02, 0.035, 0.05, 0.07, 0.1)
"""Regularizations to choose from."""
TUNED_BY: Final = 6_000
"""People by whose held-out ratings the regularization is chosen: as many as MovieLens 1M has."""
FIT: Final = Factorizer(dimension=20, method="factors", iterations=20, biases="plain", threads=1)
"""Gradient descent as in Sec. 7.1, on the model of Eq. 1; its regularization is yet to choose."""


def require_no_other(**options: Any) -> None:
    """Refuse what contradicts the paper's setting, and say which; None and False ask for nothing.

    What `AGREED` has are the paper's own.
    """
    given = {
        name: value for name, value in options.items() if value not in (None, False, "", (), [])
    }
    wrong = [name for name, value in given.items() if value not in AGREED.get(name, ())]
    if wrong:
        raise MidpointError(
            f"the paper's setting is fixed, and contradicts {_listed(wrong)}: leave"
            f" {'it' if len(wrong) == 1 else 'them'} out, or audit without it"
        )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(name.replace("_", "-") for name in names)


def paper_people(ratings: Ratings) -> Ratings:
    """Keep users and items with 20 ratings at least (Sec. 7.1, "Datasets")."""
    return at_least(ratings, user_ratings=LEAST_RATINGS, item_ratings=LEAST_RATINGS)


def paper_work(scale: Scale) -> Work:
    """Have the paper's attackers try its schemes, and least squares the points of Figure 7."""

    def known(names: Sequence[str]) -> list[str]:
        every = {name: LearningProtocol(name).scheme for name in names}
        return [name for name in names if scale.is_discrete or not every[name].needs_levels]

    attackers = paper_attackers()
    squares = {name: make for name, make in attackers.items() if name.startswith("lse")}
    points = {
        f"{name}:alpha={alpha:g}": _plain(name, alpha=alpha)
        for name, alpha in product(known(CURVES), ALPHAS)
    }
    whole = Work.of({name: _plain(name) for name in known(SCHEMES)}, attackers)
    return whole | Work.of({RAW: _plain(RAW), **points}, squares)


def _plain(name: str, **settings: Any) -> LearningProtocol:
    return LearningProtocol(name, estimation="plain", estimator="least-squares", **settings)


def paper_attackers() -> Makers:
    """Return the paper's four, least squares three ways."""
    own: Mapping[str, Any] = {
        "lse": partial(ByCategory, "lse", adaptive=False, evidence=least_squares_errors),
        PENALIZED: partial(ByCategory, PENALIZED, adaptive=False, evidence=penalized_errors),
        MATCHED: partial(ByCategory, MATCHED, adaptive=False, evidence=matched_errors),
    }
    learned = {name: ATTACKERS[name] for name in PAPER_ATTACKS if name != "lse"}
    return {**own, **learned}


def tuned(people: Ratings, feature: Sequence[str], seed: int) -> Factorizer:
    """Choose the regularization by how held-out ratings are predicted, in ten further folds.

    They are predicted with the penalty of the fit, which is what is chosen; the dimension is the
    paper's. Of many people the first folds do, until `TUNED_BY` of them were held out once: every
    fit still learns from nine tenths of all.
    """
    folds = min(FOLDS, people.n_users)
    fold_of = user_folds(people.n_users, folds, seed=seed)
    tried = min(folds, ceil(TUNED_BY / (people.n_users / folds)))

    def error(setting: tuple[int, float]) -> float:
        fold, penalty = setting
        training, held_out = hold_out(people, fold_of, fold)
        profiles = replace(FIT, regularization=penalty, seed=seed).fit(training, tuple(feature))
        given, hidden = split_ratings(held_out, 0.7, seed=seed)
        everything = np.arange(len(given))
        shown = Reports(everything, given.user_offsets, given.item, given.value.astype(float))
        guess = regress(profiles, shown, penalty).penalized
        chosen = np.argmin(guess.loss, axis=1)
        x = guess.profile[chosen, np.arange(len(chosen))]
        added = profiles.offset[hidden.item, chosen[hidden.user]]
        predicted = predict(profiles, x, hidden.user, hidden.item, added)
        truth = hidden.value, hidden.user, hidden.n_users
        return float(squared_errors(predicted, *truth).sum())

    settings = list(product(range(tried), PENALTIES))
    with ThreadPoolExecutor(usable_cores()) as pool:
        errors = np.array(list(pool.map(error, settings))).reshape(-1, len(PENALTIES))
    best = PENALTIES[int(errors.sum(axis=0).argmin())]
    return replace(FIT, regularization=best, seed=seed)
