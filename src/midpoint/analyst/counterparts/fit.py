"""Learning positions: profiles and ratings in, profiles with `positions` out."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts import prior as prior_module
from midpoint.analyst.counterparts import rates as rates_module
from midpoint.analyst.counterparts import selection as selection_module
from midpoint.analyst.counterparts.checkpoint import Checkpoint
from midpoint.analyst.counterparts.dimensions import (
    SELECTION_FACTORS,
    fitting_taste_factors,
    require_fitting,
    strata_count,
)
from midpoint.analyst.counterparts.everyone import Expectation, finish_on_everyone
from midpoint.analyst.counterparts.panel import ByUser, Panel
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Model, fit_prior
from midpoint.analyst.counterparts.rates import fit_rates
from midpoint.analyst.counterparts.sample import (
    counted_of_everyone,
    for_a_sample,
    keep_sample,
    load_sample,
    purpose,
    sample_shares,
)
from midpoint.analyst.counterparts.selection import fit_selection
from midpoint.analyst.counterparts.spread import fit_spreads
from midpoint.analyst.counterparts.start import (
    begin,
    begin_sets,
    narrow,
    no_selection,
    with_taste_selection,
)
from midpoint.analyst.counterparts.strata import Strata, fit_strata
from midpoint.analyst.counterparts.weight import learn_weight
from midpoint.analyst.fit.positions import Float, PositionModel, rounded
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.analyst.kernels.compilation import one_blas_thread
from midpoint.data import Feature, Ratings
from midpoint.errors import MidpointError

SHARES: Final = (0.5, 1.0)
"""Positions are learned from this share of each person's ratings, since later users rate less."""
LAST_STEPS: Final = 10
"""Rounds that the last one counts for in the progress, where it is over everyone."""


def fit_positions(
    profiles: ItemProfiles,
    ratings: Ratings,
    *,
    selection_factors: int = SELECTION_FACTORS,
    taste_factors: int | None = None,
    spread: bool = True,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ItemProfiles:
    """Learn the positions of people in each category; return the profiles with `positions`.

    Rates and selection factors are fitted to who rated what. Taste factors are the directions of
    the profiles along which counterparts are farthest apart. Then the prior of positions is fitted
    together with the rates, and once more when they are final, since it lags behind them: for light
    and heavy raters apart. Last comes how far people use the scale (`spread`). Users who rated
    nothing or whose category is not known are left out. What is disclosed of items is rounded
    before anything is learned from it.

    The work is users times items. Where that is over `MOST_CELLS`, see `learn_positions`.

    Args:
        profiles: The item profiles, learned with a private feature on a discrete scale.
        ratings: The ratings they were learned from.
        selection_factors: How many selection factors; 0 where everyone rates everything.
        taste_factors: How many taste factors, at most as many as the profiles have dimensions;
            unless given, `TASTE_FACTORS_OF_CHOICE` with selection factors, `TASTE_FACTORS` without.
        spread: Whether log spreads are learned as well, which `spread=on` discloses.
        seed: Draws what is learned from.
        threads: All usable cores unless given; the result does not depend on it.
        progress: Is called with the rounds done and the rounds to do.
    """
    feature = _check(profiles, ratings)
    return learn_positions(
        profiles,
        ByUser.of(ratings, feature, seed),
        selection_factors=selection_factors,
        taste_factors=taste_factors,
        spread=spread,
        rated=np.diff(ratings.by_item.offsets) > 0,
        seed=seed,
        threads=threads,
        progress=progress,
    )


@one_blas_thread()
def learn_positions(
    profiles: ItemProfiles,
    panel: Panel,
    *,
    selection_factors: int = SELECTION_FACTORS,
    taste_factors: int | None = None,
    spread: bool = True,
    rated: NDArray[np.bool_] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    checkpoint: Path | None = None,
) -> ItemProfiles:
    """Learn positions as `fit_positions` does, from people wherever their ratings are.

    Where people times items are over `MOST_CELLS`, rates, selection and taste factors and a first
    prior are learned from a sample of the people: by their names, hence the same in every engine.
    How often each category rates each item is still counted of everyone, and the prior is that of
    everyone, after a last round over all of them.

    Args:
        profiles: The item profiles, learned with a private feature on a discrete scale.
        panel: The people they were learned from.
        selection_factors: As above.
        taste_factors: As above.
        spread: As above.
        rated: Which items anybody rated; all unless given. Shape (M,).
        seed: As above.
        threads: As above.
        progress: As above.
        checkpoint: Directory for what was found so far; a killed fit goes on from there.
    """
    require_fitting(profiles, selection_factors, taste_factors)
    taste_factors = fitting_taste_factors(profiles, selection_factors, taste_factors)
    unary = profiles.scale.is_unary
    kept = Checkpoint(checkpoint, purpose(profiles, selection_factors, taste_factors, seed))
    shares = sample_shares(profiles)
    sampled = bool((shares < 1).any())
    total = selection_module.ROUNDS + rates_module.ROUNDS if selection_factors else 0
    narrows = taste_factors < profiles.dimension and not unary
    total += prior_module.ROUNDS * (2 if narrows else 1)
    total += LAST_STEPS if sampled else 0
    rounds = count(1)

    def done() -> None:
        if progress:
            progress(next(rounds), total)

    people: People | None = None
    model, strata = load_sample(kept) or (None, None)
    if model is None or strata is None:
        people = panel.take(shares)
        _require_categories(people, profiles)
        model, strata = _fit(
            profiles,
            people,
            (selection_factors, taste_factors),
            np.ones(profiles.n_items, np.bool_) if rated is None else rated,
            seed=seed,
            threads=threads,
            done=done,
            sampled=sampled,
        )
        if sampled:
            people = None  # what is left of memory is for everyone
            keep_sample(kept, model, strata)
    if sampled:

        def report(share: float) -> None:
            if progress:
                progress(total - LAST_STEPS + int(share * LAST_STEPS), total)

        last = Expectation(model, strata, SHARES, threads)
        strata = finish_on_everyone(panel, last, kept, report)
    positions = PositionModel(
        rate=model.rate,
        selection=model.selection if unary else model.selection[:, :selection_factors],
        base=model.base,
        taste=model.taste,
        **strata._asdict(),
        noise_variance=model.noise,
    )
    if unary:
        people = panel.take(shares) if people is None else people
        draws = np.random.default_rng(seed).spawn(6)[5]
        weight = learn_weight(profiles, people, model, strata, draws, threads)
        positions = replace(positions, weight=weight)
    if spread and not unary:
        levels = np.array(profiles.scale.levels, dtype=np.float64)
        people = panel.take(shares) if people is None else people
        spreads = fit_spreads(people, model, strata, levels, threads)
        positions = replace(positions, **spreads._asdict())
    return profiles.with_positions(positions)


@one_blas_thread()
def with_spreads(
    profiles: ItemProfiles, ratings: Ratings, *, threads: int | None = None
) -> ItemProfiles:
    """Learn log spreads for profiles whose positions were learned without them.

    Args:
        profiles: The item profiles, with positions.
        ratings: The ratings they were learned from.
        threads: All usable cores unless given; the result does not depend on it.
    """
    known = profiles.positions
    if known is None or known.spread is not None or profiles.scale.is_unary:
        return profiles
    people = ByUser.of(ratings, _check(profiles, ratings)).take(sample_shares(profiles))
    model = Model(known.rate, known.choosing, known.base, known.taste, known.noise_variance)
    strata = Strata(known.least, known.mean, known.covariance)
    levels = np.array(profiles.scale.levels, dtype=np.float64)
    spreads = fit_spreads(people, model, strata, levels, threads)
    return profiles.with_positions(replace(known, **spreads._asdict()))


def _fit(
    profiles: ItemProfiles,
    people: People,
    factors: tuple[int, int],
    rated: NDArray[np.bool_],
    *,
    seed: int,
    threads: int | None,
    done: Callable[[], None],
    sampled: bool,
) -> tuple[Model, Strata]:
    """Learn all of it from these people; `sampled` if there are more."""
    (selection_factors, taste_factors), items = factors, profiles.n_items
    _, for_start, for_sets, for_prior, for_rates = np.random.default_rng(seed).spawn(5)
    sets = no_selection(profiles)
    if selection_factors:
        thin = people.thinned(*SHARES, for_sets)
        sets = fit_selection(
            thin, items, selection_factors, draws=for_start, threads=threads, done=done
        )
    thin = people.thinned(*SHARES, for_prior)
    weight = np.bincount(thin.item, minlength=items).astype(np.float64)
    everyone = counted_of_everyone(profiles, people, thin)
    people = thin
    if profiles.scale.is_unary:
        model, prior = begin_sets(profiles, sets, weight, taste_factors)
    else:
        model, prior = begin(profiles, sets, rated)
    if sampled:
        model = for_a_sample(model, everyone.times.sum(axis=1), weight)
    if taste_factors < profiles.dimension and not profiles.scale.is_unary:
        wide = fit_prior(people, model, prior, threads, done)
        model, prior = narrow(people, model, prior, wide, weight, taste_factors)
    model = model._replace(base=rounded(model.base), taste=rounded(model.taste))
    position: Float | None = None
    if selection_factors:
        start = model, prior
        if not profiles.scale.is_unary:
            start = with_taste_selection(model, prior, weight)
        model, prior, position = fit_rates(people, *start, everyone, for_rates, threads, done)
    strata = strata_count(people, prior) if selection_factors else 1
    return model, fit_strata(people, model, prior, strata, threads, done, position)


def _check(profiles: ItemProfiles, ratings: Ratings) -> Feature:
    """Return the feature, or say why these are not the ratings of the profiles."""
    if not profiles.features:
        raise MidpointError(
            "positions need a private feature, and the profiles have none; name one to train"
        )
    if not np.array_equal(profiles.item_ids, ratings.item_ids):
        raise MidpointError(
            f"{ratings.name} has other items than the profiles; give the ratings they were"
            " learned from"
        )
    feature = ratings.feature(*(name for name, _ in profiles.features))
    if feature.parts != profiles.features:
        raise MidpointError(
            f"feature {feature.name!r} of {ratings.name} has other categories than the profiles;"
            " give the ratings they were learned from"
        )
    return feature


def _require_categories(people: People, profiles: ItemProfiles) -> None:
    present = int((people.sizes > 0).sum())
    if present < 2:
        raise MidpointError(
            f"feature {profiles.feature!r} has people with ratings in {present} category only;"
            " protecting it needs at least two"
        )
