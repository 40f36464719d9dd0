"""The worst that a lying analyst reads within the limits that devices check.

    python -m benchmarks.privacy.liar

The truth is the same for all categories: both rate alike and equally often, so all that is read
comes from false numbers. An optimiser (differential evolution) chooses the numbers of an item so
that two categories' answers are as far apart as `check_numbers` allows; the device's own code makes
the answers. The analyst sees n such items and ranks people by the likelihood ratio, in three
settings: `values` sees n answers and nothing of what is withheld; `fifth` asks about n items, of
which people rated one in five; `all` asks about n items that everyone rated.

Under counterparts the prior can lie as well, with all numbers of items honest: an optimiser chooses
means, maps and strata so that the number of answers alone shows the category (`prior`). Strata are
bounded apart, as if the stratum of everyone were seen, by how many items are asked about: false
rates made them begin ever further apart, and a device now holds them to a factor of two.
"""

import json
from argparse import ArgumentParser
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import differential_evolution
from scipy.stats import norm, qmc

from benchmarks.measuring.measure import RESULTS, options, or_quick
from midpoint.protocol.positions import adjust_population
from midpoint.user import Adjustment, Parameters, check_numbers, obfuscate
from midpoint.wire import (
    GRAIN,
    ONE,
    Disclosure,
    FeatureNames,
    Prior,
    RatingScale,
    RefusedError,
    as_rows,
)
from midpoint.wire.limits import LEAST_REVEAL, LEAST_STRETCH, MOST_STRATUM_RATIO, MOST_STRETCH
from midpoint.wire.positions import DAMPING

Float = NDArray[np.float64]
TRUE = np.array([0.056, 0.107, 0.261, 0.349, 0.227])
"""How all categories rate: the stars of MovieLens 1M."""
ANSWERS = (1, 2, 3, 5, 10, 20, 50)
PEOPLE = 20_000
SPREAD_OF_ACTIVITY = 0.93
"""Standard deviation of the logarithm of how much people rate; MovieLens 1M."""
COINS = qmc.Sobol(4, seed=0).random_base2(10)
ASKED = or_quick((10, 50, 200), (10,))
"""Items asked about, where the number of answers is all that is seen."""
RATED = 0.2
"""Share of them that somebody usual has rated."""
CATALOGUE = 200
"""Items of the service, of which some are asked about."""
CROWD = 1_000
"""People of each category whose answers are counted in a search."""
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
        goal,
        [(0, 1)] * size,
        seed=1,
        maxiter=or_quick(40, 1),
        popsize=6,
        polish=False,
        init="sobol",
    )
    chances = np.clip(seen(outcomes(lie(scheme, tally.x)), setting), 0, 1)
    return {answers: auc(chances, answers) for answers in ANSWERS}


def false_prior(items: int, x: Float) -> Disclosure:
    """Return honest items with a prior of positions from numbers between 0 and 1."""
    least = np.rint(GRAIN * np.exp(4 * x[:2] - 2))
    mean = np.zeros((2, 2, 1)) + (8 * x[2:6].reshape(2, 2, 1) - 4)
    maps = np.ones((2, 2, 2, 1, 1))
    stretch = LEAST_STRETCH * (MOST_STRETCH / LEAST_STRETCH) ** (0.001 + 0.999 * x[6:10])
    maps[:, 0, 1, 0, 0], maps[:, 1, 0, 0, 0] = stretch[:2], stretch[2:]
    alike = np.rint(TRUE * ONE).astype(int)
    alike[2] += ONE - alike.sum()
    prior = Prior(
        least=as_rows(np.array([[0, 0], least])),
        mean=as_rows(mean * ONE),
        precision=as_rows(np.full((2, 2, 1, 1), ONE)),
        map=as_rows(maps * ONE),
        noise=ONE,
    )
    common = round(np.log(RATED / (1 - RATED)) * GRAIN)
    return Disclosure(
        items=tuple(f"item-{j:04d}" for j in range(items)),
        features=(FeatureNames(name="gender", categories=("F", "M")),),
        scale=RatingScale(low=STARS[0], high=STARS[-1], levels=STARS),
        scheme="cmpss",
        levels=((tuple(alike.tolist()),) * 2,) * items,
        rate=((common, common),) * items,
        selection=((round(SPREAD_OF_ACTIVITY * GRAIN),),) * items,
        base=((3 * GRAIN, 3 * GRAIN),) * items,
        taste=((),) * items,
        prior=prior,
    )


def counted(shown: Disclosure, seed: int) -> Float:
    """Return how likely each number of answers is in each category. Shape (2, items + 1)."""
    items, rng = len(shown.items), np.random.default_rng(seed)
    z = np.tile(rng.normal(size=CROWD), 2)
    logit = np.log(RATED / (1 - RATED)) + SPREAD_OF_ACTIVITY * z
    rated = rng.random((2 * CROWD, items)) < 1 / (1 + np.exp(-logit))[:, None]
    person, item = np.nonzero(rated)
    starts = np.append(0, np.cumsum(rated.sum(axis=1)))
    value = np.full(len(item), STARS[2])
    category = np.repeat([0, 1], CROWD)
    done = adjust_population(Parameters.of(shown), starts, item, value, category)
    answers = np.bincount(person[rng.random(len(item)) * ONE < done.reveal], minlength=2 * CROWD)
    return np.stack([np.bincount(part, minlength=items + 1) for part in np.split(answers, 2)])


def auc_of_number(items: int, x: Float, *, limited: bool = True) -> float:
    """Return the AUC of the number of answers, ranked by a ratio that others taught.

    Devices check the whole catalogue. Without `limited` only what they checked before counts: that
    activities at which strata begin are within a factor of two.
    """
    shown = false_prior(items, x)
    try:
        if limited:
            check_numbers(false_prior(CATALOGUE, x))
        elif abs(x[0] - x[1]) > np.log(MOST_STRATUM_RATIO) / 4:
            return 0.5
    except RefusedError:
        return 0.5
    width = max(2.0, items / 40)
    kernel = norm.pdf(np.arange(-3 * width, 3 * width + 1), scale=width)
    known, others = counted(shown, 0), counted(shown, 1)
    smooth = np.array([np.convolve(np.pad(row, 0), kernel, "same")[: items + 1] for row in known])
    smooth += 1e-3
    order = np.argsort(np.log(smooth[0]) - np.log(smooth[1]), kind="stable")
    first, second = others[:, order] / CROWD
    return float((first * (np.cumsum(second) - second / 2)).sum())


def worst_prior(items: int, *, limited: bool, maps: bool = False) -> float:
    """Search for the prior that shows most by the number of answers; return the AUC.

    Means and strata are false, and maps as well if asked for; else these change nothing.
    """
    still = np.log(1 / LEAST_STRETCH) / np.log(MOST_STRETCH / LEAST_STRETCH)
    same = np.full(0 if maps else 4, (still - 0.001) / 0.999)
    tally = differential_evolution(
        lambda x: -auc_of_number(items, np.append(x, same), limited=limited),
        [(0, 1)] * (10 - len(same)),
        seed=1,
        maxiter=or_quick(10, 1),
        popsize=4,
        polish=False,
        init="sobol",
    )
    return -float(tally.fun)


def parted(items: int, strata: int, most: float | None = None) -> float:
    """Return by how much strata begin apart, if rates lie as far as devices take them.

    One category is said to rate all of these items, the other none; a stratum begins at twice the
    activity in the first. With more strata the intervals lie side by side. `most` is the limit on
    numbers of items, where there is one.
    """
    ratio = MOST_STRATUM_RATIO * (items + DAMPING) / DAMPING
    return float(min(ratio, most or np.inf) ** (strata - 1))


def false_strata(ratio: float) -> float:
    """Return the AUC of seeing everyone's stratum, where it begins so much later in one category.

    Activity is about log-normal; the liar lets the strata begin around its median, so that most
    people lie between the two. Of those, the stratum shows the category.
    """
    between = 2 * norm.cdf(np.log(ratio) / 2 / SPREAD_OF_ACTIVITY) - 1
    return float(0.5 + between / 2)


def main() -> None:
    """Print the curve, and keep it."""
    options(ArgumentParser(description=__doc__))
    tally = {
        f"{scheme}, {setting}": worst(scheme, setting)
        for scheme in ("dmpss", "mpssr")
        for setting in ("values", "fifth", "all")
    }
    print("| items |", " | ".join(tally), "|")
    print("|---|" + "---|" * len(tally))
    for answers in ANSWERS:
        print(f"| {answers} |", " | ".join(f"{by[answers]:.3f}" for by in tally.values()), "|")
    ratios = {ratio: false_strata(ratio) for ratio in (1.0, 1.5, MOST_STRATUM_RATIO, 1e6)}
    print("\nFalse strata, by how much later they begin in one category:")
    for ratio, seen in ratios.items():
        print(f"- {ratio:g}: AUC {seen:.3f}")
    priors = {
        "false rates part strata, before": {n: false_strata(parted(n, 4)) for n in ASKED},
        "now": {n: false_strata(parted(n, 2, MOST_STRATUM_RATIO)) for n in ASKED},
        "false means, before": {n: worst_prior(n, limited=False) for n in ASKED},
        "now ": {n: worst_prior(n, limited=True) for n in ASKED},
        "false means and maps, now": {n: worst_prior(n, limited=True, maps=True) for n in ASKED},
    }
    print("\n| asked about |", " | ".join(priors), "|")
    print("|---|" + "---|" * len(priors))
    for n in ASKED:
        print(f"| {n} |", " | ".join(f"{by[n]:.3f}" for by in priors.values()), "|")
    RESULTS.mkdir(exist_ok=True, parents=True)
    kept = {"items": tally, "strata": ratios, "prior": priors}
    (RESULTS / "liar.json").write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
