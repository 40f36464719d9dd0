"""The worst that a lying analyst reads within the limits that devices check.

    python benchmarks/liar.py

The truth is the same for all categories: both rate alike and equally often, so all that is read
comes from false numbers. An optimiser (differential evolution) chooses the numbers of an item so
that two categories' answers are as far apart as `check_numbers` allows; the device's own code makes
the answers. The analyst sees n such items and ranks people by the likelihood ratio, in three
settings: `values` sees n answers and nothing of what is withheld; `fifth` asks about n items, of
which people rated one in five; `all` asks about n items that everyone rated. False strata are
bounded apart: as if the stratum of everyone were seen.
"""

import json
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import differential_evolution
from scipy.stats import norm, qmc

from measure import RESULTS
from midpoint.user import Adjustment, Parameters, check_numbers, obfuscate
from midpoint.wire import ONE, Disclosure, FeatureNames, RatingScale, RefusedError
from midpoint.wire.limits import LEAST_REVEAL, MOST_STRATUM_RATIO

Float = NDArray[np.float64]
TRUE = np.array([0.056, 0.107, 0.261, 0.349, 0.227])
"""How all categories rate: the stars of MovieLens 1M."""
ANSWERS = (1, 2, 3, 5, 10, 20, 50)
PEOPLE = 20_000
SPREAD_OF_ACTIVITY = 0.93
"""Standard deviation of the logarithm of how much people rate; MovieLens 1M."""
COINS = qmc.Sobol(4, seed=0).random_base2(10)
STARS = tuple(star * ONE for star in range(1, 6))


def lie(scheme: str, x: Float) -> Disclosure:
    """Return a disclosure of one item, from numbers between 0 and 1."""
    row = {"reveal": ((ONE, max(LEAST_REVEAL, round(float(x[-1]) * ONE))),)}
    if scheme == "mpssr":
        half = round((float(x[0]) - 0.5) * 4 * ONE)
        return _disclosure(scheme, offset=((half, -half),), **row)
    masses = x[:10].reshape(2, 5) ** 4 + 1e-9
    masses = np.rint(masses / masses.sum(axis=1, keepdims=True) * ONE).astype(int)
    masses[:, 2] += ONE - masses.sum(axis=1)
    return _disclosure(scheme, levels=(tuple(map(tuple, masses.tolist())),), **row)


def _disclosure(scheme: str, **columns: object) -> Disclosure:
    return Disclosure.model_validate(
        {
            "items": ("item",),
            "features": (FeatureNames(name="gender", categories=("F", "M")),),
            "scale": RatingScale(low=STARS[0], high=STARS[-1], levels=STARS),
            "scheme": scheme,
            **columns,
        }
    )


def outcomes(disclosure: Disclosure) -> Float:
    """Return how likely each category withholds, or answers 1 to 5 stars. Shape (2, 6)."""
    parameters = Parameters.of(disclosure)
    n = len(COINS)
    tally = np.zeros((2, 6))
    for cell in (0, 1):
        reveal = np.full(n, disclosure.reveal[0][cell] if disclosure.reveal else ONE)
        adjustment = Adjustment(reveal, np.zeros(n, np.int64), np.zeros(0, np.int64))
        for star, share in zip(STARS, TRUE, strict=True):
            item, value = np.zeros(n, np.intp), np.full(n, star)
            answer = obfuscate(item, value, cell, parameters, COINS, adjustment)
            level = np.where(answer.keep, answer.value // ONE, 0)
            tally[cell] += share * np.bincount(level, minlength=6) / n
    return tally


def seen(chances: Float, setting: str) -> Float:
    """Return what the analyst sees of one item in a setting. Shape (2, 6)."""
    rated = {"values": 1.0, "fifth": 0.2, "all": 1.0}[setting]
    kept = rated * chances[:, 1:]
    if setting == "values":
        kept = kept / kept.sum(axis=1, keepdims=True)
    return np.column_stack([1 - kept.sum(axis=1), kept])


def closeness(scheme: str, setting: str, x: Float) -> float:
    """Return how alike the categories' answers are (Bhattacharyya); 1 beyond the limits."""
    try:
        shown = lie(scheme, x)
        check_numbers(shown)
    except RefusedError:
        return 1.0
    first, second = np.clip(seen(outcomes(shown), setting), 0, 1)
    return float(np.sqrt(first * second).sum())


def auc(chances: Float, answers: int, seed: int = 0) -> float:
    """Return the AUC of the likelihood ratio after so many answers."""
    rng = np.random.default_rng(seed)
    ratio = np.log(chances[0] + 1e-12) - np.log(chances[1] + 1e-12)
    scores = [rng.multinomial(answers, row / row.sum(), size=PEOPLE) @ ratio for row in chances]
    ranks = np.searchsorted(np.sort(scores[1]), scores[0], side="left")
    ties = np.searchsorted(np.sort(scores[1]), scores[0], side="right")
    return float((ranks + ties).mean() / 2 / PEOPLE)


def worst(scheme: str, setting: str) -> dict[int, float]:
    """Search for the worst numbers of a scheme; return the AUC by number of items."""
    size = 2 if scheme == "mpssr" else 11
    goal = partial(closeness, scheme, setting)
    tally = differential_evolution(
        goal, [(0, 1)] * size, seed=1, maxiter=40, popsize=6, polish=False, init="sobol"
    )
    chances = np.clip(seen(outcomes(lie(scheme, tally.x)), setting), 0, 1)
    return {answers: auc(chances, answers) for answers in ANSWERS}


def false_strata(ratio: float) -> float:
    """Return the AUC of seeing everyone's stratum, where it begins so much later in one category.

    Activity is about log-normal; the liar lets the strata begin around its median, so that most
    people lie between the two. Of those, the stratum shows the category.
    """
    between = 2 * norm.cdf(np.log(ratio) / 2 / SPREAD_OF_ACTIVITY) - 1
    return float(0.5 + between / 2)


def main() -> None:
    """Print the curve, and keep it."""
    tally = {
        f"{scheme}, {setting}": worst(scheme, setting)
        for scheme in ("dmpss", "mpssr")
        for setting in ("values", "fifth", "all")
    }
    print("| items |", " | ".join(tally), "|")
    print("|---|" + "---|" * len(tally))
    for answers in ANSWERS:
        print(f"| {answers} |", " | ".join(f"{by[answers]:.3f}" for by in tally.values()), "|")
    strata = {ratio: false_strata(ratio) for ratio in (1.0, 1.5, MOST_STRATUM_RATIO, 1e6)}
    print("\nFalse strata, by how much later they begin in one category:")
    for ratio, seen in strata.items():
        print(f"- {ratio:g}: AUC {seen:.3f}")
    RESULTS.mkdir(exist_ok=True)
    kept = {"items": tally, "strata": strata}
    (RESULTS / "liar.json").write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
