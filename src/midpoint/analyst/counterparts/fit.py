"""Learning places: profiles and ratings in, profiles with `places` out."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from midpoint.analyst.counterparts import prior as place_law
from midpoint.analyst.counterparts import rates as place_rates
from midpoint.analyst.counterparts import selection as habit_model
from midpoint.analyst.counterparts.model import Float, Places, rounded, transports
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Law, Model, learn_law
from midpoint.analyst.counterparts.rates import learn_rates
from midpoint.analyst.counterparts.selection import Habits, learn_habits
from midpoint.analyst.counterparts.strata import learn_strata
from midpoint.analyst.fit.profiles import ItemProfiles
from midpoint.data import Feature, Ratings
from midpoint.errors import MidpointError
from midpoint.wire.positions import MOST_DIMENSIONS, MOST_NUMBERS

HABITS: Final = 4
"""Habits, unless given."""
TASTES: Final = 10
"""Tastes, unless given, where everyone rates everything: more of them hide no more."""
CHOOSING: Final = 20
"""Tastes, unless given, where people choose what they rate, by more tastes than values show."""
FULL: Final = 0.95
"""Where a larger share of all ratings is there, people rate whatever they are asked about."""
CHOSEN: Final = 0.5
"""Where a larger share is there, what is missing was not chosen title by title, as habits have it.

In ANES thermometers, where people leave the second half of an interview out, they hid less than
nothing; measured below a share of 0.07 otherwise.
"""
FINEST: Final = 10
"""Levels of the finest scale for counterparts: half stars.

People keep to round numbers on a fine scale; a value that was moved is not round, and tells so. On
ANES thermometers by gender counterparts hid more than `dmp` on 5 levels, no more on 11, and showed
single values on 21 and 101.
"""
ENOUGH: Final = 200
"""People of every category that places can be learned from."""
STRATA: Final = 2
"""Strata of activity: light raters choose otherwise than heavy ones, and not only less."""
MANY: Final = 300
"""People of every category that strata can be told apart of; measured down to 380."""
BESIDE: Final = 0.1
"""Variance that a taste starts with in what people rate, as log odds."""
SHARES: Final = (0.5, 1.0)
"""Places are learned from this share of each person's ratings, since later users rate less."""
MOST: Final = 4_000_000_000
"""People times items that are looked at; of more people a sample is drawn."""


def place(
    profiles: ItemProfiles,
    ratings: Ratings,
    *,
    habits: int = HABITS,
    tastes: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ItemProfiles:
    """Learn where people of each category lie, and return the profiles with `places`.

    Rates and habits are fitted to who rated what, tastes are the directions of the profiles along
    which counterparts lie farthest apart; then the law of places, together with the rates, and once
    more when they are final, since it lags behind them, for light and heavy raters apart. Users who
    rated nothing or whose category is not known are left out. What devices are told of items is
    rounded before anything is learned from it.

    The work is users times items. Where that is over `MOST`, all this is learned from a random
    sample of people.

    Args:
        profiles: The item profiles, learned with a private feature on a discrete scale.
        ratings: The ratings they were learned from.
        habits: How many habits to tell apart; 0 where everyone rates everything.
        tastes: How many tastes, at most as many as the profiles have dimensions; `CHOOSING` with
            habits and `TASTES` without unless given.
        seed: Draws what is learned from.
        threads: All usable cores unless given; the result does not depend on it.
        progress: Is called with the rounds done and the rounds to do.
    """
    feature = _check(profiles, ratings, habits, tastes)
    tastes = _fitting(profiles, habits, tastes)
    for_sample, for_start, for_sets, for_law, for_rates = np.random.default_rng(seed).spawn(5)
    people = People.of(ratings, feature)
    if habits and len(people) * ratings.n_items > MOST:
        people = people.sample(MOST // ratings.n_items, for_sample)
    _require_categories(people, feature)
    total = habit_model.ROUNDS + place_rates.ROUNDS if habits else 0
    total += place_law.ROUNDS * (2 if tastes < profiles.dimension else 1)
    rounds = count(1)

    def done() -> None:
        if progress:
            progress(next(rounds), total)

    sets = _no_habits(profiles)
    if habits:
        thin = people.thinned(*SHARES, for_sets)
        sets = learn_habits(
            thin, ratings.n_items, habits, draws=for_start, threads=threads, done=done
        )
    people = people.thinned(*SHARES, for_law)
    rated = np.diff(ratings.by_item.offsets) > 0
    weight = np.bincount(people.item, minlength=ratings.n_items).astype(np.float64)
    model, law = _begin(profiles, sets, rated)
    if tastes < profiles.dimension:
        wide = learn_law(people, model, law, threads, done)
        model, law = _narrow(people, model, law, wide, weight, tastes)
    model = model._replace(base=rounded(model.base), taste=rounded(model.taste))
    if habits:
        model, law = learn_rates(
            people, *_with_tastes(model, law, weight), for_rates, threads, done
        )
    strata = _strata(people, law) if habits else 1
    places = learn_strata(people, model, law, strata, threads, done)
    return replace(
        profiles,
        places=Places(
            rate=model.rate,
            habit=model.habit[:, :habits],
            base=model.base,
            taste=model.taste,
            **places._asdict(),
            noise_variance=model.noise,
        ),
    )


def usual_habits(ratings: Ratings, *feature: str) -> int | None:
    """Return how many habits suit these ratings: 0 where everyone rates everything.

    None where nobody should look for counterparts: without a feature or a discrete scale, or on a
    fine one, where most ratings are there but not nearly all, with too few people of some category
    to learn where they lie, or with too many categories.
    """
    levels = ratings.scale.levels
    if not feature or levels is None or len(levels) > FINEST:
        return None
    if len(ratings.feature(*feature).categories) * (HABITS + 2) > isqrt(MOST_NUMBERS):
        return None
    if int(ratings.feature(*feature).counts.min()) < ENOUGH:
        return None
    share = len(ratings) / (ratings.n_users * ratings.n_items)
    if CHOSEN < share <= FULL:
        return None
    return 0 if share > FULL else HABITS


def _check(profiles: ItemProfiles, ratings: Ratings, habits: int, tastes: int | None) -> Feature:
    """Return the feature, or say what is missing."""
    if habits < 0 or (tastes is not None and tastes < 1):
        raise MidpointError(
            f"habits must be at least 0, tastes at least 1: got {habits} and {tastes}"
        )
    if not profiles.features:
        raise MidpointError(
            "places need a private feature, and the profiles have none; name one to train"
        )
    if profiles.scale.levels is None:
        raise MidpointError(
            f"places need a discrete scale, and that of {ratings.name} is continuous;"
            " give its levels, or choose a scheme for continuous ratings"
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


def _fitting(profiles: ItemProfiles, habits: int, tastes: int | None) -> int:
    """Return how many tastes to learn: no more than the profiles have and devices accept."""
    K = int(profiles.offset.shape[1])
    room = min(MOST_DIMENSIONS, isqrt(MOST_NUMBERS) // K)
    most = (room - habits) // 2 if habits else room
    wanted = min((CHOOSING if habits else TASTES) if tastes is None else tastes, profiles.dimension)
    if most < 1 or (tastes is not None and wanted > most):
        raise MidpointError(
            f"devices accept at most {room} dimensions of places with {K} categories, and {habits}"
            f" habits leave room for {max(most, 0)} tastes, each of which counts twice beside"
            " habits; ask for fewer, or merge categories"
        )
    return min(wanted, most)


def _strata(people: People, law: Law) -> int:
    """Return how many strata of activity to tell apart: one for few people or too many numbers."""
    fits = STRATA * law.mean.size**2 <= MOST_NUMBERS
    return STRATA if fits and int(people.sizes.min()) >= MANY else 1


def _require_categories(people: People, feature: Feature) -> None:
    present = int((people.sizes > 0).sum())
    if present < 2:
        raise MidpointError(
            f"feature {feature.name!r} has people with ratings in {present} category only;"
            " protecting it needs at least two"
        )


def _no_habits(profiles: ItemProfiles) -> Habits:
    """Describe data in which everyone rates everything."""
    items, K = profiles.offset.shape
    return Habits(np.zeros((items, K)), np.zeros((items, 0)), np.zeros((K, 0)))


def _begin(profiles: ItemProfiles, sets: Habits, rated: NDArray[np.bool_]) -> tuple[Model, Law]:
    """Take all tastes of the profiles, in units of covariance I; an item nobody rated has none."""
    # All that categories differ by in the mean is in `base`, and tables of all ratings take it off.
    # Were it in the means of tastes, devices would take it off twice.
    model = Model(
        rate=rounded(sets.rate),
        habit=rounded(sets.habit),
        base=profiles.centre[:, None] + profiles.offset,
        taste=profiles.vectors @ profiles.profile_root * rated[:, None],
        noise=float(profiles.noise_variance),
    )
    taste = np.linalg.solve(profiles.profile_root, profiles.profile_mean)
    mean = np.hstack([sets.mean, np.tile(taste, (len(sets.mean), 1))])
    return model, Law(mean, np.tile(np.eye(mean.shape[1]), (len(mean), 1, 1)))


def _with_tastes(model: Model, law: Law, weight: Float) -> tuple[Model, Law]:
    """Let tastes decide what is rated too, beside habits: further habits that cost no number."""
    (K, D), d = law.mean.shape, model.habit.shape[1]
    r = D - d
    size = np.average(model.taste**2, axis=0, weights=weight)
    mean = np.hstack([law.mean[:, :d], np.zeros((K, r)), law.mean[:, d:]])
    spread = np.concatenate([np.ones(d), BESIDE / np.maximum(size, BESIDE), np.ones(r)])
    wide = model._replace(habit=np.hstack([model.habit, model.taste]))
    return wide, Law(mean, np.tile(np.diag(spread), (K, 1, 1)))


def _narrow(
    people: People, model: Model, law: Law, wide: Law, weight: Float, tastes: int
) -> tuple[Model, Law]:
    """Keep the directions along which counterparts differ most; the others become noise."""
    d = model.habit.shape[1]
    kept = _directions(wide, model.taste, weight, people.sizes, d, tastes)
    lost = model.taste - model.taste @ kept @ kept.T
    noise = model.noise + float(np.average((lost**2).sum(axis=1), weights=weight))
    mean = np.hstack([law.mean[:, :d], law.mean[:, d:] @ kept])
    narrow = Law(mean, np.tile(np.eye(mean.shape[1]), (len(mean), 1, 1)))
    return model._replace(taste=model.taste @ kept, noise=noise), narrow


def _directions(
    law: Law, taste: Float, weight: Float, size: NDArray[np.int64], d: int, count: int
) -> Float:
    """Return an orthonormal basis of the tastes that move ratings most. Shape (r, count).

    A rating moves by <e, taste_j>, where e are moves T_km z - z and differences of means. With G
    the mean of e e' and C that of taste taste' over ratings, it is spanned by C^(-1/2) times the
    leading eigenvectors of C^(1/2) G C^(1/2).
    """
    share = size / size.sum()
    apart = law.mean - share @ law.mean
    moves = transports(law.covariance) - np.eye(law.mean.shape[1])
    G = np.einsum("k,kd,ke->de", share, apart, apart)
    G += np.einsum("k,kmda,kab,kmeb->de", share, moves, law.covariance, moves, optimize=True)
    C = (taste * weight[:, None]).T @ taste / weight.sum()
    values, vectors = np.linalg.eigh(C)
    root = np.sqrt(np.maximum(values, 1e-9 * values[-1]))
    R, inverse = vectors * root @ vectors.T, vectors / root @ vectors.T
    leading = np.linalg.eigh(R @ G[d:, d:] @ R)[1][:, ::-1][:, :count]
    return np.asarray(np.linalg.qr(inverse @ leading)[0])
