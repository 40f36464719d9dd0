from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from midpoint.analyst import (
    Factorizer,
    ItemProfiles,
    PositionModel,
    Training,
    fit_positions,
)
from midpoint.analyst.counterparts import dimensions, fit, sample, selection
from midpoint.analyst.counterparts import people as people_module
from midpoint.analyst.counterparts.panel import ByUser
from midpoint.analyst.counterparts.people import People
from midpoint.analyst.counterparts.prior import Finder, Model, Prior
from midpoint.analyst.counterparts.selection import SelectionModel
from midpoint.analyst.counterparts.start import begin_sets
from midpoint.analyst.fit.positions import rounded
from midpoint.data import Feature, Ratings, Simulation, load
from midpoint.errors import MidpointError
from midpoint.wire import GRAIN, from_fixed
from midpoint.wire.positions import STEPS
from tests.support.people.position_world import (
    QUICK,
    Float,
    World,
    as_devices_do,
    made_ratings,
    require_equal,
    require_sound,
    the_positions,
)


class Contrast(NamedTuple):
    """What the categories differ in, whatever the coordinates of a position; M items."""

    logit: Float
    """Mean logit of being rated. Shape (M,)."""
    logits: Float
    """Covariances of two logits. Shape (M, M)."""
    rating: Float
    """Mean rating. Shape (M,)."""
    ratings: Float
    """Covariances of two ratings. Shape (M, M)."""


def of_all_strata(found: PositionModel) -> Prior:
    """Return the prior of all strata together, each of which holds the same share of people."""
    mean = found.mean.mean(axis=0)
    away = found.mean - mean
    between = np.einsum("gkd,gke->kde", away, away) / len(away)
    return Prior(mean, found.covariance.mean(axis=0) + between)


def contrast(model: Model | PositionModel, prior: Prior) -> Contrast:
    selection = model.choosing if isinstance(model, PositionModel) else model.selection
    d = selection.shape[1]
    t, x = prior.mean[:, :d], prior.mean[:, d:]
    logit = model.rate + selection @ t.T
    rating = model.base + model.taste @ x.T
    S = prior.covariance[1] - prior.covariance[0]
    return Contrast(
        logit[:, 1] - logit[:, 0],
        selection @ S[:d, :d] @ selection.T,
        rating[:, 1] - rating[:, 0],
        model.taste @ S[d:, d:] @ model.taste.T,
    )


def slope_and_match(found: Float, true: Float) -> tuple[float, float]:
    """Return the slope of a line through 0 and the correlation."""
    x, y = true.reshape(-1), found.reshape(-1)
    return float(x @ y / (x @ x)), float(np.corrcoef(x, y)[0, 1])


@pytest.mark.slow
def test_the_prior_is_recovered(
    world: World, profiles: ItemProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "SHARES", (1.0, 1.0))  # a part of the ratings has other rates
    fitted = the_positions(
        fit_positions(profiles, world.ratings, selection_factors=2, taste_factors=3)
    )
    true, found = contrast(world.model, world.prior), contrast(fitted, of_all_strata(fitted))
    for name, least in (("logit", 0.97), ("logits", 0.95), ("rating", 0.95), ("ratings", 0.9)):
        slope, match = slope_and_match(getattr(found, name), getattr(true, name))
        assert match > least, name
        assert 0.75 < slope < 1.25, name


@pytest.mark.slow
def test_without_a_difference_none_is_found(world: World) -> None:
    feature = world.ratings.feature("kind")
    codes = np.random.default_rng(0).permutation(feature.codes)
    shuffled = world.ratings.with_feature(replace(feature, codes=codes))
    found = the_positions(
        fit_positions(QUICK.fit(shuffled, "kind"), shuffled, selection_factors=2, taste_factors=3)
    )
    true, none = contrast(world.model, world.prior), contrast(found, of_all_strata(found))
    for name in Contrast._fields:
        share = np.std(getattr(none, name)) / np.std(getattr(true, name))
        assert share < 0.2, name


@pytest.mark.slow
def test_what_is_revealed_is_alike_in_all_categories(
    world: World, profiles: ItemProfiles, fitted: PositionModel
) -> None:
    everyone = People.of(world.ratings, world.ratings.feature("kind"))
    people = everyone.thinned(*fit.SHARES, np.random.default_rng(9))
    reveal = as_devices_do(replace(profiles, positions=fitted), people).reveal
    cell = people.item * 2 + people.category[people.person]
    raw, left = (np.bincount(cell, weight, 160).reshape(-1, 2) for weight in (None, reveal))
    assert apart(left / people.sizes) < 0.25 * apart(raw / people.sizes)


def apart(table: Float) -> float:
    """Return the root mean square difference of two categories, relative to the mean."""
    return float(np.sqrt(np.mean((table[:, 1] - table[:, 0]) ** 2)) / table.mean())


@pytest.mark.parametrize(("selection_factors", "strata"), [(0, 1), (2, 1), (2, 2)])
def test_devices_find_the_positions_that_training_did(
    few: Ratings, selection_factors: int, strata: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dimensions, "PEOPLE_FOR_STRATA", 150 if strata == 1 else 10)
    profiles = fit_positions(QUICK.fit(few, "kind"), few, selection_factors=selection_factors)
    found = the_positions(profiles)
    assert len(found.least) == strata
    people = People.of(few, few.feature("kind"))
    model = Model(found.rate, found.choosing, found.base, found.taste, found.noise_variance)
    expected = expit(found.rate).sum(axis=0)[people.category]
    activity = rounded((np.diff(people.offsets) + 8) / (expected + 8))
    stratum = (activity >= found.least[:, people.category]).sum(axis=0) - 1
    where, start = np.zeros((2, len(people), found.mean.shape[2]))
    others = np.zeros((len(people), *found.mean.shape[1:]))
    for g, maps in enumerate(found.maps()):
        prior, own = Prior(found.mean[g], found.covariance[g]), stratum == g
        start[own] = prior.mean[people.category[own]]
        begin = prior.mean[people.category]
        located = Finder(people, model, None).locate(model.rate, prior, begin, STEPS).position
        where[own] = rounded(located[own])
        away = np.einsum("nmde,ne->nmd", maps[people.category], where - start)
        others[own] = (prior.mean + away)[own]
    d = found.choosing.shape[1]
    theirs = as_devices_do(profiles, people)
    # What is near a half of 1/256 may be rounded to either side.
    move = (others.mean(axis=1) - where)[:, d:]
    np.testing.assert_allclose(theirs.move / GRAIN, move, atol=0.02)
    assert np.abs(move).max() > 0.1
    logit = model.rate[people.item] + np.einsum(
        "nd,nmd->nm", found.choosing[people.item], others[people.person][:, :, :d]
    )
    p = expit(logit)
    reveal = p.min(axis=1) / p[np.arange(len(p)), people.category[people.person]]
    wanted = np.maximum(reveal, 1 / 64) if selection_factors else np.ones(len(p))
    np.testing.assert_allclose(from_fixed(theirs.reveal), wanted, atol=0.01)
    assert (wanted.min() < 0.9) == (selection_factors > 0)


def test_the_unknown_and_the_silent_have_no_part(few: Ratings) -> None:
    base = QUICK.fit(few, "kind")
    feature = few.feature("kind")
    hidden = replace(feature, codes=np.where(np.arange(150) % 3 == 0, -1, feature.codes))
    partly = few.with_feature(replace(hidden, codes=hidden.codes.astype(np.int16)))
    of_some = few.select_users(np.flatnonzero(hidden.codes >= 0))
    silent = partly.select_ratings(partly.user % 3 > 0)
    expected = the_positions(fit_positions(base, of_some, selection_factors=1))
    for ratings in (partly, silent):
        require_equal(the_positions(fit_positions(base, ratings, selection_factors=1)), expected)
    with pytest.raises(AssertionError):
        require_equal(the_positions(fit_positions(base, few, selection_factors=1)), expected)


def test_of_many_people_a_sample_is_taken(few: Ratings, monkeypatch: pytest.MonkeyPatch) -> None:
    base = QUICK.fit(few, "kind")
    monkeypatch.setattr(sample, "MOST_CELLS", 100 * few.n_items)
    monkeypatch.setattr(sample, "LEAST_SAMPLE", 50)
    monkeypatch.setattr(sample, "LEAST_OF_CATEGORY", 20)
    taken: list[int] = []

    def take(self: ByUser, shares: Float) -> People:
        people = whole(self, shares)
        taken.append(len(people))
        return people

    whole = ByUser.take
    monkeypatch.setattr(ByUser, "take", take)
    for selection_factors in (1, 0):
        found = fit_positions(base, few, selection_factors=selection_factors)
        require_sound(the_positions(found))
    assert all(80 <= size <= 120 for size in taken)
    monkeypatch.setattr(sample, "LEAST_SAMPLE", 150)  # nobody needs a sample of so few
    fit_positions(base, few, selection_factors=1)
    assert taken[4:] == [150]  # a sample is taken twice: log spreads come after everyone's prior


def test_what_is_disclosed_is_on_the_grid(fitted: PositionModel) -> None:
    require_sound(fitted)
    assert fitted.rate.shape == fitted.base.shape == (80, 2)
    assert fitted.selection.shape == (80, 2)
    assert fitted.taste.shape == (80, 3)
    assert fitted.mean.shape == (2, 2, 2 + 2 * 3)
    assert fitted.covariance.shape == (2, 2, 8, 8)
    assert fitted.maps().shape == (2, 2, 2, 8, 8)
    assert fitted.selection_factors == 2


def test_without_selection_factors_only_values_move(few: Ratings) -> None:
    found = the_positions(
        fit_positions(QUICK.fit(few, "kind"), few, selection_factors=0, taste_factors=2)
    )
    require_sound(found)
    assert found.selection.shape == (80, 0)
    assert found.mean.shape == (1, 2, 2)


@pytest.mark.parametrize("selection_factors", [1, 4])
def test_an_item_that_nobody_rated_is_rare_and_says_nothing(
    few: Ratings, selection_factors: int
) -> None:
    ratings = few.select_ratings((few.item != 7) & (few.item != 79))
    found = the_positions(
        fit_positions(QUICK.fit(ratings, "kind"), ratings, selection_factors=selection_factors)
    )
    require_sound(found)
    assert (found.rate[[7, 79]] < -5).all()
    assert not found.selection[[7, 79]].any()
    assert not found.taste[[7, 79]].any()
    assert found.selection[8].any()


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_category_of_few_people_has_a_prior(few: Ratings, size: int) -> None:
    codes = (np.arange(150) % 2).astype(np.int16)
    codes[:size] = 2
    ratings = few.with_feature(Feature("kind", ("a", "b", "c"), codes))
    found = the_positions(fit_positions(QUICK.fit(ratings, "kind"), ratings))
    require_sound(found)
    assert np.abs(found.mean).max() < 5


def test_crossed_features_have_a_prior_for_each_cell(few: Ratings) -> None:
    other = Feature("side", ("l", "r", "m"), (np.arange(150) // 2 % 3).astype(np.int16))
    ratings = few.with_feature(other)
    found = the_positions(
        fit_positions(QUICK.fit(ratings, ["kind", "side"]), ratings, selection_factors=2)
    )
    require_sound(found)
    assert found.mean.shape == (1, 6, 2 + 2 * 4)


def test_a_handful_of_ratings_is_enough() -> None:
    user, item = np.array([0, 0, 1, 2, 3]), np.array([0, 1, 0, 1, 2])
    value = np.array([1.0, 5.0, 3.0, 9.0, 2.0])
    ratings = made_ratings(user, item, value, np.array([0, 1, 0, 1]), 3)
    base = QUICK.fit(ratings, "kind")
    for selection_factors, seed in product((0, 1, 4), range(2)):
        require_sound(
            the_positions(
                fit_positions(base, ratings, selection_factors=selection_factors, seed=seed)
            )
        )


def test_everyone_may_rate_everything() -> None:
    user, item = (axis.reshape(-1) for axis in np.mgrid[:60, :20])
    value = np.random.default_rng(0).integers(1, 10, 1200).astype(np.float64)
    ratings = made_ratings(user, item, value, np.arange(60) % 2, 20)
    require_sound(the_positions(fit_positions(QUICK.fit(ratings, "kind"), ratings)))


@pytest.mark.slow
def test_the_seed_decides_and_threads_do_not(
    world: World, profiles: ItemProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (people_module, selection):
        monkeypatch.setattr(module, "BLOCK", 64)
    ratings = world.ratings.select_users(np.arange(400))
    run = partial(fit_positions, profiles, ratings, selection_factors=2, taste_factors=2)
    one = the_positions(run(seed=5, threads=1))
    for threads in (3, None):
        require_equal(the_positions(run(seed=5, threads=threads)), one)
    assert (the_positions(run(seed=6, threads=1)).rate != one.rate).any()


@pytest.mark.parametrize(
    ("selection_factors", "taste_factors", "rounds"), [(1, 2, 30), (0, 2, 12), (1, 9, 24)]
)
def test_progress_counts_to_the_end(
    few: Ratings, selection_factors: int, taste_factors: int, rounds: int
) -> None:
    seen: list[tuple[int, int]] = []
    fit_positions(
        QUICK.fit(few, "kind"),
        few,
        selection_factors=selection_factors,
        taste_factors=taste_factors,
        progress=lambda *so_far: seen.append(so_far),
    )
    assert seen == [(k + 1, rounds) for k in range(rounds)]


def test_what_positions_cannot_be_learned_from_is_refused(
    few: Ratings, trained: Training, simulated: Simulation, stars: Simulation
) -> None:
    base = QUICK.fit(few, "kind")
    feature = few.feature("kind")
    renamed = few.with_feature(replace(feature, categories=("x", "y"), parts=()))
    alone = few.select_ratings(feature.codes[few.user] == 0)
    cases: list[tuple[str, Any]] = [
        ("discrete scale", lambda: fit_positions(trained.items, simulated.ratings)),
        ("private feature", lambda: fit_positions(QUICK.fit(few), few)),
        ("other items", lambda: fit_positions(base, stars.ratings)),
        ("other categories", lambda: fit_positions(base, renamed)),
        ("1 category only", lambda: fit_positions(base, alone)),
        ("no user feature", lambda: fit_positions(base, replace(few, features={}))),
        ("at least 0", lambda: fit_positions(base, few, selection_factors=-1)),
        ("at least 1", lambda: fit_positions(base, few, taste_factors=0)),
        (
            "at most 64 dimensions",
            lambda: fit_positions(base, few, selection_factors=60, taste_factors=3),
        ),
        ("ask for fewer", lambda: fit_positions(base, few, selection_factors=63)),
    ]
    for message, attempt in cases:
        with pytest.raises(MidpointError, match=message):
            attempt()


@pytest.mark.slow
def test_with_many_categories_there_are_fewer_taste_factors(
    few: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = QUICK.fit(few, "kind")
    assert (
        the_positions(fit_positions(base, few, selection_factors=4)).taste.shape[1]
        == base.dimension
    )
    monkeypatch.setattr(dimensions, "MOST_NUMBERS", 16**2)  # of two categories eight dimensions
    assert the_positions(fit_positions(base, few, selection_factors=4)).taste.shape[1] == 2
    monkeypatch.setattr(dimensions, "TASTE_FACTORS_OF_CHOICE", 1)
    assert the_positions(fit_positions(base, few, selection_factors=4)).taste.shape[1] == 1
    assert (
        the_positions(fit_positions(base, few, selection_factors=0)).taste.shape[1]
        == base.dimension
    )


def test_of_sets_only_directions_that_items_differ_along_become_factors() -> None:
    """An item that the sample lacks would be alone in a direction, and that without a size."""
    who, what = np.repeat(np.arange(40), 2), (3 * np.repeat(np.arange(40), 2) + [0, 1] * 40) % 7
    people = pl.DataFrame({"user": np.arange(40), "gender": ["F", "M"] * 20})
    sets = load(pl.DataFrame({"user": who, "item": what}), users=people)
    profiles = Factorizer(dimension=5, threads=1).fit(sets, "gender")
    weight = np.array([10.0, 10, 10, 10, 0, 0, 0])
    few = SelectionModel(np.zeros((7, 2)), np.zeros((7, 1)), np.zeros((2, 1)))
    model, prior = begin_sets(profiles, few, weight, profiles.dimension)
    further = model.selection[:, 1:]
    assert 0 < further.shape[1] <= 4
    assert prior.mean.shape[1] == 1 + further.shape[1]
    assert np.abs(further).max() < 100
    assert weight @ further**2 / weight.sum() == pytest.approx(1, abs=0.02)
