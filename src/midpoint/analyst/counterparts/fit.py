"""Learning positions: profiles and ratings in, profiles with `positions` out."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from itertools import count
from math import isqrt
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts import prior as prior_module
from midpoint.analyst.counterparts import rates as rates_module
from midpoint.analyst.counterparts import selection as selection_module
from midpoint.analyst.counterparts.checkpoint import Checkpoint
from midpoint.analyst.counterparts.everyone import Expectation, draw_items, finish_on_everyone
from midpoint.analyst.counterparts.panel import ByUser, Panel
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Drawn, Model, Prior, fit_prior
from midpoint.analyst.counterparts.rates import Sampled, fit_rates
from midpoint.analyst.counterparts.selection import SelectionModel, fit_selection
from midpoint.analyst.counterparts.spread import fit_spreads
from midpoint.analyst.counterparts.strata import Strata, fit_strata
from midpoint.analyst.counterparts.weight import learn_weight
from midpoint.analyst.fit.positions import Float, PositionModel, rounded, transports
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data import Feature, Ratings
from midpoint.errors import MidpointError
from midpoint.wire.positions import MOST_DIMENSIONS, MOST_NUMBERS

SELECTION_FACTORS: Final = 4
"""Selection factors, unless given."""
TASTE_FACTORS: Final = 10
"""Taste factors, unless given, where everyone rates everything: more of them hide no more."""
TASTE_FACTORS_OF_CHOICE: Final = 20
"""Taste factors, unless given, where people choose what they rate: by more than values show."""
FACTORS_OF_SETS: Final = 36
"""Directions of the profiles that become selection factors of sets, unless given: with 20 of 40,
women's and men's sets still differed in the others on MovieLens 1M (AUC 0.56, not 0.54)."""
STRATA: Final = 2
"""Strata of activity: light raters choose otherwise than heavy ones, and not only less."""
PEOPLE_FOR_STRATA: Final = 300
"""People of every category from which on there are strata; measured down to 380."""
FIRST_SELECTION_VARIANCE: Final = 0.1
"""Variance that a taste factor starts with in what people rate, as log odds."""
SHARES: Final = (0.5, 1.0)
"""Positions are learned from this share of each person's ratings, since later users rate less."""
MOST_CELLS: Final = 40_000_000
"""People times items that items are learned from; of more people a sample is drawn."""
LEAST_SAMPLE, MOST_SAMPLE = 4_000, 100_000
"""A sample has at least so many people, however many items there are, and at most so many."""
LEAST_OF_CATEGORY: Final = 1_000
"""A sample has at least so many of each category, or all of it."""
SAMPLE: Final = "sample"
"""What a checkpoint calls that which was learned from a sample."""
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
    _require_fitting(profiles, selection_factors, taste_factors)
    taste_factors = _fitting(profiles, selection_factors, taste_factors)
    unary = profiles.scale.is_unary
    kept = Checkpoint(checkpoint, _purpose(profiles, selection_factors, taste_factors, seed))
    shares = _shares(profiles)
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
    model, strata = _load(kept) or (None, None)
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
            _keep(kept, model, strata)
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
    people = ByUser.of(ratings, _check(profiles, ratings)).take(_shares(profiles))
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
    sets = _no_selection(profiles)
    if selection_factors:
        thin = people.thinned(*SHARES, for_sets)
        sets = fit_selection(
            thin, items, selection_factors, draws=for_start, threads=threads, done=done
        )
    thin = people.thinned(*SHARES, for_prior)
    weight = np.bincount(thin.item, minlength=items).astype(np.float64)
    everyone = _everyone(profiles, people, thin) if sampled else None
    people = thin
    if profiles.scale.is_unary:
        model, prior = _begin_sets(profiles, sets, weight, taste_factors)
    else:
        model, prior = _begin(profiles, sets, rated)
    if everyone is not None:
        model = _for_a_sample(model, everyone.times.sum(axis=1), weight)
    if taste_factors < profiles.dimension and not profiles.scale.is_unary:
        wide = fit_prior(people, model, prior, threads, done)
        model, prior = _narrow(people, model, prior, wide, weight, taste_factors)
    model = model._replace(base=rounded(model.base), taste=rounded(model.taste))
    position: Float | None = None
    if selection_factors:
        start = model, prior
        if not profiles.scale.is_unary:
            start = _with_taste_selection(model, prior, weight)
        model, prior, position = fit_rates(people, *start, for_rates, threads, done, everyone)
    strata = _strata(people, prior) if selection_factors else 1
    return model, fit_strata(people, model, prior, strata, threads, done, position)


def _shares(profiles: ItemProfiles) -> Float:
    """Return the share of each category that items are learned from. Shape (K,)."""
    statistics = profiles.statistics
    if statistics is None:
        raise MidpointError("the profiles do not say how many people there are; train them again")
    users = statistics.users
    if users.sum() * profiles.n_items <= MOST_CELLS or users.sum() <= LEAST_SAMPLE:
        return np.ones(len(users))
    most = min(max(MOST_CELLS // profiles.n_items, LEAST_SAMPLE), MOST_SAMPLE)
    least = LEAST_OF_CATEGORY / np.maximum(users, 1)
    return np.asarray(np.clip(np.maximum(most / users.sum(), least), 0.0, 1.0))


def _everyone(profiles: ItemProfiles, people: People, thin: People) -> Sampled:
    """Return how often everyone rated each item, had their ratings been thinned like these."""
    statistics = profiles.statistics
    of_all = people.counts(profiles.n_items).sum(axis=0) if statistics is None else statistics.count
    whole, kept = (some.counts(profiles.n_items).sum(axis=0) for some in (people, thin))
    whole = np.maximum(whole, 1)
    return Sampled(of_all * (kept / whole), of_all.sum(axis=0) / whole)


def _for_a_sample(model: Model, count: Float, weight: Float) -> Model:
    """Sum curvatures over a sample of the items; one that the sample did not rate is a plain one.

    Args:
        model: What the sample says.
        count: How often everyone rated each item. Shape (M,).
        weight: How often the sample did. Shape (M,).
    """
    selection = model.selection.copy()
    if selection.shape[1]:
        selection[(weight == 0) & (count > 0), 0] = np.median(selection[weight > 0, 0])
    return model._replace(selection=rounded(selection), drawn=draw_items(np.sqrt(count + 1)))


def _purpose(profiles: ItemProfiles, selection_factors: int, taste_factors: int, seed: int) -> str:
    """Return a digest of all that a fit depends on."""
    total = sha256(repr((selection_factors, taste_factors, seed, MOST_CELLS)).encode())
    total.update(repr((profiles.features, profiles.scale, profiles.noise_variance)).encode())
    arrays = (profiles.vectors, profiles.centre, profiles.offset, profiles.profile_covariance)
    for array in (*arrays, *(() if profiles.statistics is None else (profiles.statistics.count,))):
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _keep(kept: Checkpoint, model: Model, strata: Strata) -> None:
    """Save what was learned from a sample."""
    arrays: dict[str, Any] = model._asdict() | {"drawn": np.zeros(0), "drawn_weight": np.zeros(0)}
    if model.drawn is not None:
        arrays |= {"drawn": model.drawn.item, "drawn_weight": model.drawn.weight}
    kept.save(SAMPLE, **arrays, **strata._asdict())


def _load(kept: Checkpoint) -> tuple[Model, Strata] | None:
    """Return what was learned from a sample before, if it was."""
    arrays = kept.load(SAMPLE)
    if arrays is None:
        return None
    strata = Strata(*(arrays.pop(name) for name in Strata._fields))
    drawn = Drawn(arrays.pop("drawn"), arrays.pop("drawn_weight"))
    noise = float(arrays.pop("noise"))
    model = Model(**arrays, noise=noise, drawn=drawn if len(drawn.item) else None)
    return model, strata


def usual_taste_factors(selection_factors: int) -> int:
    """Return how many taste factors are learned, unless given and as far as profiles have them."""
    return TASTE_FACTORS_OF_CHOICE if selection_factors else TASTE_FACTORS


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


def _require_fitting(
    profiles: ItemProfiles, selection_factors: int, taste_factors: int | None
) -> None:
    """Say what is missing."""
    if selection_factors < 0 or (taste_factors is not None and taste_factors < 1):
        raise MidpointError(
            f"selection factors must be at least 0 and taste factors at least 1: got"
            f" {selection_factors} and {taste_factors}"
        )
    if not profiles.features:
        raise MidpointError(
            "positions need a private feature, and the profiles have none; name one to train"
        )
    if profiles.scale.levels is None:
        raise MidpointError(
            f"positions need a discrete scale, and that of {profiles.provenance.data} is"
            " continuous; give its levels, or choose a scheme for continuous ratings"
        )


def _fitting(profiles: ItemProfiles, selection_factors: int, taste_factors: int | None) -> int:
    """Return how many taste factors to learn: no more than the profiles have and devices accept."""
    K = int(profiles.offset.shape[1])
    room = min(MOST_DIMENSIONS, isqrt(MOST_NUMBERS) // K)
    most = (room - selection_factors) // 2 if selection_factors else room
    if profiles.scale.is_unary:  # whose factors choose, and say nothing of values
        most = room - selection_factors
    usual = FACTORS_OF_SETS if profiles.scale.is_unary else usual_taste_factors(selection_factors)
    wanted = min(usual if taste_factors is None else taste_factors, profiles.dimension)
    if most < 1 or (taste_factors is not None and wanted > most):
        raise MidpointError(
            f"devices accept at most {room} dimensions of positions with {K} categories, and"
            f" {selection_factors} selection factors leave room for {max(most, 0)} taste factors,"
            " each of which counts twice beside selection factors; ask for fewer, or merge"
            " categories"
        )
    return min(wanted, most)


def _strata(people: People, prior: Prior) -> int:
    """Return how many strata of activity to fit: one for few people or too many numbers."""
    fits = STRATA * prior.mean.size**2 <= MOST_NUMBERS
    return STRATA if fits and int(people.sizes.min()) >= PEOPLE_FOR_STRATA else 1


def _require_categories(people: People, profiles: ItemProfiles) -> None:
    present = int((people.sizes > 0).sum())
    if present < 2:
        raise MidpointError(
            f"feature {profiles.feature!r} has people with ratings in {present} category only;"
            " protecting it needs at least two"
        )


def _no_selection(profiles: ItemProfiles) -> SelectionModel:
    """Describe data in which everyone rates everything."""
    items, K = profiles.offset.shape
    return SelectionModel(np.zeros((items, K)), np.zeros((items, 0)), np.zeros((K, 0)))


def _begin(
    profiles: ItemProfiles, sets: SelectionModel, rated: NDArray[np.bool_]
) -> tuple[Model, Prior]:
    """Take all taste factors of the profiles, with covariance I; an item nobody rated has none."""
    # All that categories differ by in the mean is in `base`, and level distributions take it off.
    # Were it in the means of taste factors, devices would take it off twice.
    model = Model(
        rate=rounded(sets.rate),
        selection=rounded(sets.selection),
        base=profiles.centre[:, None] + profiles.offset,
        taste=profiles.vectors @ profiles.profile_root * rated[:, None],
        noise=float(profiles.noise_variance),
    )
    taste = np.linalg.solve(profiles.profile_root, profiles.profile_mean)
    mean = np.hstack([sets.mean, np.tile(taste, (len(sets.mean), 1))])
    return model, Prior(mean, np.tile(np.eye(mean.shape[1]), (len(mean), 1, 1)))


def _begin_sets(
    profiles: ItemProfiles, sets: SelectionModel, weight: Float, count: int
) -> tuple[Model, Prior]:
    """Take the profiles' leading directions as further selection factors: sets have no values.

    The directions are those along which items differ most, counted as often as people have them.
    """
    V = profiles.vectors[:, 1:].astype(np.float64)
    _, directions = np.linalg.eigh((V * weight[:, None]).T @ V)
    further = V @ directions[:, ::-1][:, :count]
    further /= np.sqrt(np.maximum(np.average(further**2, axis=0, weights=weight), 1e-12))
    (M, K), d = profiles.offset.shape, sets.selection.shape[1]
    model = Model(
        rate=rounded(sets.rate),
        selection=rounded(np.hstack([sets.selection, further])),
        base=np.ones((M, K)),
        taste=np.zeros((M, 0)),
        noise=1.0,
    )
    mean = np.hstack([sets.mean, np.zeros((K, further.shape[1]))])
    spread = np.repeat([1.0, FIRST_SELECTION_VARIANCE], [d, further.shape[1]])
    return model, Prior(mean, np.tile(np.diag(spread), (K, 1, 1)))


def _with_taste_selection(model: Model, prior: Prior, weight: Float) -> tuple[Model, Prior]:
    """Let taste decide what is rated too: r further selection factors that cost no number."""
    (K, D), d = prior.mean.shape, model.selection.shape[1]
    r = D - d
    size, first = np.average(model.taste**2, axis=0, weights=weight), FIRST_SELECTION_VARIANCE
    mean = np.hstack([prior.mean[:, :d], np.zeros((K, r)), prior.mean[:, d:]])
    spread = np.concatenate([np.ones(d), first / np.maximum(size, first), np.ones(r)])
    wide = model._replace(selection=np.hstack([model.selection, model.taste]))
    return wide, Prior(mean, np.tile(np.diag(spread), (K, 1, 1)))


def _narrow(
    people: People, model: Model, prior: Prior, wide: Prior, weight: Float, taste_factors: int
) -> tuple[Model, Prior]:
    """Keep the directions along which counterparts differ most; the others become noise."""
    d = model.selection.shape[1]
    kept = _directions(wide, model.taste, weight, people.sizes, d, taste_factors)
    lost = model.taste - model.taste @ kept @ kept.T
    noise = model.noise + float(np.average((lost**2).sum(axis=1), weights=weight))
    mean = np.hstack([prior.mean[:, :d], prior.mean[:, d:] @ kept])
    narrow = Prior(mean, np.tile(np.eye(mean.shape[1]), (len(mean), 1, 1)))
    return model._replace(taste=model.taste @ kept, noise=noise), narrow


def _directions(
    prior: Prior, taste: Float, weight: Float, size: NDArray[np.int64], d: int, count: int
) -> Float:
    """Return an orthonormal basis of the taste factors that move ratings most. Shape (r, count).

    A rating moves by <e, taste_j>, where e are moves T_km z - z and differences of means. With G
    the mean of e e' and C that of taste taste' over ratings, it is spanned by C^(-1/2) times the
    leading eigenvectors of C^(1/2) G C^(1/2).
    """
    share = size / size.sum()
    apart = prior.mean - share @ prior.mean
    moves = transports(prior.covariance) - np.eye(prior.mean.shape[1])
    G = np.einsum("k,kd,ke->de", share, apart, apart)
    G += np.einsum("k,kmda,kab,kmeb->de", share, moves, prior.covariance, moves, optimize=True)
    C = (taste * weight[:, None]).T @ taste / weight.sum()
    values, vectors = np.linalg.eigh(C)
    root = np.sqrt(np.maximum(values, 1e-9 * values[-1]))
    R, inverse = vectors * root @ vectors.T, vectors / root @ vectors.T
    leading = np.linalg.eigh(R @ G[d:, d:] @ R)[1][:, ::-1][:, :count]
    return np.asarray(np.linalg.qr(inverse @ leading)[0])
