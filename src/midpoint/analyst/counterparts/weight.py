"""For sets: the weight in an item's score of the probability that the person has the item.

The analyst scores items from what she reveals. Her device knows all that she gave, the withheld
items included, and its estimate of her position says how likely she has each item: p_jk(t). It
adds weight x p_jk(t) to the score. The weight is that of the best lists (NDCG@10) of people of the
panel: a part of each set is given and withheld as devices do, the rest is looked for.
"""

from typing import Final

import numpy as np
from scipy.special import expit

from midpoint.analyst.counterparts.everyone import cells_of
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Finder, Model
from midpoint.analyst.counterparts.strata import Strata, activity_of, stratum_of
from midpoint.analyst.fit.fold_in import estimate_profiles
from midpoint.analyst.fit.positions import Float, transports
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.kernels.ranking import Sets, rank_people
from midpoint.wire import ONE
from midpoint.wire.limits import LEAST_REVEAL
from midpoint.wire.positions import STEPS

CANDIDATES: Final = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Weights that are tried, each times the confidence weight w of an item in a set."""
GIVEN: Final = 0.7
"""Share of a set that is given."""
FEWEST, MOST = 20, 1_000
"""How many people weights are tried on at least, and at most."""


def learn_weight(
    profiles: ItemProfiles,
    people: People,
    model: Model,
    strata: Strata,
    draws: np.random.Generator,
    threads: int | None,
) -> float | None:
    """Return the weight of the best lists; None where it is 0, or people are too few to say.

    Args:
        profiles: The item profiles.
        people: Who has what, with their categories.
        model: What is known of the items.
        strata: The prior of positions.
        draws: Draws people, what of their sets is given, and coins.
        threads: All usable cores unless given.
    """
    given, hidden = _split(people, strata, model, draws)
    if len(given) < FEWEST:
        return None
    G = len(strata.mean)
    prior, wide = cells_of(strata), model.in_strata(G)
    start = prior.mean[given.category]
    finder = Finder(given, wide, threads)
    position = finder.locate(wide.rate, prior, start, STEPS).position
    coins = draws.random(len(given.item))
    revealed = given.select(coins < reveal_probability(given, position, model, strata))
    rows = revealed.offsets, revealed.item, revealed.value
    x = estimate_profiles(profiles, *rows, threads=threads)
    vectors, category = profiles.vectors.T.astype(np.float64), given.category // G
    left_out, wanted = (Sets(part.offsets, part.item) for part in (given, hidden))

    def quality(weight: float) -> float:
        def scores(some: slice) -> Float:
            k = category[some]
            own = expit(model.rate.T[k] + position[some] @ model.selection.T)
            return np.asarray(x[some] @ vectors + profiles.offset.T[k] + weight * own)

        return float(np.nanmean(rank_people(scores, left_out, wanted, profiles.n_items).ndcg))

    return max((step / profiles.noise_variance for step in CANDIDATES), key=quality) or None


def reveal_probability(people: People, position: Float, model: Model, strata: Strata) -> Float:
    """Return min_m p_jm / p_jk at everyone's counterparts, as devices compute it. (ratings,)."""
    G, K = strata.mean.shape[:2]
    others = np.empty((len(people), K, position.shape[1]))
    for cell, (begin, end) in enumerate(zip(people.bounds[:-1], people.bounds[1:], strict=True)):
        k, g = divmod(cell, G)
        away = position[begin:end] - strata.mean[g, k]
        maps = transports(strata.covariance[g])[k]
        others[begin:end] = strata.mean[g] + np.einsum("mde,ne->nmd", maps, away)
    person, cell = people.person, people.category // G
    factors = model.selection[people.item]
    p = np.stack(
        [
            expit(model.rate[people.item, m] + np.einsum("nd,nd->n", factors, others[person, m]))
            for m in range(K)
        ]
    )
    own = p[cell[person], np.arange(len(person))]
    return np.asarray(np.maximum(p.min(axis=0) / own, LEAST_REVEAL / ONE))


def _split(
    people: People, strata: Strata, model: Model, draws: np.random.Generator
) -> tuple[People, People]:
    """Draw people with several items, in the order of cells, and cut their sets in two."""
    G, K = strata.mean.shape[:2]
    several = np.flatnonzero(np.diff(people.offsets) > 1)
    chosen = draws.permutation(several)[:MOST]
    count, k = np.diff(people.offsets)[chosen], people.category[chosen]
    activity = activity_of(np.rint(GIVEN * count).astype(np.int64), k, model.rate)
    cell = k * G + stratum_of(activity, k, strata.least)
    order = np.argsort(cell, kind="stable")
    bounds = np.searchsorted(cell[order], np.arange(K * G + 1))
    some = people.in_order(chosen[order], bounds)
    rank = np.lexsort((draws.random(len(some.item)), some.person))
    nth = np.empty(len(rank), dtype=np.int64)
    nth[rank] = np.arange(len(rank))
    nth -= some.offsets[:-1][some.person]
    size = np.diff(some.offsets)
    kept = nth < np.clip(np.rint(GIVEN * size), 1, size - 1)[some.person]
    return some.select(kept), some.select(~kept)
